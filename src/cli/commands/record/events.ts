import { setTimeout as sleep } from 'node:timers/promises';
import { type Event, eventTypes } from '../../../contract/events.ts';
import { command, many, option } from '../../command.ts';
import type { CommandContext } from '../../context.ts';
import type { Field } from '../../output/result.ts';
import type { Note } from '../../output/terminal.ts';
import { moment } from '../../output/words.ts';
import { parseCount, parsePositive } from '../../values/scalars.ts';
import { readSome } from './feed.ts';

const eventFields: readonly Field[] = [
  { name: 'seq' },
  { name: 'created_at', label: 'when', show: moment },
  { name: 'type' },
  { name: 'resource_id', label: 'resource' },
  { name: 'actor', of: ({ actor }) => idOf(actor), drops: 2 },
  { name: 'address', drops: 1 },
  { name: 'data', shown: 'chosen' },
  { name: 'id', shown: 'chosen' },
  { name: 'resource_type', shown: 'chosen' },
  { name: 'request_id', shown: 'chosen' },
  { name: 'api_version', shown: 'chosen' },
];

const type = many('--type <TYPE>', 'only events of this type, such as license.created', {
  field: 'type',
  choices: eventTypes,
});

/** How many events or rows are listed unless it is said. */
export const DEFAULT_LIMIT = 100;

export const eventsList = command({
  path: 'events list',
  about: 'Lists what happened in the account, oldest first, behind a number.',
  operation: 'events.list',
  watchable: true,
  arguments: {},
  options: {
    after: option('--after <SEQ>', 'begin behind this number', { parse: parseCount, field: 'after' }),
    limit: option('--limit <N>', `at most so many (${DEFAULT_LIMIT})`, { parse: parsePositive }),
    type,
  },
  fields: eventFields,
  examples: [
    ['lkm events list', 'the first hundred'],
    ['lkm events list --after 4200 --type license.created --json', 'what was issued since'],
  ],

  async run({ after = 0, limit = DEFAULT_LIMIT, type }, context) {
    const client = await context.client();
    const { items, hasMore } = await readSome((part) => client.events.list({ ...part, type }), { after, limit });
    return {
      kind: 'rows',
      rows: items,
      data: items,
      quiet: items.map(({ id }) => id),
      empty: after === 0 ? 'nothing has happened yet' : `nothing has happened since ${after}`,
      notes: hasMore ? [moreBehind('events list', items.at(-1)?.seq)] : [],
    };
  },
});

/** Says how to see the next part. */
export const moreBehind = (path: string, seq: number | undefined): Note => ({
  tone: 'hint',
  text: `there are more: lkm ${path} --after ${seq}`,
});

export const eventsTail = command({
  path: 'events tail',
  about: 'Prints what happens in the account as it happens, until it is stopped: a line for each event.',
  operation: 'events.list',
  arguments: {},
  options: {
    after: option('--after <SEQ>', 'begin behind this number, not with what happens from now on', {
      parse: parseCount,
      field: 'after',
    }),
    type,
  },
  fields: eventFields,
  examples: [
    ['lkm events tail', 'watch'],
    ['lkm events tail --after 4200 --json', 'for a program: an object per line, none left out'],
  ],

  async run({ after, type }, context) {
    const client = await context.client();
    const list = (behind: number, limit: number) => client.events.list({ after: behind, limit, type });
    const start = after ?? (await list(BEHIND_ALL, 1)).meta.last;
    return { kind: 'stream', stream: follow(list, start, context), data: [], quiet: [] };
  },
});

/** No event has this number. */
const BEHIND_ALL = 2_147_483_647;

const PART = 100;

/** How long to wait for news. */
const POLL_MS = 500;

async function* follow(
  list: (after: number, limit: number) => Promise<{ items: readonly Event[]; meta: { last: number } }>,
  after: number,
  { io: { stop } }: CommandContext,
): AsyncGenerator<readonly Event[]> {
  let last = after;
  while (!stop.aborted) {
    const { items, meta } = await list(last, PART);
    if (items.length > 0) yield items;
    if (meta.last <= last) await sleep(POLL_MS, undefined, { signal: stop }).catch(() => {});
    else last = meta.last;
  }
}

/** The id of who did something. */
function idOf(actor: unknown): unknown {
  return typeof actor === 'object' && actor !== null && 'id' in actor ? actor.id : null;
}
