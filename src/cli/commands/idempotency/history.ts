import { command } from '../../command.ts';
import { relative } from '../../output/words.ts';
import { operateOn } from '../../request/operator.ts';
import { hashFields, shortenHashes } from './hashes.ts';

export const idempotencyHistory = command({
  path: 'idempotency history',
  about:
    'Lists which requests were resolved by lkm idempotency resolve, how, by whom and when, oldest first. A request is ' +
    'named by the hash of its idempotency key.',
  arguments: {},
  options: {},
  fields: [
    ...hashFields,
    { name: 'method' },
    { name: 'path' },
    { name: 'outcome' },
    { name: 'by' },
    { name: 'resolvedAt', label: 'resolved', show: relative },
  ],
  examples: [
    ['lkm idempotency history --db lkm.db', 'every decision'],
    ['lkm idempotency history --json', 'for a script, of the database in LKM_DB'],
  ],

  async run(_, context) {
    const { db, operator } = await operateOn(context);
    const data = await operator.listResolvedRequests(db);
    return {
      kind: 'rows',
      rows: shortenHashes(data),
      data,
      quiet: data.map(({ hash }) => hash),
      empty: 'nothing was resolved yet',
    };
  },
});
