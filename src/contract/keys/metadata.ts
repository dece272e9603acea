import { z } from 'zod';
import { record, withAtMost } from '../fields.ts';
import { PRINTABLE, text } from '../scalars.ts';

export const Feature = z.union([z.boolean(), z.number(), text(0, 256)]);

export const FeatureName = text(1, 64);

/** Keeps a licence file well under the 64 KiB that its verifier reads. */
export const MAX_FEATURES = 40;

/** The most bytes of a plan's features as JSON: a licence file holds them beside as many features of the licence's own. */
const PLAN_FEATURES_BYTES = 4_096;

/** Bounds of free metadata. Source: decision 0004. */
export const METADATA_LIMITS = {
  entries: 50,
  nameLength: 64,
  bytes: 8_192,
  /** Levels of lists and objects in a value; with the body and `metadata` around them, as many as a request may have. */
  depth: 30,
  /** The longest text that a filter finds. */
  foundLength: 500,
} as const;

/** The members of `metadata` that are not free entries. */
const ownFields = ['features', 'is_trial'];

const MAX_MEMBERS = METADATA_LIMITS.entries + ownFields.length;

/** Enough to remove all entries and to add as many. */
const MAX_CHANGES = 2 * METADATA_LIMITS.entries + ownFields.length;

const EntryName = text(1, METADATA_LIMITS.nameLength);

/** Printable text with line breaks: notes have several lines. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it keeps out
const LINES = /^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$/;

/** Any value of JSON. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

/** Whether a value is JSON with printable texts and at most `levels` levels of lists and objects. */
function isJson(value: unknown, levels: number): boolean {
  if (typeof value === 'string') return LINES.test(value) && value.isWellFormed();
  if (typeof value !== 'object' || value === null)
    return value === null || typeof value === 'boolean' || Number.isFinite(value);
  if (levels === 0) return false;
  const isInner = (inner: unknown) => isJson(inner, levels - 1);
  if (Array.isArray(value)) return value.every(isInner);
  return Object.entries(value).every(([name, inner]) => name !== '__proto__' && isJson(name, 0) && isInner(inner));
}

const FreeEntries = z.record(
  EntryName,
  z.custom<JsonValue>((value) => isJson(value, METADATA_LIMITS.depth)),
);

type Members = Readonly<Record<string, unknown>>;

/** All members but `features` and `is_trial`. */
const withoutOwn = (metadata: Members): Members =>
  Object.fromEntries(Object.entries(metadata).filter(([name]) => !ownFields.includes(name)));

const sizeOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length;

/** Adds the issues of the free entries. */
const checkEntries: z.core.CheckFn<Members> = ({ value, issues }) => {
  const { error } = FreeEntries.safeParse(withoutOwn(value));
  for (const { path, message } of error?.issues ?? []) issues.push({ code: 'custom', path, message, input: value });
};

/** The JSON Schema of free entries, which have any value. */
const entriesShown = (maxProperties: number) => ({
  additionalProperties: true,
  propertyNames: { minLength: 1, maxLength: METADATA_LIMITS.nameLength, pattern: PRINTABLE.source },
  maxProperties,
});

const is_trial = z.boolean().optional().describe('Whether it is a trial; default false');

/** The metadata of a new licence: features, the trial mark and free entries. */
export const NewMetadata = withAtMost(
  MAX_MEMBERS,
  z
    .looseObject({
      features: record(FeatureName, Feature, MAX_FEATURES).optional().describe('What the licence switches on'),
      is_trial,
    })
    .check(checkEntries)
    .refine((metadata) => Object.keys(withoutOwn(metadata)).length <= METADATA_LIMITS.entries, {
      message: `Too big: at most ${METADATA_LIMITS.entries} free entries`,
    })
    .refine((metadata) => sizeOf(withoutOwn(metadata)) <= METADATA_LIMITS.bytes, {
      message: `Too big: at most ${METADATA_LIMITS.bytes} bytes as JSON`,
    })
    .meta({
      id: 'NewLicenseMetadata',
      description:
        `Features, the trial mark, and up to ${METADATA_LIMITS.entries} free entries of the vendor's own, ` +
        `${METADATA_LIMITS.bytes} bytes in all, whose values are any JSON. Free entries are returned with the licence and are not part of the ` +
        'signed licence file.',
      ...entriesShown(MAX_MEMBERS),
    }),
);

/** Changes of the metadata of a licence. Source: decision 0004. */
export const MetadataChanges = withAtMost(
  MAX_CHANGES,
  z
    .looseObject({
      features: record(FeatureName, Feature.nullable(), 2 * METADATA_LIMITS.entries)
        .optional()
        .describe('Merged by name with those that are there; null removes one'),
      is_trial,
    })
    .check(checkEntries)
    .meta({
      id: 'LicenseMetadataChanges',
      description:
        'Merged by name with what is there: a value sets an entry, null removes it, and other entries stay. The ' +
        'result must be within the bounds for a new key.',
      ...entriesShown(MAX_CHANGES),
    }),
);

/** Whether metadata is within the bounds for a new key. */
export const isWithinBounds = (metadata: Members): boolean => NewMetadata.safeParse(metadata).success;

/** Whether a plan may have these features. */
export const arePlanFeatures = (features: Members): boolean =>
  Object.keys(features).length <= MAX_FEATURES && sizeOf(features) <= PLAN_FEATURES_BYTES;

/** The free entries of metadata, or of changes of it. */
export const freeMetadataOf = (metadata: Members = {}) => withoutOwn(metadata) as z.output<typeof FreeEntries>;

export const Features = z.record(FeatureName, Feature).meta({
  id: 'Features',
  description: 'What the licence switches on in the product; part of the signed licence file',
  examples: [{ sso: true, seats: 5 }],
});

/** The metadata of a licence. Source: API description, "License". */
export const Metadata = z
  .object({ features: Features, is_trial: z.boolean().describe('Whether it is a trial') })
  .catchall(z.custom<JsonValue | z.output<typeof Features>>())
  .meta({
    id: 'LicenseMetadata',
    description: 'Features, the trial mark and the free entries of the vendor',
    examples: [{ features: { sso: true }, is_trial: false, plan: 'pro' }],
  });
