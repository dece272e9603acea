import { type ArgumentSpec, argument, command } from '../../command.ts';
import { checkExists, locate, withoutPassword } from '../../config/location.ts';
import { InterruptedError, UsageError } from '../../failure/errors.ts';
import { showProgress } from '../../output/progress.ts';
import type { Field } from '../../output/result.ts';
import type { Note } from '../../output/terminal.ts';
import { count } from '../../output/words.ts';
import { loadOperator, operateOn } from '../../request/operator.ts';

const names = (value: unknown): string => (Array.isArray(value) && value.join(', ')) || 'none';

const statusFields: readonly Field[] = [
  { name: 'db', label: 'database' },
  { name: 'engine' },
  { name: 'done', show: names },
  { name: 'pending', show: names },
  { name: 'unknown', show: names },
];

export const dbStatus = command({
  path: 'db status',
  about: 'Shows how far the schema of a database has come, and changes nothing.',
  watchable: true,
  arguments: {},
  options: {},
  fields: statusFields,
  examples: [
    ['lkm db status --db lkm.db', 'the migrations of a file'],
    ['lkm db status --json', 'of the database in LKM_DB, for a script'],
  ],

  async run(_, context) {
    const { db, operator } = await operateOn(context);
    const status = { db: withoutPassword(db), ...(await operator.databaseStatus(db)) };
    return { kind: 'record', row: status, data: status, quiet: status.pending, notes: notesOn(status) };
  },
});

function notesOn({ pending, unknown }: { pending: readonly string[]; unknown: readonly string[] }): Note[] {
  if (unknown.length > 0) return [{ tone: 'warning', text: 'a newer lkm has changed this database: use that version' }];
  if (pending.length === 0) return [{ tone: 'done', text: 'up to date' }];
  return [{ tone: 'hint', text: `${count(pending.length, 'migration')} to run: lkm db migrate` }];
}

const location = (usage: string, describe: string): ArgumentSpec<string> => ({
  ...argument(usage, describe),
  parse: locate,
});

export const dbCopy = command({
  path: 'db copy',
  about:
    'Copies everything into another, empty database, of whatever engine, and compares both sides. The target holds ' +
    'all of it or nothing. Stop every server on the source first.',
  arguments: {
    from: location('<FROM>', 'the database to read: a file, or postgres://…'),
    to: location('<TO>', 'the empty database to fill'),
  },
  options: {},
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
