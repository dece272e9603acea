import type { Event } from '../../../contract/events.ts';
import { command, option, required } from '../../command.ts';
import { UsageError } from '../../failure/errors.ts';
import type { Field } from '../../output/result.ts';
import { moment } from '../../output/words.ts';
import { parseCount, parsePositive } from '../../values/scalars.ts';
import { readCommand } from '../forms.ts';
import { fieldsShown, firstOf, listOf } from '../results.ts';
import { following, idOf, lastSeq, range, readRange, type } from './feed.ts';
import { eventLines } from './lines.ts';

const fields: readonly Field[] = [
  { name: 'seq' },
  { name: 'created_at', label: 'when', show: moment },
  { name: 'type' },
  { name: 'resource_id', label: 'resource' },
  { name: 'actor', of: ({ actor }) => idOf(actor), drops: 2 },
  { name: 'address', drops: 1 },
  ...fieldsShown('chosen', 'data', 'id', 'resource_type', 'request_id', 'api_version'),
];

export const eventsList = readCommand({
  about: 'Lists what happened in the account, oldest first, after a number.',
  operation: 'events.list',
  options: { ...range, type },
  fields,
  examples: [
    ['lkm events list', 'the first hundred'],
    ['lkm events list --last 20', 'what has happened lately'],
    ['lkm events list --after 4200 --type license.created --json', 'what was issued since'],
  ],

  async read(client, { after = 0, type, ...others }) {
    const { items, notes } = await readRange((part) => client.events.list({ ...part, type }), { after, ...others });
    return listOf(items, after === 0 ? 'nothing has happened yet' : `nothing has happened since ${after}`, { notes });
  },
});

/** How many missing events are listed by default. */
const DEFAULT_DIFF_LIMIT = 1_000;

export const eventsDiff = readCommand({
  about:
    'Lists the events that a program has missed which has seen all up to a number, and says how to send them to its ' +
    'webhook once more.',
  operation: 'events.list',
  options: {
    last: required('--last <SEQ>', 'the number of the last event that it has seen', parseCount),
    limit: option('--limit <N>', `at most N (${DEFAULT_DIFF_LIMIT})`, parsePositive),
    type,
  },
  fields,
  examples: [
    ['lkm events diff --last 4200', 'what came since'],
    ['lkm events diff --last 4200 --type license.created -q | wc -l', 'how many that are, of one type'],
  ],

  async read(client, { last, limit = DEFAULT_DIFF_LIMIT, type }) {
    const end = await lastSeq(client);
    if (last > end) throw new UsageError(`there is no event ${last}: the last one is ${end}`);
    const { items, notes } = await firstOf(
      () => client.events.list({ after: last, type }),
      limit,
      ({ seq }) => `--last ${seq}`,
    );
    const hint = { tone: 'hint', text: `send them once more: lkm webhooks replay ID --after ${last}` } as const;
    return listOf(items, `nothing is missing: ${end} is the last event`, {
      notes: items.length > 0 ? [hint, ...notes] : [],
    });
  },
});

export const eventsTail = command({
  about: 'Prints what happens in the account as it happens, until it is stopped: a line for each event.',
  operation: 'events.list',
  streams: true,
  options: following,
  fields,
  examples: [
    ['lkm events tail', 'watch'],
    ['lkm events tail --after 4200 --json', 'for a program: an object per line, none left out'],
  ],

  async run({ after, type }, context) {
    const client = await context.client();
    // A service that refuses, or that is not there, is met before anything is waited for.
    const last = await lastSeq(client);
    const start = after ?? last;
    const lineOf = await eventLines(client, context.io);
    if (context.io.stdout.isTTY) await context.say({ tone: 'hint', text: `events after ${start} · ctrl-c ends it` });
    const stream = context.follow({ after: start, type });
    return { kind: 'stream', stream, data: [], quiet: [], quietOf: ({ id }: Event) => id, lineOf };
  },
});
