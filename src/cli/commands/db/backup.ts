import { join, resolve } from 'node:path';
import { fileStamp, toInstant } from '../../../domain/time.ts';
import { argument, command, flag, yes } from '../../command.ts';
import { readMasterKey } from '../../config/master-key.ts';
import { quote, size } from '../../output/words.ts';
import { confirm } from '../../prompts/questions.ts';
import { loadOperator, operateOn } from '../../request/operator.ts';
import { chooseDatabase } from '../../request/target.ts';
import { hintsOf, singleValue } from '../results.ts';

export const dbBackup = command({
  about:
    'Copies a SQLite database into one file, while a server goes on using it. The file has every change that was ' +
    'acknowledged before. It is a database itself, with the private keys, and only its owner can read it. A manifest ' +
    'beside it, FILE.json, has its time, size and SHA-256. --force replaces an existing backup. PostgreSQL has pg_dump.',
  arguments: { file: argument('<FILE>', 'the file to write') },
  fields: ['file', 'bytes', 'db', 'takenAt', 'sha256'],
  examples: [['lkm db backup /backup/lkm.db --db lkm.db', 'while it is served']],

  async run({ file }, context) {
    const { flags, io } = context;
    const { db, operator } = await operateOn(context);
    const path = resolve(io.cwd, file);
    const options = { now: toInstant(io.now()), replace: flags.force ?? false, signal: io.stop };
    const { takenAt, bytes, sha256 } = await operator.takeBackup(db, path, options);
    return singleValue(path, { file: path, bytes, db, takenAt, sha256 }, [
      { tone: 'done', text: `backed up ${db} (${size(bytes)})` },
      { tone: 'hint', text: `try it: lkm db restore ${quote(file)} --dry-run` },
    ]);
  },
});

export const dbRestore = command({
  about:
    'Restores a database from a backup, after comparing the backup with its manifest and reading every page of it. An existing ' +
    'database is replaced only after a yes, and kept beside it under another name. --dry-run replaces nothing: it checks a ' +
    'copy in the same way, opens it with the master key, and prints ok. A backup that cannot be restored gives exit code 13.',
  arguments: { file: argument('<FILE>', 'a file that lkm db backup has written') },
  options: {
    dryRun: flag('-n, --dry-run', 'check the backup, and restore nothing; needs no --db'),
    yes,
  },
  fields: ['target', 'previous', 'verdict', 'takenAt'],
  examples: [
    ['lkm db restore /backup/lkm.db --db lkm.db', 'asks when there is a database already'],
    ['lkm db restore /backup/lkm.db --dry-run', 'every night: would it restore?'],
  ],

  async run({ file, dryRun, yes }, context) {
    const { flags, io } = context;
    const path = resolve(io.cwd, file);
    const operator = await loadOperator();
    if (dryRun) {
      const sealing = { masterKey: readMasterKey(io, flags), random: operator.createRandom() };
      const manifest = await operator.tryBackup(path, { workPath: join(io.tempDir, 'restore.db'), sealing });
      const takenAt = manifest?.takenAt ?? null;
      const text = takenAt === null ? 'it has no manifest to compare it with' : `taken at ${takenAt}`;
      return singleValue('ok', { verdict: 'ok', takenAt }, [{ tone: 'hint', text }]);
    }
    const db = chooseDatabase(flags, io);
    const isReplaced = operator.isTaken(db);
    if (isReplaced && !yes) {
      await confirm(context, {
        about: [`there is a database at ${db}`, 'it is kept beside, under another name'],
        question: 'put the backup in its place?',
        action: `restoring over ${db}`,
      });
    }
    const stamp = fileStamp(toInstant(io.now()));
    const { target, previous } = await operator.restoreBackup(path, db, { replace: isReplaced, stamp });
    return singleValue(target, { target, previous }, [
      { tone: 'done', text: `restored ${path}` },
      ...hintsOf(previous === null ? [] : [`the database before it: ${previous}`]),
    ]);
  },
});
