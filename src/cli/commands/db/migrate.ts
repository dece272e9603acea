import { command } from '../../command.ts';
import { chooseDatabase } from '../../config/target.ts';
import { count } from '../../output/words.ts';
import { loadOperator } from '../../request/server.ts';

export const dbMigrate = command({
  path: 'db migrate',
  about:
    'Brings the schema of a database up to date and lists the migrations that it ran. A server does so itself when it ' +
    'starts; a database that is not there yet is made. On PostgreSQL, stop servers of an older version first.',
  arguments: {},
  options: {},
  fields: [{ name: 'migration' }],
  examples: [
    ['lkm db migrate --db lkm.db', 'before a new version serves a file'],
    ['lkm db migrate', 'on the database in LKM_DB'],
  ],

  async run(_, { flags, io }) {
    const db = chooseDatabase(flags, io);
    const { migrateDatabase } = await loadOperator();
    const ran = await migrateDatabase(db);
    const rows = ran.map((migration) => ({ migration }));
    return {
      kind: 'rows',
      rows,
      data: rows,
      quiet: ran,
      empty: 'nothing to run: the schema is up to date',
      notes: ran.length === 0 ? [] : [{ tone: 'done', text: `ran ${count(ran.length, 'migration')}` }],
    };
  },
});
