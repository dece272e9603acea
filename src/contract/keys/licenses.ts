import { z } from 'zod';
import { CustomerSummary } from '../customers.ts';
import { Count, InstantText, LicenseKey, ProductId, ShownIp, ShownKey } from '../scalars.ts';
import { Session } from '../session-fields.ts';
import { SignedFile } from './license-files.ts';
import { Metadata } from './metadata.ts';

/** The fields that name one licence. */
export const licenseAddress = { productId: ProductId, licenseKey: LicenseKey };

/** Carried by replies to uses of an expired licence. Source: decision 0048. */
export const Warning = z.string().describe('Present when the licence has expired and is used in its grace period');

/** A device: the link between a key and one host. Source: API description, "Device". */
export const Device = z
  .looseObject({
    id: z.string().meta({ description: 'Identifier of the activation', examples: ['dev_01jd7q6b9n3zt5c8y2x4w6v0qk'] }),
    hostId: z.string().meta({ description: 'Identifier of the device', examples: ['host-1'] }),
    deviceTag: z.string().meta({ description: 'What people call the device; "No tag" when there is none' }),
    ipAddress: ShownIp.meta({
      description: 'The address it was activated from; masked for read-only callers',
      examples: ['203.0.*.*'],
    }),
    activationTime: InstantText,
  })
  .meta({ id: 'Device', description: 'An activation: one device that holds one activation slot of a key' });
export type Device = z.output<typeof Device>;

export const licenseTypes = ['node-locked', 'floating'] as const;

/** How often a session reports itself when the licence does not say, in seconds. */
export const DEFAULT_HEARTBEAT_SECONDS = 300;

/** How long a session lasts without a report when the licence does not say, in seconds. */
export const DEFAULT_LEASE_SECONDS = 900;

/** How often a session reports itself. */
export const HeartbeatSeconds = z
  .int()
  .min(60)
  .max(86_400)
  .describe(
    `Seconds between two reports of a session, at most sessionLeaseDuration; default ${DEFAULT_HEARTBEAT_SECONDS}`,
  );

/** The longest lease of a session, in seconds. */
export const MAX_LEASE_SECONDS = 2_592_000;

/** How long a session lasts without a report. */
export const LeaseSeconds = z
  .int()
  .min(300)
  .max(MAX_LEASE_SECONDS)
  .describe(`Seconds that a session lasts without a report; default ${DEFAULT_LEASE_SECONDS}`);

/** A session that reports itself more rarely than its lease lasts would lose its seat between two reports. */
export function heartbeatsWithinLease(timing: {
  readonly heartbeatInterval?: number | undefined;
  readonly sessionLeaseDuration?: number | undefined;
}): boolean {
  const { heartbeatInterval = DEFAULT_HEARTBEAT_SECONDS, sessionLeaseDuration = DEFAULT_LEASE_SECONDS } = timing;
  return heartbeatInterval <= sessionLeaseDuration;
}

/** A licence in its shorter form. Source: API description, "License". */
const ShortLicense = z.looseObject({
  id: z.string().meta({ description: 'Identifier of the licence', examples: ['lic_01jd7q4xk1ffvr3h8n5p6m2w9t'] }),
  key: ShownKey.meta({
    description: 'The licence key; masked for read-only callers',
    examples: ['*****-*****-*****-*****-85SB5'],
  }),
  productId: z
    .string()
    .meta({ description: 'Identifier of its product', examples: ['prod_01jd7q3v6ye2wb8x5k9m4n0r7t'] }),
  maxActivations: Count.nullable().describe('How many devices may use it; null means unlimited'),
  activations: Count.describe('How many devices hold a slot'),
  devices: z.array(Device).describe('Empty for tokens of kind client, which learn nothing about other devices'),
  activated: z.boolean().describe('Whether it has a device and the vendor has not disabled it'),
  expirationDate: InstantText.nullable().describe('When it expires; null means never'),
});

/** The fields that only the full form carries. */
const licenseExtras = {
  reference: z
    .string()
    .nullable()
    .describe("The vendor's own name of it, unique in the account; null: none. Absent for tokens of kind client"),
  expiresAfter: z
    .string()
    .nullable()
    .describe('How long it lasts from its first use, ISO 8601; the first use sets expirationDate. null: not so'),
  gracePeriod: z
    .string()
    .nullable()
    .describe('How long after its end it may still be used, ISO 8601; null means not at all'),
  graceUntil: InstantText.nullable().describe('Until when it may be used in all; null without an end or gracePeriod'),
  metadata: Metadata,
  allowedHosts: z
    .array(z.string())
    .nullable()
    .describe('The only hosts that may use it; null means any. Absent for tokens of kind client'),
  licenseType: z.string().meta({ description: licenseTypes.join(' or '), examples: ['node-locked'] }),
  maxConcurrentSessions: Count.nullable().describe('How many sessions a floating licence has; null means unlimited'),
  heartbeatInterval: Count.describe('Seconds between two reports of a session'),
  sessionLeaseDuration: Count.describe('Seconds that a session lasts without a report'),
  customerCanSelfReset: z.boolean().describe('Whether its customer may free devices'),
  vendorDisabled: z.boolean().describe('Whether the vendor has disabled it'),
  versionId: z.string().nullable().describe('The product version it is for; null means any'),
  version: z
    .looseObject({
      id: z.string(),
      version: z.string().describe('Its name'),
      description: z.string().nullable(),
      active: z.boolean().describe('Whether licences may be given this version'),
    })
    .nullable()
    .describe('The product version it is for; null means any'),
  createdAt: InstantText,
  updatedAt: InstantText,
};

/** A licence as `GET /key` shows it; everything beyond the shorter form may be absent. */
export const License = z
  .looseObject({ ...ShortLicense.shape, ...z.object(licenseExtras).partial().shape })
  .meta({ id: 'License', description: 'A licence key with its limits, its state and its devices' });
export type License = z.output<typeof License>;

/** A licence with the customer it belongs to. Source: API description, GET /key. */
export const LicenseDetails = z
  .looseObject({
    license: License,
    customer: CustomerSummary.nullable().describe('null when the key has no customer'),
    sessions: z
      .array(Session)
      .optional()
      .describe('Those of a floating licence whose lease runs. Absent for tokens of kind client'),
    files: z
      .array(SignedFile)
      .optional()
      .describe('Its licence files that have not ended; absent for tokens of kind client'),
  })
  .meta({ id: 'LicenseDetails' });
