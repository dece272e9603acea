import { command } from '../../command.ts';
import { relative } from '../../output/words.ts';
import { operateOn } from '../../request/operator.ts';

export const idempotencyHistory = command({
  path: 'idempotency history',
  about: 'Lists which requests were settled by lkm idempotency resolve, how, by whom and when, oldest first.',
  arguments: {},
  options: {},
  fields: [
    { name: 'key' },
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
    const rows = (await operator.listResolved(db)).map((claim) => ({ ...claim }));
    return {
      kind: 'rows',
      rows,
      data: rows,
      quiet: rows.map(({ key }) => key),
      empty: 'nothing was resolved yet',
    };
  },
});
