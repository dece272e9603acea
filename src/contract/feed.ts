import { z } from 'zod';
import { integerField } from './fields.ts';
import type { Reply } from './reply.ts';
import { Count } from './scalars.ts';

/** The highest number that an item of a numbered list can have. */
export const MAX_SEQ = 2_147_483_647;

/** The fields that ask for a part of a numbered list. */
export const feedFields = {
  after: integerField(0, MAX_SEQ).optional().describe('The number after which to begin; 0 unless given'),
  limit: integerField(1, 1_000).optional().describe('How many items at most; 100 unless given'),
};

/** How many items a part has when no `limit` is given. */
export const DEFAULT_FEED_SIZE = 100;

/** A part of a numbered list, and where to go on. */
export interface Feed<Item, Meta> {
  readonly items: readonly Item[];
  readonly meta: Meta;
}

/** `{data: […], meta: {last, …}, code: 0}`: a part of a numbered list. */
export function feed<T, M extends z.ZodRawShape>(
  id: string,
  item: z.ZodType<T>,
  more: M,
): Reply<Feed<T, z.output<z.ZodObject<M & typeof lastField>>>> {
  const meta = z.looseObject({ ...lastField, ...more });
  const code = z.literal(0).describe('0 on success');
  const schema = z.looseObject({ data: z.array(item), meta, code }).meta({ id });
  return {
    status: 200,
    schema,
    wrap: ({ items, meta }) => ({ data: items, meta, code: 0 }),
    unwrap: (wire) => {
      const { data, meta } = schema.parse(wire);
      return { items: data, meta };
    },
  };
}

const lastField = {
  last: Count.describe('Where to go on: the next part begins after it. Nothing is left once it is what `after` was'),
};
