import { argument, type CommandSpec, command, type Declaration, flag, type None } from '../command.ts';
import { NotFoundError, UsageError } from '../failure/errors.ts';
import type { Field } from '../output/result.ts';
import { relative } from '../output/words.ts';
import { type Operator, operateOn } from '../request/operator.ts';
import { did, type Fields, listOf } from './results.ts';

/** The hash that names a request is whole for programs, and short in a table. */
const requestFields: readonly (Field | string)[] = [
  { name: 'hash', show: (hash) => String(hash).slice(0, 12) },
  'method',
  'path',
];

/** A list of requests, read from the database itself. */
function requestList({ read, empty, ...spec }: RequestList): Declaration {
  return command({
    ...spec,
    async run(_, context) {
      const { db, operator } = await operateOn(context);
      return listOf(await read(operator, db), empty, { name: 'hash' });
    },
  });
}

interface RequestList extends Omit<CommandSpec<None, None>, 'run'> {
  read(operator: Operator, db: string): Promise<readonly (Fields & { readonly hash: string })[]>;
  readonly empty: string;
}

export const idempotencyList = requestList({
  about:
    'Lists the requests that are in progress and will not end by themselves, oldest first, by the hash of their ' +
    'idempotency key: the keys themselves are not stored. Such records were brought in from elsewhere; retries are ' +
    'refused with 409 until they are resolved.',
  fields: [...requestFields, { name: 'createdAt', label: 'created', show: relative }],
  examples: [
    ['lkm idempotency list --db lkm.db', 'what waits for a decision'],
    ['lkm idempotency list -q', 'the bare hashes, of the database in LKM_DB'],
  ],
  read: (operator, db) => operator.listUnfinishedRequests(db),
  empty: 'no request is in progress: nothing to resolve',
});

export const idempotencyHistory = requestList({
  about:
    'Lists which requests were resolved by lkm idempotency resolve, how, by whom and when, oldest first. A request is ' +
    'named by the hash of its idempotency key.',
  fields: [...requestFields, 'outcome', 'by', { name: 'resolvedAt', label: 'resolved', show: relative }],
  examples: [
    ['lkm idempotency history --db lkm.db', 'every decision'],
    ['lkm idempotency history --json', 'for a script, of the database in LKM_DB'],
  ],
  read: (operator, db) => operator.listResolvedRequests(db),
  empty: 'nothing was resolved yet',
});

export const idempotencyResolve = command({
  about:
    'Resolves a request that is in progress and will not end by itself. Find out first whether its effect is there: ' +
    'that decides between the two options. The decision is kept: lkm idempotency history.',
  arguments: {
    key: argument('<KEY>', 'the idempotency key, or the first 8 or more digits of its hash from lkm idempotency list'),
  },
  options: {
    completed: flag('--completed', 'its effect is there: retries are refused, the response is missing (409)'),
    abandoned: flag('--abandoned', 'its effect is not there: the next retry runs'),
  },
  fields: ['hash', 'outcome'],
  examples: [
    ['lkm idempotency resolve order-1001 --completed --db lkm.db', 'the licence was issued'],
    ['lkm idempotency resolve 5f2b86c0e1d4 --abandoned --db lkm.db', 'it was not: let the retry issue it'],
  ],

  async run({ key, completed, abandoned }, context) {
    if (completed === abandoned) throw new UsageError('say what became of it: --completed or --abandoned');
    const { io } = context;
    const { db, operator } = await operateOn(context);
    const resolution = completed ? 'completed' : 'abandoned';
    const by = `${io.user}@${io.host}`;
    const [hash, ...others] = await operator.resolveRequest(db, key, { resolution, by, at: io.now() });
    const see = [['See them:', 'lkm idempotency list']] as const;
    if (hash === undefined) throw new NotFoundError(`no request is in progress under ${key}`, see);
    if (others.length > 0) {
      throw new UsageError(`${key} names ${others.length + 1} requests: give more digits of the hash`, see);
    }
    const next = completed ? 'retries are refused, the response is missing' : 'the next retry runs';
    return did(hash, { hash, outcome: resolution }, `${resolution}: ${key} · ${next}`);
  },
});
