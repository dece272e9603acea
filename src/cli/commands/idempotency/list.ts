import { command } from '../../command.ts';
import { relative } from '../../output/words.ts';
import { operateOn } from '../../request/operator.ts';
import { hashFields, shortenHashes } from './hashes.ts';

export const idempotencyList = command({
  path: 'idempotency list',
  about:
    'Lists the requests that are in progress and will not end by themselves, oldest first, by the hash of their ' +
    'idempotency key: the keys themselves are not stored. Such records were brought in from elsewhere; retries are ' +
    'refused with 409 until they are resolved.',
  arguments: {},
  options: {},
  fields: [
    ...hashFields,
    { name: 'method' },
    { name: 'path' },
    { name: 'createdAt', label: 'created', show: relative },
  ],
  examples: [
    ['lkm idempotency list --db lkm.db', 'what waits for a decision'],
    ['lkm idempotency list -q', 'the bare hashes, of the database in LKM_DB'],
  ],

  async run(_, context) {
    const { db, operator } = await operateOn(context);
    const data = await operator.listUnfinishedRequests(db);
    return {
      kind: 'rows',
      rows: shortenHashes(data),
      data,
      quiet: data.map(({ hash }) => hash),
      empty: 'no request is in progress: nothing to resolve',
    };
  },
});
