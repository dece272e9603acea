import { type ArgumentSpec, argument, command } from '../../command.ts';
import { checkExists, locate, withoutPassword } from '../../config/location.ts';
import { InterruptedError, UsageError } from '../../failure/errors.ts';
import { showProgress } from '../../output/progress.ts';
import { count } from '../../output/words.ts';
import { loadOperator } from '../../request/operator.ts';

export const dbCopy = command({
  about:
    'Copies everything into another, empty database, of whatever engine, and compares both sides. The target holds ' +
    'all of it or nothing. Stop every server on the source first.',
  arguments: {
    from: location('<FROM>', 'the database to read: a file, or postgres://…'),
    to: location('<TO>', 'the empty database to fill'),
  },
  fields: [{ name: 'table' }, { name: 'rows' }, { name: 'checksum' }],
  examples: [
    ['lkm db copy lkm.db postgres://lkm@db.example/lkm', 'from a file to PostgreSQL; PGPASSWORD is read'],
    ['lkm db copy lkm.db copy.db --json', 'counts and checksums, for a script'],
  ],

  async run({ from, to }, { flags, io, settings }) {
    if (flags.db) throw new UsageError('db copy names its two databases itself: leave --db out');
    if (from === to) throw new UsageError('FROM and TO name the same database');
    checkExists(from);
    const { copyInstance } = await loadOperator();
    const progress = showProgress(settings, io);
    const tables = await copyInstance(from, to, ({ table, done, total }) => progress.show(table, done, total), io.stop)
      .catch((error: unknown) => {
        throw io.stop.aborted ? new InterruptedError(io.stop.reason) : error;
      })
      .finally(progress.end);
    const rows = tables.map((one) => ({ ...one }));
    const total = rows.reduce((sum, one) => sum + one.rows, 0);
    return {
      kind: 'rows',
      rows,
      data: rows,
      quiet: rows.map(({ table }) => table),
      empty: 'there was nothing to copy',
      notes: [{ tone: 'done', text: `copied ${count(total, 'row')} to ${withoutPassword(to)}` }],
    };
  },
});

function location(usage: string, describe: string): ArgumentSpec<string> {
  return { ...argument(usage, describe), parse: locate };
}
