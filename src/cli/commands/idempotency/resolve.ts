import { argument, command, flag } from '../../command.ts';
import { NotFoundError, UsageError } from '../../failure/errors.ts';
import { operateOn } from '../../request/operator.ts';

export const idempotencyResolve = command({
  path: 'idempotency resolve',
  about:
    'Settles a request that is in progress and will not end by itself. Look first whether its effect is there: this ' +
    'is what decides between the two. The decision is kept: lkm idempotency history.',
  arguments: { key: argument('<KEY>', 'the idempotency key') },
  options: {
    completed: flag('--completed', 'its effect is there: retries are told that the answer is missing (409)'),
    abandoned: flag('--abandoned', 'its effect is not there: the next retry runs'),
  },
  fields: [{ name: 'key' }, { name: 'outcome' }],
  examples: [
    ['lkm idempotency resolve order-1001 --completed --db lkm.db', 'the licence was issued'],
    ['lkm idempotency resolve order-1001 --abandoned --db lkm.db', 'it was not: let the retry issue it'],
  ],

  async run({ key, completed, abandoned }, context) {
    if (completed === abandoned) throw new UsageError('say what became of it: --completed or --abandoned');
    const { io } = context;
    const { db, operator } = await operateOn(context);
    const outcome = completed ? 'completed' : 'abandoned';
    const by = `${io.user}@${io.host}`;
    if (!(await operator.resolveClaim(db, key, { outcome, by, at: io.now() }))) {
      throw new NotFoundError(`no request is in progress under ${key}`, [['See them:', 'lkm idempotency list']]);
    }
    const next = completed ? 'retries are told that the answer is missing' : 'the next retry runs';
    return {
      kind: 'done',
      data: { key, outcome },
      quiet: [key],
      notes: [{ tone: 'done', text: `${outcome}: ${key} · ${next}` }],
    };
  },
});
