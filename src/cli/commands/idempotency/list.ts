import { command } from '../../command.ts';
import { relative } from '../../output/words.ts';
import { operateOn } from '../../request/operator.ts';

export const idempotencyList = command({
  path: 'idempotency list',
  about:
    'Lists the idempotency keys whose request is in progress and will not end by itself, oldest first. Such records ' +
    'were brought in from elsewhere; retries under them are answered 409 until they are resolved.',
  arguments: {},
  options: {},
  fields: [
    { name: 'key' },
    { name: 'method' },
    { name: 'path' },
    { name: 'createdAt', label: 'created', show: relative },
  ],
  examples: [
    ['lkm idempotency list --db lkm.db', 'what waits for a decision'],
    ['lkm idempotency list -q', 'the bare keys, of the database in LKM_DB'],
  ],

  async run(_, context) {
    const { db, operator } = await operateOn(context);
    const rows = (await operator.listUnfinished(db)).map((claim) => ({ ...claim }));
    return {
      kind: 'rows',
      rows,
      data: rows,
      quiet: rows.map(({ key }) => key),
      empty: 'no request is in progress: nothing to resolve',
    };
  },
});
