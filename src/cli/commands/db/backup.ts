import { resolve } from 'node:path';
import { argument, command } from '../../command.ts';
import { withoutPassword } from '../../config/location.ts';
import { InterruptedError } from '../../failure/errors.ts';
import { quote, size } from '../../output/words.ts';
import { operateOn } from '../../request/operator.ts';

export const dbBackup = command({
  about:
    'Writes a database, as it is at one moment, into one file, while servers go on using it: every change that was ' +
    'acknowledged before is in it. The file is a database of its own, readable by its owner only; it holds the private ' +
    'keys. PostgreSQL is read in one snapshot and written as such a file too. --force replaces a file that is there.',
  arguments: { file: argument('<FILE>', 'the file to write') },
  fields: [{ name: 'file' }, { name: 'bytes' }, { name: 'db' }],
  examples: [
    ['lkm db backup /backup/lkm.db --db lkm.db', 'while it is served'],
    ['lkm db backup "lkm-$(date +%F).db" --db postgres://lkm@db.example/lkm', 'of PostgreSQL; PGPASSWORD is read'],
  ],

  async run({ file }, context) {
    const { flags, io } = context;
    const { db, operator } = await operateOn(context);
    const path = resolve(io.cwd, file);
    const bytes = await operator
      .backUp(db, path, { replace: flags.force ?? false, signal: io.stop })
      .catch((error: unknown) => {
        throw io.stop.aborted ? new InterruptedError(io.stop.reason) : error;
      });
    return {
      kind: 'value',
      value: path,
      data: { file: path, bytes, db: withoutPassword(db) },
      quiet: [path],
      notes: [
        { tone: 'done', text: `backed up ${withoutPassword(db)} (${size(bytes)})` },
        { tone: 'hint', text: `try it: lkm db restore ${quote(file)} --drill` },
      ],
    };
  },
});
