import { z } from 'zod';
import { CustomerSummary } from '../customers.ts';
import { atMost, countMembers, record } from '../fields.ts';
import { showAs } from '../openapi/json-schema.ts';
import { Count, InstantText, LicenseKey, ProductId, ShownIp, ShownKey, text } from '../scalars.ts';
import { Session } from '../session-fields.ts';
import { SignedFile } from './license-files.ts';

/** The fields that name one licence. */
export const licenseAddress = { productId: ProductId, licenseKey: LicenseKey };

/** Carried by replies to uses of an expired licence. Source: decision 0048. */
export const Warning = z.string().describe('Present when the licence has expired and is used in its time of grace');

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

/** How long a session lasts without a report. */
export const LeaseSeconds = z
  .int()
  .min(300)
  .max(2_592_000)
  .describe(`Seconds that a session lasts without a report; default ${DEFAULT_LEASE_SECONDS}`);

/** A session that reports itself more rarely than its lease lasts would lose its seat between two reports. */
export function heartbeatsWithinLease(timing: {
  readonly heartbeatInterval?: number | undefined;
  readonly sessionLeaseDuration?: number | undefined;
}): boolean {
  const { heartbeatInterval = DEFAULT_HEARTBEAT_SECONDS, sessionLeaseDuration = DEFAULT_LEASE_SECONDS } = timing;
  return heartbeatInterval <= sessionLeaseDuration;
}

export const Feature = z.union([z.boolean(), z.number(), text(0, 256)]);

/** So that a licence file stays well under the 64 KiB that its verifier reads. */
const MAX_FEATURES = 40;

/** What a licence switches on in the product. */
export const Features = z.record(text(1, 64), Feature).meta({
  id: 'Features',
  description: 'What the licence switches on in the product; part of the signed licence file',
  examples: [{ sso: true, seats: 5 }],
});

/** Bounds of free metadata. Source: decision 0030. */
export const METADATA_LIMITS = { entries: 50, nameLength: 64, valueLength: 500, bytes: 8_192 } as const;

/** What stands in `metadata` beside the free entries. */
const metadataFields = ['features', 'is_trial'];

/** Whether an entry of metadata is the vendor's own. */
export const isFree = (name: string): boolean => !metadataFields.includes(name);

/** Free entries of metadata. */
export const FreeMetadata = z.record(
  text(1, METADATA_LIMITS.nameLength),
  z.union([z.boolean(), z.number(), text(0, METADATA_LIMITS.valueLength)]),
);

/** What JSON Schema says of free entries, for objects that have them beside their own members. */
export const freeMetadataShown = {
  additionalProperties: {
    anyOf: [{ type: 'boolean' }, { type: 'number' }, { type: 'string', maxLength: METADATA_LIMITS.valueLength }],
  },
  propertyNames: { minLength: 1, maxLength: METADATA_LIMITS.nameLength },
  maxProperties: METADATA_LIMITS.entries + metadataFields.length,
};

const NewMetadataObject = z
  .looseObject({
    features: record(text(1, 64), Feature, MAX_FEATURES).optional().describe('What the licence switches on'),
    is_trial: z.boolean().optional().describe('Whether it is a trial; default false'),
  })
  .check(({ value, issues }) => {
    const free = Object.fromEntries(Object.entries(value).filter(([name]) => isFree(name)));
    if (Object.keys(free).length > METADATA_LIMITS.entries) {
      issues.push({
        code: 'custom',
        message: `Too big: at most ${METADATA_LIMITS.entries} free entries`,
        input: value,
      });
    }
    const { error } = FreeMetadata.safeParse(free);
    for (const { path, message } of error?.issues ?? []) issues.push({ code: 'custom', path, message, input: value });
    if (new TextEncoder().encode(JSON.stringify(free)).length > METADATA_LIMITS.bytes) {
      issues.push({ code: 'custom', message: `Too big: at most ${METADATA_LIMITS.bytes} bytes as JSON`, input: value });
    }
  })
  .meta({
    id: 'NewLicenseMetadata',
    description:
      `Features, the trial mark, and up to ${METADATA_LIMITS.entries} free entries of the vendor's own, ` +
      `${METADATA_LIMITS.bytes} bytes in all. Free entries are returned with the licence and are not part of the ` +
      'signed licence file.',
    ...freeMetadataShown,
  });

/** What a new licence carries beside its limits: features, the trial mark and free entries. */
export const NewMetadata = showAs(
  atMost(METADATA_LIMITS.entries + metadataFields.length, 'members', countMembers).pipe(NewMetadataObject),
  NewMetadataObject,
);

/** The free entries of metadata: all but `features` and `is_trial`. */
export function freeMetadataOf(metadata: Readonly<Record<string, unknown>> = {}): z.output<typeof FreeMetadata> {
  return Object.fromEntries(
    Object.entries(metadata).filter((entry): entry is [string, FreeValue] => isFree(entry[0]) && isScalar(entry[1])),
  );
}

type FreeValue = z.output<typeof FreeMetadata>[string];

const isScalar = (value: unknown): value is FreeValue => ['string', 'number', 'boolean'].includes(typeof value);

/** What a licence carries beside its limits. Source: API description, "License". */
const Metadata = z
  .looseObject({
    features: Features,
    is_trial: z.boolean().describe('Whether it is a trial'),
  })
  .meta({ id: 'LicenseMetadata', description: 'Features, the trial mark and the free entries of the vendor' });

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
