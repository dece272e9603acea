import { command, option } from '../../command.ts';
import { isPostgres } from '../../config/location.ts';
import type { CommandContext } from '../../context.ts';
import { UsageError } from '../../failure/errors.ts';
import { showProgress } from '../../output/progress.ts';
import type { Note } from '../../output/terminal.ts';
import { count } from '../../output/words.ts';
import { loadOperator } from '../../request/operator.ts';
import { chooseDatabase } from '../../request/target.ts';
import { parsePositive } from '../../values/scalars.ts';

/** A statement that is planned for any account locks each partition of its tables. */
const MAX_PARTITIONS = 128;

export const dbMigrate = command({
  path: 'db migrate',
  about:
    'Brings the schema of a database up to date and lists the migrations that it ran. A server does so itself when it ' +
    'starts; a database that is not there yet is made. On PostgreSQL, stop servers of an older version first, and with ' +
    '--partitions every server.',
  arguments: {},
  options: {
    partitions: option('--partitions <N>', 'on PostgreSQL: divide each table by account into N parts, 2 to 128', {
      parse: parsePartitions,
    }),
  },
  fields: [{ name: 'migration' }],
  examples: [
    ['lkm db migrate --db lkm.db', 'before a new version serves a file'],
    ['lkm db migrate', 'on the database in LKM_DB'],
    ['lkm db migrate --partitions 16', 'its tables in 16 parts each, by account'],
  ],

  async run({ partitions }, context) {
    const db = chooseDatabase(context.flags, context.io);
    const { ran, divided } = await (partitions === undefined ? migrate(db) : divide(db, partitions, context));
    const rows = ran.map((migration) => ({ migration }));
    const notes: Note[] = [];
    if (ran.length > 0) notes.push({ tone: 'done', text: `ran ${count(ran.length, 'migration')}` });
    if (divided > 0)
      notes.push({ tone: 'done', text: `divided ${count(divided, 'table')} into ${partitions} partitions` });
    const isDivided = partitions === undefined ? '' : `, its tables are in ${partitions} partitions`;
    return {
      kind: 'rows',
      rows,
      data: rows,
      quiet: ran,
      empty: `${divided > 0 ? 'no migration was' : 'nothing'} to run: the schema is up to date${isDivided}`,
      notes,
    };
  },
});

interface Outcome {
  readonly ran: readonly string[];
  /** How many tables. */
  readonly divided: number;
}

async function migrate(db: string): Promise<Outcome> {
  const { migrateDatabase } = await loadOperator();
  return { ran: await migrateDatabase(db), divided: 0 };
}

async function divide(db: string, partitions: number, { settings, io }: CommandContext): Promise<Outcome> {
  if (!isPostgres(db)) throw new UsageError('--partitions is for PostgreSQL: a file has none');
  const { partitionDatabase } = await loadOperator();
  const progress = showProgress(settings, io);
  const show = (table: string, rows: number) => progress.show(table, rows, rows);
  const { ran, divided } = await partitionDatabase(db, partitions, show).finally(progress.end);
  return { ran, divided: divided.length };
}

function parsePartitions(text: string): number {
  const partitions = parsePositive(text);
  if (partitions >= 2 && partitions <= MAX_PARTITIONS) return partitions;
  throw new UsageError(`'${text}' is not a number of partitions, 2 to ${MAX_PARTITIONS}`);
}
