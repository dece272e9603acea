import { z } from 'zod';
import { integerField } from './fields.ts';
import { partList } from './reply.ts';
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

const lastField = {
  last: Count.describe('Where to go on: the next part begins after it. Nothing is left once it is what `after` was'),
};

/** `{data: […], meta: {last, …}, code: 0}`: a part of a numbered list. */
export const feed = <T, M extends z.ZodRawShape>(id: string, item: z.ZodType<T>, more: M) =>
  partList(id, item, z.looseObject({ ...lastField, ...more }));
