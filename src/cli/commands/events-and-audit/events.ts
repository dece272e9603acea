import { type Event, eventTypes } from '../../../contract/events.ts';
import { command, many, option, required } from '../../command.ts';
import { UsageError } from '../../failure/errors.ts';
import type { Field } from '../../output/result.ts';
import { moment } from '../../output/words.ts';
import { parseCount, parsePositive } from '../../values/scalars.ts';
import { AFTER_ALL, DEFAULT_LIMIT, idOf, moreAfter, readSome } from './feed.ts';

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

/** How many missing events are listed by default. */
const DEFAULT_DIFF_LIMIT = 1_000;

export const eventsList = command({
  about: 'Lists what happened in the account, oldest first, after a number.',
  operation: 'events.list',
  watchable: true,
  options: {
    after: option('--after <SEQ>', 'begin after this number', { parse: parseCount, field: 'after' }),
    limit: option('--limit <N>', `at most N (${DEFAULT_LIMIT})`, { parse: parsePositive }),
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
      notes: hasMore ? [moreAfter('events list', items.at(-1)?.seq, context.written)] : [],
    };
  },
});

export const eventsDiff = command({
  about:
    'Lists the events that a program has missed which has seen all up to a number, and says how to send them to its ' +
    'webhook once more.',
  operation: 'events.list',
  options: {
    last: required('--last <SEQ>', 'the number of the last event that it has seen'),
    limit: option('--limit <N>', `at most N (${DEFAULT_DIFF_LIMIT})`, { parse: parsePositive }),
    type,
  },
  fields: eventFields,
  examples: [
    ['lkm events diff --last 4200', 'what came since'],
    ['lkm events diff --last 4200 --type license.created -q | wc -l', 'how many that are, of one type'],
  ],

  async run({ last: written, limit = DEFAULT_DIFF_LIMIT, type }, context) {
    const last = parseCount(written);
    const client = await context.client();
    const end = (await client.events.list({ after: AFTER_ALL, limit: 1 })).meta.last;
    if (last > end) throw new UsageError(`there is no event ${last}: the last one is ${end}`);
    const list = readSome((part) => client.events.list({ ...part, type }), { after: last, limit });
    const { items, hasMore } = await list;
    const hint = `send them once more: lkm webhooks replay ID --after ${last}`;
    return {
      kind: 'rows',
      rows: items,
      data: items,
      quiet: items.map(({ id }) => id),
      empty: `nothing is missing: ${end} is the last event`,
      notes: [
        ...(items.length > 0 ? ([{ tone: 'hint', text: hint }] as const) : []),
        ...(hasMore ? [moreAfter('events list', items.at(-1)?.seq, { type: context.written.type })] : []),
      ],
    };
  },
});

export const eventsTail = command({
  about: 'Prints what happens in the account as it happens, until it is stopped: a line for each event.',
  operation: 'events.list',
  streams: true,
  options: {
    after: option('--after <SEQ>', 'begin after this number, not with what happens from now on', {
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
    // A service that refuses, or that is not there, is met before anything is waited for.
    const { meta } = await client.events.list({ after: AFTER_ALL, limit: 1 });
    const stream = context.follow({ after: after ?? meta.last, type });
    return { kind: 'stream', stream, data: [], quiet: [], quietOf: ({ id }: Event) => id };
  },
});
