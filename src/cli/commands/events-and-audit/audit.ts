import { command, option } from '../../command.ts';
import type { Field } from '../../output/result.ts';
import { moment } from '../../output/words.ts';
import { parseCount, parsePositive } from '../../values/scalars.ts';
import { DEFAULT_LIMIT, idOf, moreAfter, readSome } from './feed.ts';

const auditFields: readonly Field[] = [
  { name: 'seq' },
  { name: 'at', label: 'when', show: moment },
  { name: 'operation' },
  { name: 'outcome' },
  { name: 'resource', of: ({ resource }) => idOf(resource) },
  { name: 'actor', of: ({ actor }) => idOf(actor), drops: 3 },
  { name: 'address', drops: 2 },
  { name: 'door', drops: 1 },
  { name: 'token', shown: 'chosen' },
  { name: 'details', shown: 'chosen' },
  { name: 'id', shown: 'chosen' },
  { name: 'request_id', shown: 'chosen' },
  { name: 'hash', shown: 'chosen' },
];

export const auditList = command({
  about:
    'Lists who did what in the account, oldest first: every change, and every one that was refused for lack of rights.',
  operation: 'audit.list',
  watchable: true,
  options: {
    after: option('--after <SEQ>', 'begin after this number', { parse: parseCount, field: 'after' }),
    limit: option('--limit <N>', `at most N (${DEFAULT_LIMIT})`, { parse: parsePositive }),
  },
  fields: auditFields,
  examples: [
    ['lkm audit list', 'the first hundred'],
    ['lkm audit list --after 4200 -o audit.csv', 'for a spreadsheet'],
  ],

  async run({ after = 0, limit = DEFAULT_LIMIT }, context) {
    const client = await context.client();
    const { items, hasMore } = await readSome(client.audit.list, { after, limit });
    return {
      kind: 'rows',
      rows: items,
      data: items,
      quiet: items.map(({ id }) => id),
      empty: after === 0 ? 'nothing was done yet' : `nothing was done since ${after}`,
      notes: hasMore ? [moreAfter('audit list', items.at(-1)?.seq, context.written)] : [],
    };
  },
});
