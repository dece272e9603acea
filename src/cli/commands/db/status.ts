import { command } from '../../command.ts';
import { withoutPassword } from '../../config/location.ts';
import type { Field } from '../../output/result.ts';
import type { Note } from '../../output/terminal.ts';
import { count } from '../../output/words.ts';
import { operateOn } from '../../request/operator.ts';

const names = (value: unknown): string => (Array.isArray(value) && value.join(', ')) || 'none';

const statusFields: readonly Field[] = [
  { name: 'db', label: 'database' },
  { name: 'engine' },
  { name: 'done', show: names },
  { name: 'pending', show: names },
  { name: 'unknown', show: names },
];

export const dbStatus = command({
  about: 'Shows how far the schema of a database has come, and changes nothing.',
  watchable: true,
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
