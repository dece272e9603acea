import { type Event, recordNames } from '../../../contract/events.ts';
import { command } from '../../command.ts';
import type { Field } from '../../output/result.ts';
import { moment } from '../../output/words.ts';
import { readCommand } from '../forms.ts';
import { fieldsShown } from '../results.ts';
import { follow, following, idOf, lastSeq, listRange, range, type } from './feed.ts';
import { eventLines, subjectOf } from './lines.ts';

const fields: readonly Field[] = [
  { name: 'seq', drops: 2 },
  { name: 'created_at', label: 'when', show: moment },
  { name: 'type', label: 'what' },
  { name: 'about', shown: 'table', cuts: true },
  { name: 'by', shown: 'table', cuts: true },
  { name: 'resource_id', label: 'resource', shown: 'data' },
  { name: 'actor', of: ({ actor }) => idOf(actor), shown: 'data' },
  { name: 'address', drops: 1 },
  ...fieldsShown('data', ...Object.keys(recordNames)),
  ...fieldsShown('chosen', 'data', 'id', 'resource_type', 'request_id', 'api_version'),
];

export const eventsList = readCommand({
  about:
    'Lists what happened in the account, oldest first: what keys, customers and devices went through. Of one key it is lkm ' +
    'keys history; who called what, and what was refused, is lkm audit list.',
  alsoNeeds: { 'token:read': 'for --by with the name of a token' },
  operation: 'events.list',
  options: { ...range, type },
  fields,
  examples: [
    ['lkm events list', 'the first hundred'],
    ['lkm events list --last 20', 'what has happened lately'],
    ['lkm events list --since 7d --by shop --type license.created', 'what the token of the shop has issued'],
    ['lkm events list --after 4200 --type license.created --json', 'what was issued since'],
  ],

  read: (client, values) =>
    listRange(client, (part) => client.events.list({ ...part, type: values.type }), values, {
      columnsOf: (event) => ({ about: subjectOf(event, event.data) }),
      nothing: 'nothing has happened',
    }),
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
    // Fails at once if the service refuses or cannot be reached.
    const last = await lastSeq(client.events.list);
    const start = after ?? last;
    const lineOf = eventLines();
    if (context.io.stdout.isTTY) await context.say({ tone: 'hint', text: `events after ${start} · ctrl-c ends it` });
    const stream = follow(context, { after: start, type });
    return { kind: 'stream', stream, data: [], quiet: [], quietOf: ({ id }: Event) => id, lineOf };
  },
});
