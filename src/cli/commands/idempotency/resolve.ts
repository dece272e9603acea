import { argument, command, flag } from '../../command.ts';
import { NotFoundError, UsageError } from '../../failure/errors.ts';
import { operateOn } from '../../request/operator.ts';

export const idempotencyResolve = command({
  path: 'idempotency resolve',
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
  fields: [{ name: 'hash' }, { name: 'outcome' }],
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
    return {
      kind: 'done',
      data: { hash, outcome: resolution },
      quiet: [hash],
      notes: [{ tone: 'done', text: `${resolution}: ${key} · ${next}` }],
    };
  },
});
