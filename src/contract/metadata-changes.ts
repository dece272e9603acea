import { z } from 'zod';
import { atMost, countMembers, record } from './fields.ts';
import { Feature, FreeMetadata, freeMetadataShown, isFree, METADATA_LIMITS, NewMetadata } from './keys/metadata.ts';
import { showAs } from './openapi/json-schema.ts';
import { text } from './scalars.ts';

/** So many that all entries can be removed and as many added. */
const MAX_CHANGES = 2 * METADATA_LIMITS.entries;

const FreeChanges = z.record(FreeMetadata.keyType, FreeMetadata.valueType.nullable());

const MetadataChangesObject = z
  .looseObject({
    features: record(text(1, 64), Feature.nullable(), MAX_CHANGES)
      .optional()
      .describe('Merged by name with those that are there; null removes one'),
    is_trial: z.boolean().optional().describe('Whether it is a trial'),
  })
  .check(({ value, issues }) => {
    const free = Object.fromEntries(Object.entries(value).filter(([name]) => isFree(name)));
    const { error } = FreeChanges.safeParse(free);
    for (const { path, message } of error?.issues ?? []) issues.push({ code: 'custom', path, message, input: value });
  })
  .meta({
    id: 'LicenseMetadataChanges',
    description:
      'Merged by name with what is there: a value sets an entry, null removes it, and other entries stay. What comes ' +
      'of it has the bounds of a new key.',
    ...freeMetadataShown(MAX_CHANGES + 2, [{ type: 'null' }]),
  });

/** Changes of the metadata of a licence. Source: decision 0004. */
export const MetadataChanges = showAs(
  atMost(MAX_CHANGES + 2, 'members', countMembers).pipe(MetadataChangesObject),
  MetadataChangesObject,
);

/** The changes of free entries: all but `features` and `is_trial`. */
export const freeChangesOf = (changes: Readonly<Record<string, unknown>>): z.output<typeof FreeChanges> =>
  FreeChanges.parse(Object.fromEntries(Object.entries(changes).filter(([name]) => isFree(name))));

/** Whether metadata has the bounds of that of a new key. */
export const isWithinBounds = (metadata: Readonly<Record<string, unknown>>): boolean =>
  NewMetadata.safeParse(metadata).success;
