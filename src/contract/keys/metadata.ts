import { z } from 'zod';
import { atMost, countMembers, record } from '../fields.ts';
import { showAs } from '../openapi/json-schema.ts';
import { PRINTABLE, text } from '../scalars.ts';

export const Feature = z.union([z.boolean(), z.number(), text(0, 256)]);

/** So that a licence file stays well under the 64 KiB that its verifier reads. */
const MAX_FEATURES = 40;

/** What a licence switches on in the product. */
export const Features = z.record(text(1, 64), Feature).meta({
  id: 'Features',
  description: 'What the licence switches on in the product; part of the signed licence file',
  examples: [{ sso: true, seats: 5 }],
});

/** Bounds of free metadata. Source: decision 0004. */
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

/**
 * What JSON Schema says of free entries beside the members that have a meaning. `additionalProperties` stays open: a
 * generated type with an index signature that does not fit these members would not compile. Generators pass over `if`.
 */
export const freeMetadataShown = (maxProperties: number, more: readonly object[] = []) => ({
  additionalProperties: {},
  propertyNames: { minLength: 1, maxLength: METADATA_LIMITS.nameLength, pattern: PRINTABLE.source },
  maxProperties,
  if: {},
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: {
    properties: Object.fromEntries(metadataFields.map((name) => [name, {}])),
    additionalProperties: {
      anyOf: [
        { type: 'boolean' },
        { type: 'number' },
        { type: 'string', maxLength: METADATA_LIMITS.valueLength },
        ...more,
      ],
    },
  },
});

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
      issues.push({
        code: 'custom',
        message: `Too big: at most ${METADATA_LIMITS.bytes} bytes as JSON`,
        input: value,
      });
    }
  })
  .meta({
    id: 'NewLicenseMetadata',
    description:
      `Features, the trial mark, and up to ${METADATA_LIMITS.entries} free entries of the vendor's own, ` +
      `${METADATA_LIMITS.bytes} bytes in all. Free entries are returned with the licence and are not part of the ` +
      'signed licence file.',
    ...freeMetadataShown(METADATA_LIMITS.entries + metadataFields.length),
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
export const Metadata = z
  .object({
    features: Features,
    is_trial: z.boolean().describe('Whether it is a trial'),
  })
  .catchall(z.custom<FreeValue | z.output<typeof Features>>())
  .meta({ id: 'LicenseMetadata', description: 'Features, the trial mark and the free entries of the vendor' });
