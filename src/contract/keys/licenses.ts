import { z } from 'zod';
import { CustomerSummary } from '../customers.ts';
import type { Reason } from '../errors.ts';
import { list, positiveDurationField, record, secondsField } from '../fields.ts';
import { ProductVersion } from '../products.ts';
import {
  Active,
  Count,
  EndText,
  HostId,
  InstantText,
  Kid,
  LicenseId,
  LicenseKey,
  Limit,
  ProductId,
  resource,
  ShownIp,
  ShownKey,
  shown,
  shownId,
  text,
} from '../scalars.ts';
import { Metadata } from './metadata.ts';

/** The fields that name one licence. */
export const licenseAddress = { productId: ProductId, licenseKey: LicenseKey };

/** The errors of every use of a licence by a host. */
export const useErrors = [
  'licenseNotFound',
  'licenseExpired',
  'licenseDisabled',
  'licenseRevoked',
  'customerInactive',
  'deviceNotAllowed',
] as const satisfies readonly Reason[];

/** Carried by replies to uses of an expired licence. Source: decision 0004. */
export const Warning = z.string().describe('Present when the licence has expired and is used in its grace period');

const SeenOn = z.iso
  .date()
  .nullable()
  .describe('The last day, UTC, on which it was activated, signed for, checked out or prolonged; null: not known');

/** A filter: only keys or devices that were not seen on this day (UTC) or later. */
export const UnseenSince = z.iso.date().meta({ examples: ['2026-08-23'] });

/** A device: the link between a key and one host. Source: API description, "Device". */
export const Device = resource('Device', 'An activation: one device that holds one activation slot of a key', {
  id: shown('Identifier of the activation', 'dev_01jd7q6b9n3zt5c8y2x4w6v0qk'),
  hostId: shownId(HostId),
  deviceTag: shown('What people call the device; "No tag" when there is none', 'No tag'),
  ipAddress: ShownIp.describe('The address it was activated from; masked for read-only callers'),
  activationTime: InstantText,
  lastSeenOn: SeenOn.optional(),
});
export type Device = z.output<typeof Device>;

/** A session whose lease runs. Its secret is never shown again. */
export const Session = resource('Session', 'A leased concurrent use of a floating licence', {
  id: shown('Identifier of the session', 'ses_01jd7q7h4r8bm2k6v0x9w5t3cz'),
  hostId: z.string().nullable().describe('The device that uses it; null when none was named'),
  deviceTag: Device.shape.deviceTag,
  userIdentifier: z.string().nullable().describe('Who uses it; null when nobody was named'),
  createdAt: InstantText,
  expiresAt: EndText.describe('When its lease ends unless it is prolonged'),
});
export type Session = z.output<typeof Session>;

/** A licence file as the service remembers it: never its text. */
export const SignedFile = resource('SignedFile', 'A licence file that was signed and has not expired', {
  id: shown('Identifier of the file, its `jti`', 'fil_01jd7q8k2m5xw9a7r0b1y8n4c6'),
  hostId: shownId(HostId),
  kid: Kid,
  signedAt: InstantText,
  endsAt: EndText.describe('Until when it verifies'),
  revokedAt: InstantText.nullable().describe('When its device was freed; null means it was not'),
});
export type SignedFile = z.output<typeof SignedFile>;

export const licenseTypes = ['node-locked', 'floating'] as const;

/** The default time between two reports of a session, in seconds. */
export const DEFAULT_HEARTBEAT_SECONDS = 300;

/** The default time that a session lasts without a report, in seconds. */
export const DEFAULT_LEASE_SECONDS = 900;

/** The longest lease of a session, in seconds. */
export const MAX_LEASE_SECONDS = 2_592_000;

/** The most components that a fingerprint has. */
const MAX_COMPONENTS = 16;

/** The fingerprint of a machine, as the application sends it. Source: decision 0009. */
export const Fingerprint = record(text(1, 32), z.string().regex(/^[0-9a-f]{64}$/), MAX_COMPONENTS).describe(
  'Components of the machine by name, each as the hex SHA-256 of its serial number and a word of your own: the service ' +
    'never sees the number',
);

/** The settings of a licence that the vendor can give at issue, import and change. */
export const licenseSettings = {
  gracePeriod: positiveDurationField()
    .nullish()
    .describe('How long it may be used after its expiry, ISO 8601; null: not'),
  allowedHosts: list(HostId, 1, 1_000).nullish().describe('The only hosts that may use it; null means any'),
  licenseType: z.enum(licenseTypes).optional().describe('Default node-locked, which has no maxConcurrentSessions'),
  maxConcurrentSessions: Limit.nullish().describe('How many sessions a floating licence has; null means unlimited'),
  heartbeatInterval: secondsField(60, 86_400).describe(
    `Seconds between two reports of a session, at most its lease; default ${DEFAULT_HEARTBEAT_SECONDS}`,
  ),
  sessionLeaseDuration: secondsField(300, MAX_LEASE_SECONDS).describe(
    `Seconds that a session lasts without a report; default ${DEFAULT_LEASE_SECONDS}`,
  ),
  customerCanSelfReset: z.boolean().optional().describe('Whether its customer may move slots; default true'),
  fingerprintMatch: z
    .int()
    .min(1)
    .max(MAX_COMPONENTS)
    .nullish()
    .describe('How many equal components of its fingerprint make a host a known device; null: they are not compared'),
};

type Settings = Partial<z.output<z.ZodObject<typeof licenseSettings>>> & { readonly planId?: string | undefined };

/** Whether sessions report at least once per lease: otherwise they would lose their seats between two reports. */
export function heartbeatsWithinLease(timing: Pick<Settings, 'heartbeatInterval' | 'sessionLeaseDuration'>): boolean {
  const { heartbeatInterval = DEFAULT_HEARTBEAT_SECONDS, sessionLeaseDuration = DEFAULT_LEASE_SECONDS } = timing;
  return heartbeatInterval <= sessionLeaseDuration;
}

/** Refuses settings of a new licence that contradict each other. */
export const withConsistentSettings = <T extends z.ZodType<Settings>>(license: T) =>
  license
    // The licence type of a plan is known to the service only.
    .refine((body) => body.licenseType === 'floating' || body.maxConcurrentSessions == null || body.planId != null, {
      message: 'maxConcurrentSessions goes with licenseType floating',
      path: ['maxConcurrentSessions'],
    })
    .refine(heartbeatsWithinLease, {
      message: 'heartbeatInterval is longer than sessionLeaseDuration',
      path: ['heartbeatInterval'],
    });

/** The fields of both forms of a licence. Source: API description, "License". */
const shortLicense = {
  id: LicenseId,
  key: ShownKey,
  productId: shownId(ProductId),
  maxActivations: Count.nullable().meta({ description: 'How many devices may use it; null: unlimited', examples: [5] }),
  activations: Count.describe('How many devices hold a slot'),
  devices: z.array(Device).describe('Empty for tokens of kind client, which learn nothing about other devices'),
  activated: Active.describe('Whether it has a device and the vendor has not disabled it'),
  expirationDate: EndText.nullable().meta({ ...EndText.meta(), description: 'When it expires; null means never' }),
};

/** The fields of the full form only. */
const LicenseExtras = z.object({
  productName: shown('The name of its product; absent without `product:read`', 'Editor'),
  reference: shown("The vendor's own name of it; absent for tokens of kind client", 'order-1042').nullable(),
  renewalDay: Count.nullable().describe(
    'The day that renewals by months lead to, where this month is too short; or null',
  ),
  expiresAfter: z
    .string()
    .nullable()
    .describe('How long it lasts from its first use, ISO 8601, while it has no expiry'),
  gracePeriod: z.string().nullable().describe('How long it may be used after its expiry, ISO 8601; null: not at all'),
  graceUntil: InstantText.nullable().describe(
    'Until when it may be used in all; null without an expiry or gracePeriod',
  ),
  metadata: Metadata,
  allowedHosts: z.array(z.string()).nullable().describe('The only hosts that may use it; null means any'),
  licenseType: shown(licenseTypes.join(' or '), 'node-locked'),
  maxConcurrentSessions: Count.nullable().describe('How many sessions a floating licence has; null means unlimited'),
  heartbeatInterval: Count.meta({ description: 'Seconds between two reports of a session', examples: [300] }),
  sessionLeaseDuration: Count.meta({ description: 'Seconds that a session lasts without a report', examples: [900] }),
  customerCanSelfReset: z.boolean().describe('Whether its customer may move slots to other hosts'),
  vendorDisabled: z.boolean().describe('Whether the vendor has disabled it'),
  revokedAt: InstantText.nullable().describe('When the vendor revoked it, for ever; null: not'),
  revocationReason: z.string().nullable().describe('Why it was revoked; absent for tokens of kind client'),
  planId: z.string().nullable().describe('The plan that its features follow; null: none'),
  plan: z
    .looseObject({ id: z.string(), name: z.string() })
    .nullable()
    .meta({ description: 'The plan that its features follow; null: none', examples: [null] }),
  lastSeenOn: SeenOn.describe('The last day, UTC, on which an application used it; absent for tokens of kind client'),
  previousKeyUntil: InstantText.nullable().describe('Until when the key that it had before works; null: it had none'),
  fingerprintMatch: Count.nullable().describe('How many equal components make a host a known device; null: any number'),
  versionId: z.string().nullable().describe('The product version it is for; null means any'),
  version: ProductVersion.pick({ id: true, version: true, description: true, active: true })
    .nullable()
    .meta({ description: 'The product version it is for; null means any', examples: [null] }),
  createdAt: InstantText,
  updatedAt: InstantText,
});

/** A licence as `GET /key` shows it; everything beyond the shorter form may be absent. */
export const License = resource('License', 'A licence key with its limits, its state and its devices', {
  ...shortLicense,
  ...LicenseExtras.partial().shape,
});
export type License = z.output<typeof License>;

/** The names that stand beside the ids of a product and a customer in a list. */
export const listedNames = {
  productName: shown('The name of the product; absent without `product:read`', 'Editor').optional(),
  customerName: shown('The name of the customer; null for none, absent without `customer:read`', 'Ada Ltd').nullish(),
  customerEmail: shown('Its e-mail address; absent without `customer:read`', 'it@ada.example').nullish(),
};

/** A licence with the customer it belongs to. Source: API description, GET /key. */
export const LicenseDetails = z
  .looseObject({
    license: License,
    customer: CustomerSummary.nullable().describe('null when the key has no customer'),
    sessions: z.array(Session).optional().describe('Those of a floating licence whose lease runs'),
    files: z.array(SignedFile).optional().describe('Its licence files that have not expired'),
  })
  .meta({ id: 'LicenseDetails' });
