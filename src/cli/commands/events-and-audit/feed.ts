import type { Client } from '../../../client/client.ts';
import type { FollowOptions } from '../../../client/follow-events.ts';
import type { ListRequest } from '../../../client/lists.ts';
import { type Event, eventTypes } from '../../../contract/events.ts';
import type { Part } from '../../../contract/reply.ts';
import { MAX_SEQ } from '../../../contract/scalars.ts';
import { many, option } from '../../command.ts';
import type { CommandContext } from '../../context.ts';
import { NotFoundError, UsageError } from '../../failure/errors.ts';
import type { CommandResult } from '../../output/result.ts';
import { parseSince, parseUntil } from '../../values/instant.ts';
import { parseCount, parsePositive } from '../../values/scalars.ts';
import { type Fields, firstOf, listOf } from '../results.ts';
import { type Acted, withActors } from './lines.ts';

interface Numbering {
  readonly last: number;
}

type ListFeed<Item, Meta> = (input: {
  readonly after: number;
  readonly limit?: number;
}) => ListRequest<Part<Item, Meta>, Item>;

const MAX_PART = 1_000;

const DEFAULT_LIMIT = 100;

/** The number of the last item: the list after the greatest number is empty and contains it. */
export const lastSeq = async (list: ListFeed<unknown, Numbering>): Promise<number> =>
  (await list({ after: MAX_SEQ, limit: 1 })).meta.last;

export const type = many('--type <TYPE>', 'only events of this type, such as license.created', { choices: eventTypes });

/** The options of a command that follows events. */
export const following = {
  after: option('--after <SEQ>', 'begin after this number, not with what happens from now on', parseCount),
  type,
};

export const period = {
  since: option('--since <WHEN>', 'only from then on: a day, an instant, or how long ago, as 7d', parseSince),
  until: option('--until <WHEN>', 'only until then', parseUntil),
  by: option('--by <TOKEN>', 'only what this token has done, by its name or id; or another actor by its id'),
};

/** Yields events as they happen, ordered by their numbers, until the command is stopped. */
export async function* follow(
  { callOptions, say, io }: CommandContext,
  followed: Omit<FollowOptions, 'signal'>,
): AsyncGenerator<readonly Event[]> {
  const options = await callOptions();
  const { followParts } = await import('../../../client/follow-events.ts');
  const onAway = (why: Error | null) =>
    say(
      why === null
        ? { tone: 'done', text: 'the service is back' }
        : { tone: 'warning', text: `the service is away, trying again: ${why.message}` },
    );
  yield* followParts(options, { ...followed, onAway, signal: io.stop });
}

/** The options for a part of a numbered list. */
export const range = {
  after: option('--after <SEQ>', 'begin after this number', parseCount),
  ...period,
  limit: option('--limit <N>', `at most N (${DEFAULT_LIMIT})`, parsePositive),
  last: option('--last <N>', 'only the last N', parsePositive),
};

type Range = { readonly [name in keyof typeof range]?: (typeof range)[name]['value'] };

/** An event, or a row of the audit log. */
type Recorded = Acted & { readonly seq: number } & ({ readonly at: string } | { readonly created_at: string });

const timeOf = (item: Recorded): string => ('at' in item ? item.at : item.created_at);

/** The ids for an actor, given by id or by the name of tokens. Throws `NotFoundError`. */
async function idsOf(client: Client, by: string): Promise<readonly string[]> {
  if (/^[a-z]+_[0-9a-z]{26}$/.test(by)) return [by];
  const { items } = await client.tokens.list();
  const found = items.filter(({ name }) => name.toLowerCase() === by.toLowerCase()).map(({ id }) => id);
  if (found.length > 0) return found;
  throw new NotFoundError(`no token is called '${by}'`, [['See them:', 'lkm tokens list']]);
}

/** Creates a filter by period and actor. */
export async function periodFilter(
  client: Client,
  { since, until, by }: Pick<Range, keyof typeof period>,
): Promise<(item: Recorded) => boolean> {
  const ids = by === undefined ? null : await idsOf(client, by);
  const isBy = ({ id }: Recorded['actor']) => ids?.includes(id) ?? true;
  return (item) =>
    (since === undefined || timeOf(item) >= since) &&
    (until === undefined || timeOf(item) <= until) &&
    isBy(item.actor);
}

interface Listed<Item> {
  /** The columns of a table that are no fields of the item. */
  columnsOf(item: Item): Fields;
  /** Such as `nothing has happened`. */
  readonly nothing: string;
  /** What the service does not filter. */
  readonly fits?: ((item: Item) => boolean) | undefined;
}

/** Lists the part of a numbered list that the options select, with the name of each actor. Throws `UsageError`. */
export async function listRange<Item extends Recorded & Fields & { readonly id: string }>(
  client: Client,
  list: ListFeed<Item, Numbering>,
  { after = 0, limit, last, type, ...wanted }: Range & { readonly type: readonly string[] | undefined },
  { columnsOf, nothing, fits }: Listed<Item>,
): Promise<CommandResult> {
  if (last !== undefined && limit !== undefined) {
    throw new UsageError('--limit and --last both say how many; give one of them');
  }
  const start = wanted.since === undefined ? after : Math.max(after, await seqBefore(list, wanted.since));
  const isWanted = await periodFilter(client, wanted);
  const isOfPart = Object.values(wanted).some((value) => value !== undefined);
  async function* read(): AsyncGenerator<Item> {
    for await (const item of list({ after: start })) {
      if (wanted.until !== undefined && timeOf(item) > wanted.until) return;
      if (isWanted(item) && (fits?.(item) ?? true)) yield item;
    }
  }
  const readEnd = async (length: number) =>
    isOfPart || fits !== undefined
      ? (await Array.fromAsync(read())).slice(-length)
      : await readLast(list, length, start);
  const { items, notes } =
    last === undefined
      ? await firstOf(read, limit ?? DEFAULT_LIMIT, goOnAfter)
      : { items: await readEnd(last), notes: [] };
  const none = `${nothing} ${after === 0 ? 'yet' : `since ${after}`}`;
  const empty = isOfPart || type !== undefined ? 'nothing fits; leave a filter out to see more' : none;
  const rows = withActors(items).map((row) => ({ ...row, ...columnsOf(row) }));
  return { ...listOf(rows, empty, { notes }), data: items };
}

/** The number of the last item before an instant; 0 if there is none. Numbers increase with time. */
export async function seqBefore(list: ListFeed<Recorded, Numbering>, at: string): Promise<number> {
  let [low, high] = [0, await lastSeq(list)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const [item] = (await list({ after: middle - 1, limit: 1 })).items;
    if (item === undefined || timeOf(item) >= at) high = middle - 1;
    else low = middle;
  }
  return low;
}

/** The last items after a number, oldest first: requests longer and longer parts of the end of the list. */
export async function readLast<Item>(
  list: ListFeed<Item, Numbering>,
  wanted: number,
  start: number,
): Promise<readonly Item[]> {
  const end = await lastSeq(list);
  for (let length = Math.max(wanted, MAX_PART); ; length *= 10) {
    const after = Math.max(start, end - length);
    const items = await Array.fromAsync(list({ after }));
    if (items.length >= wanted || after === start) return items.slice(-wanted);
  }
}

/** The option that continues a numbered list. */
const goOnAfter = ({ seq }: { readonly seq: number }): string => `--after ${seq}`;

/** Reads a numbered list after a number to its end, in parts. */
export async function* readFeed<Item, Meta extends Numbering>(
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

/** The id of an actor or of a resource. */
export function idOf(thing: unknown): unknown {
  return typeof thing === 'object' && thing !== null && 'id' in thing ? thing.id : null;
}

/** Throws `UsageError` for masked addresses: hashes cover the whole ones. */
export function refuseMasked(rows: readonly { readonly address: string | null }[]): void {
  if (!rows.some(({ address }) => address?.includes('*'))) return;
  throw new UsageError('this token sees addresses masked, and the hashes are over whole ones', [
    'Use an admin token, or one with license:reveal.',
  ]);
}
