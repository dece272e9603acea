import { argument, command, flag, option } from '../../command.ts';
import { checkExists, locate, withoutPassword } from '../../config/location.ts';
import { readKeyFile, readMasterKey } from '../../config/master-key.ts';
import { UsageError } from '../../failure/errors.ts';
import { showProgress } from '../../output/progress.ts';
import type { Field } from '../../output/result.ts';
import type { Note } from '../../output/terminal.ts';
import { count } from '../../output/words.ts';
import { loadOperator, type Operator, operateOn } from '../../request/operator.ts';
import { chooseDatabase } from '../../request/target.ts';
import { did, listOf } from '../results.ts';

const names = (value: unknown): string => (Array.isArray(value) && value.join(', ')) || 'none';

const statusFields: readonly Field[] = [
  { name: 'db', label: 'database' },
  { name: 'engine' },
  { name: 'done', show: names },
  { name: 'pending', show: names },
  { name: 'unknown', show: names },
  { name: 'search' },
];

export const dbStatus = command({
  about: 'Shows how far the schema of a database has come, and changes nothing.',
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

function notesOn({ pending, unknown, search }: Awaited<ReturnType<Operator['databaseStatus']>>): Note[] {
  if (unknown.length > 0) return [{ tone: 'warning', text: 'a newer lkm has changed this database: use that version' }];
  if (pending.length === 0 && search === 'not indexed') {
    return [{ tone: 'hint', text: 'searches look at all words, since pg_trgm was not installed: docs/operating.md' }];
  }
  if (pending.length === 0) return [{ tone: 'done', text: 'up to date' }];
  return [{ tone: 'hint', text: `${count(pending.length, 'migration')} to run: lkm db migrate` }];
}

export const dbMigrate = command({
  about:
    'Brings the schema of a database up to date and lists the migrations that it ran. A server does so itself when it ' +
    'starts, no other command does; a database that is not there yet is made. On PostgreSQL it is refused while servers ' +
    'or commands use the database: stop them first.',
  fields: ['migration'],
  examples: [
    ['lkm db migrate --db lkm.db', 'before a new version serves a file'],
    ['lkm db migrate', 'on the database in LKM_DB'],
  ],

  async run(_, { flags, io }) {
    const { migrateDatabase } = await loadOperator();
    const ran = await migrateDatabase(chooseDatabase(flags, io));
    return listOf(
      ran.map((migration) => ({ migration })),
      'nothing to run: the schema is up to date',
      {
        name: 'migration',
        notes: ran.length === 0 ? [] : [{ tone: 'done', text: `ran ${count(ran.length, 'migration')}` }],
      },
    );
  },
});

export const dbCopy = command({
  about:
    'Copies everything into an empty database of any engine, and compares both. The target gets all or nothing. Stop ' +
    'every server on the source first.',
  arguments: {
    from: { ...argument('<FROM>', 'the database to read: a file, or postgres://…'), parse: locate },
    to: { ...argument('<TO>', 'the empty database to fill'), parse: locate },
  },
  fields: ['table', 'rows', 'checksum'],
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
    const show: Parameters<typeof copyInstance>[2] = ({ table, done, total }) => progress.show(table, done, total);
    const tables = await copyInstance(from, to, show, io.stop).finally(progress.end);
    const total = tables.reduce((sum, { rows }) => sum + rows, 0);
    return listOf(
      tables.map((one) => ({ ...one })),
      'there was nothing to copy',
      {
        name: 'table',
        notes: [{ tone: 'done', text: `copied ${count(total, 'row')} to ${withoutPassword(to)}` }],
      },
    );
  },
});

export const dbRekey = command({
  about:
    'Puts the secrets in a database (private signing keys, secrets of sessions and webhooks) under another master key, or ' +
    'stores them unsealed. The present master key is read from LKM_MASTER_KEY_FILE or LKM_MASTER_KEY. Servers on ' +
    'PostgreSQL use the old key until they are restarted; stop them before you seal unsealed secrets, or unseal them.',
  options: {
    newKeyFile: option('--new-key-file <FILE>', 'a master key: 32 bytes in base64; nobody else may read the file'),
    plain: flag('--plain', 'store the secrets unsealed: whoever reads the database can use them'),
  },
  fields: ['secrets', 'written'],
  examples: [
    ['lkm db rekey --db lkm.db --new-key-file master.key', 'made with: openssl rand -base64 32 > master.key'],
    ['lkm db rekey --db lkm.db --plain', 'with the present key in LKM_MASTER_KEY_FILE'],
  ],

  async run({ newKeyFile, plain }, context) {
    const { io, flags } = context;
    if ((newKeyFile !== undefined) === plain) throw new UsageError('give one of --new-key-file and --plain');
    const to = newKeyFile === undefined ? null : readKeyFile(newKeyFile, io, flags);
    const from = readMasterKey(io, flags);
    const { db, operator } = await operateOn(context);
    const { kept, written } = await operator.rekeyDatabase(db, { from, to });
    const changed = written === 0 ? '' : `; ${count(written, 'secret')} written anew`;
    const data = { secrets: kept, written };
    if (kept === 'plain') return did(kept, data, `plain${changed}`);
    const hint = 'without the key nobody can open them: keep a copy elsewhere';
    return did(kept, data, `sealed under the new master key${changed}`, hint);
  },
});
