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
    'Writes a SQLite database, as it is at one moment, into one file, while a server goes on using it: every change that ' +
    'was acknowledged before is in it. The file is a database of its own, readable by its owner only; it holds the private ' +
    'keys. A manifest beside it, FILE.json, has its time, size and SHA-256. --force replaces a backup that is there. ' +
    'PostgreSQL has pg_dump.',
  arguments: { file: argument('<FILE>', 'the file to write') },
  fields: ['file', 'bytes', 'db', 'takenAt', 'sha256'],
  examples: [['lkm db backup /backup/lkm.db --db lkm.db', 'while it is served']],

  async run({ file }, context) {
    const { flags, io } = context;
    const { db, operator } = await operateOn(context);
    const path = resolve(io.cwd, file);
    const options = { now: toInstant(io.now()), replace: flags.force ?? false, signal: io.stop };
    const { takenAt, bytes, sha256 } = await operator.backUp(db, path, options);
    return singleValue(path, { file: path, bytes, db, takenAt, sha256 }, [
      { tone: 'done', text: `backed up ${db} (${size(bytes)})` },
      { tone: 'hint', text: `try it: lkm db restore ${quote(file)} --dry-run` },
    ]);
  },
});

export const dbRestore = command({
  about:
    'Puts a backup where a database is to stand, after it was compared with its manifest and every page of it was read. A ' +
    'database that stands there is replaced only after a yes, and kept beside it under another name. With --dry-run ' +
    'nothing is replaced: a copy is checked in the same way and opened with the master key, and ok is printed. Ends with 13 ' +
    'for a backup that cannot be restored.',
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
    const isReplaced = operator.isTargetTaken(db);
    if (isReplaced && !yes) {
      await confirm(context, {
        about: [`there is a database at ${db}`, 'it is kept beside, under another name'],
        question: 'put the backup in its place?',
        action: `restoring over ${db}`,
      });
    }
    const stamp = fileStamp(toInstant(io.now()));
    const { target, previous } = await operator.restore(path, db, { replace: isReplaced, stamp });
    return singleValue(target, { target, previous }, [
      { tone: 'done', text: `restored ${path}` },
      ...hintsOf(previous === null ? [] : [`the database before it: ${previous}`]),
    ]);
  },
});
