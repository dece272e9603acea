import { join, resolve } from 'node:path';
import { fileStamp, toInstant } from '../../../domain/time.ts';
import { argument, command, flag, many, yes } from '../../command.ts';
import { withoutPassword } from '../../config/location.ts';
import { readMasterKey } from '../../config/master-key.ts';
import type { CommandContext } from '../../context.ts';
import { UsageError } from '../../failure/errors.ts';
import type { CommandResult } from '../../output/result.ts';
import { count, quote, size } from '../../output/words.ts';
import { confirm } from '../../prompts/questions.ts';
import { loadOperator, type Operator, operateOn } from '../../request/operator.ts';
import { chooseDatabase } from '../../request/target.ts';
import { readText } from '../../values/files.ts';
import { hintsOf, singleValue, verdictOf } from '../results.ts';

export const dbBackup = command({
  about:
    'Writes a database, as it is at one moment, into one file, while servers go on using it: every change that was ' +
    'acknowledged before is in it. The file is a database of its own, readable by its owner only; it holds the private ' +
    'keys. PostgreSQL is read in one snapshot and written as such a file too. --force replaces a file that is there.',
  arguments: { file: argument('<FILE>', 'the file to write') },
  fields: ['file', 'bytes', 'db'],
  examples: [
    ['lkm db backup /backup/lkm.db --db lkm.db', 'while it is served'],
    ['lkm db backup "lkm-$(date +%F).db" --db postgres://lkm@db.example/lkm', 'of PostgreSQL; PGPASSWORD is read'],
  ],

  async run({ file }, context) {
    const { flags, io } = context;
    const { db, operator } = await operateOn(context);
    const path = resolve(io.cwd, file);
    const bytes = await operator.backUp(db, path, { replace: flags.force ?? false, signal: io.stop });
    return singleValue(path, { file: path, bytes, db: withoutPassword(db) }, [
      { tone: 'done', text: `backed up ${withoutPassword(db)} (${size(bytes)})` },
      { tone: 'hint', text: `try it: lkm db restore ${quote(file)} --drill` },
    ]);
  },
});

export const dbRestore = command({
  about:
    'Puts a backup where a database is to stand, after every page of it was read. A database that stands there is ' +
    'replaced only after a yes, and kept beside it under another name; on PostgreSQL the target has to be empty. With ' +
    '--drill nothing is replaced: a copy is opened, its audit chain followed, and licence files are signed and verified ' +
    'with its keys. Prints where it was restored, or ok or broken; exit code 0 or 1.',
  arguments: { file: argument('<FILE>', 'a file that lkm db backup has written') },
  options: {
    drill: flag('--drill', 'try it, and restore nothing'),
    licenseFile: many('--license-file <FILE>', 'with --drill: a licence file that its keys have to verify'),
    yes,
  },
  fields: ['target', 'previous', 'verdict', 'problems'],
  examples: [
    ['lkm db restore /backup/lkm.db --db lkm.db', 'asks when there is a database already'],
    ['lkm db restore /backup/lkm.db --drill', 'every night: would it restore?'],
    ['lkm db restore /backup/lkm.db --db postgres://lkm@db.example/lkm', 'into an empty PostgreSQL database'],
  ],

  async run({ file, drill, licenseFile, yes }, context) {
    const path = resolve(context.io.cwd, file);
    if (drill) return tryOut(path, licenseFile ?? [], context);
    if (licenseFile !== undefined) throw new UsageError('--license-file goes with --drill');
    const { flags, io } = context;
    const db = chooseDatabase(flags, io);
    const operator = await loadOperator();
    const isReplaced = operator.isTargetTaken(db);
    if (isReplaced && !yes) {
      await confirm(context, {
        about: [`there is a database at ${db}`, 'it is kept beside, under another name'],
        question: 'put the backup in its place?',
        action: `restoring over ${db}`,
        flag: '--yes',
      });
    }
    const stamp = fileStamp(toInstant(io.now()));
    const { target: location, previous } = await operator.restore(path, db, { replace: isReplaced, stamp });
    const target = withoutPassword(location);
    return singleValue(target, { target, previous }, [
      { tone: 'done', text: `restored ${path}` },
      ...hintsOf(previous === null ? [] : [`the database before it: ${previous}`]),
    ]);
  },
});

async function tryOut(path: string, names: readonly string[], { flags, io }: CommandContext): Promise<CommandResult> {
  if (flags.db) throw new UsageError('a drill restores nothing: leave --db out');
  const licenseFiles: { name: string; text: string }[] = [];
  for (const name of names) licenseFiles.push({ name, text: await readText(name, io) });
  const operator = await loadOperator();
  const report = await operator.drill(path, {
    workPath: join(io.tempDir, 'drill.db'),
    now: toInstant(io.now()),
    masterKey: readMasterKey(io),
    licenseFiles,
  });
  return verdictOf(report.problems, report, describe(report));
}

function describe({ accounts, licenseFiles, migrations }: Awaited<ReturnType<Operator['drill']>>): string {
  const rows = accounts.reduce((sum, { auditRows }) => sum + auditRows, 0);
  const files = accounts.reduce((sum, account) => sum + account.licenseFiles, licenseFiles.length);
  const found = `${count(accounts.length, 'account')} · ${count(rows, 'audit row')} linked · ${count(files, 'licence file')} verified`;
  return migrations.length === 0 ? found : `${found} · ${count(migrations.length, 'migration')} to run`;
}
