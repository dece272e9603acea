/** Operations on a database itself, without the service: for the operator's commands. */
export { createRandom } from '../service/context.ts';
export { isTaken, restoreBackup, tryBackup } from '../store/backup/restore.ts';
export { takeBackup } from '../store/backup/take.ts';
export { inspect } from '../store/database.ts';
export { copyInstance, databaseStatus, migrateDatabase, rekeyDatabase } from './databases.ts';
