import type { Client } from '../../../client/client.ts';
import type { ListRequest } from '../../../client/lists.ts';
import { eventTypes } from '../../../contract/events.ts';
import type { Part } from '../../../contract/reply.ts';
import { MAX_SEQ } from '../../../contract/scalars.ts';
import { many, option } from '../../command.ts';
import { UsageError } from '../../failure/errors.ts';
import { parseCount, parsePositive } from '../../values/scalars.ts';
import { firstOf } from '../results.ts';

/** An operation that lists a numbered list. */
type ListFeed<Item, Meta> = (input: {
  readonly after: number;
  readonly limit?: number;
}) => ListRequest<Part<Item, Meta>, Item>;

/** The longest part that the service gives. */
const MAX_PART = 1_000;

/** How many events or rows are listed by default. */
const DEFAULT_LIMIT = 100;

/** The number of the last event. The list after the greatest of all numbers is empty, and says it. */
export async function lastSeq(client: Client): Promise<number> {
  const { meta } = await client.events.list({ after: MAX_SEQ, limit: 1 });
  return meta.last;
}

export const type = many('--type <TYPE>', 'only events of this type, such as license.created', { choices: eventTypes });

/** The options of a command that goes on with events as they happen. */
export const following = {
  after: option('--after <SEQ>', 'begin after this number, not with what happens from now on', parseCount),
  type,
};

/** The options for a part of a numbered list, or for its end. */
export const range = {
  after: option('--after <SEQ>', 'begin after this number', parseCount),
  limit: option('--limit <N>', `at most N (${DEFAULT_LIMIT})`, parsePositive),
  last: option('--last <N>', 'only the last N', parsePositive),
};

/** The part of a numbered list that the options ask for. Throws `UsageError`. */
export async function readRange<Item extends { readonly seq: number }>(
  list: ListFeed<Item, { readonly last: number }>,
  { after = 0, limit, last }: { readonly [name in keyof typeof range]?: number | undefined },
) {
  if (last === undefined) return firstOf(() => list({ after }), limit ?? DEFAULT_LIMIT, goOnAfter);
  if (limit !== undefined) throw new UsageError('--limit and --last both say how many; give one of them');
  return { items: await readLast(list, last, after), notes: [] };
}

/** The last items after a number, oldest first, of those that the list gives: asks for longer and longer parts of its end. */
export async function readLast<Item>(
  list: ListFeed<Item, { readonly last: number }>,
  wanted: number,
  start: number,
): Promise<readonly Item[]> {
  const { meta } = await list({ after: MAX_SEQ, limit: 1 });
  for (let length = Math.max(wanted, MAX_PART); ; length *= 10) {
    const after = Math.max(start, meta.last - length);
    const items = await Array.fromAsync(list({ after }));
    if (items.length >= wanted || after === start) return items.slice(-wanted);
  }
}

/** The option with which the rest of a numbered list is asked for. */
const goOnAfter = ({ seq }: { readonly seq: number }): string => `--after ${seq}`;

/** Reads a numbered list after the number `after` to its end, part by part. */
export async function* readFeed<Item, Meta extends { readonly last: number }>(
  list: ListFeed<Item, Meta>,
  after: number,
): AsyncGenerator<Part<Item, Meta>> {
  let last = after;
  for (;;) {
    const part = await list({ after: last, limit: MAX_PART });
    yield part;
    if (part.meta.last <= last) return;
    last = part.meta.last;
  }
}

/** The id of who did something, or of what it was done to. */
export function idOf(thing: unknown): unknown {
  return typeof thing === 'object' && thing !== null && 'id' in thing ? thing.id : null;
}

/** Throws `UsageError` when the rows come with masked addresses: their hashes then cannot be computed. */
export function refuseMasked(rows: readonly { readonly address: string | null }[]): void {
  if (!rows.some(({ address }) => address?.includes('*'))) return;
  throw new UsageError('this token sees addresses masked, and the hashes are over whole ones', [
    'Use an admin token, or one with license:reveal.',
  ]);
}
