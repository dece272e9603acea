import { command } from '../../command.ts';
import { count } from '../../output/words.ts';
import { loadOperator } from '../../request/operator.ts';
import { chooseDatabase } from '../../request/target.ts';

export const dbMigrate = command({
  about:
    'Brings the schema of a database up to date and lists the migrations that it ran. A server does so itself when it ' +
    'starts, no other command does; a database that is not there yet is made. On PostgreSQL it is refused while servers ' +
    'or commands use the database: stop them first.',
  fields: [{ name: 'migration' }],
  examples: [
    ['lkm db migrate --db lkm.db', 'before a new version serves a file'],
    ['lkm db migrate', 'on the database in LKM_DB'],
  ],

  async run(_, { flags, io }) {
    const { migrateDatabase } = await loadOperator();
    const ran = await migrateDatabase(chooseDatabase(flags, io));
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
