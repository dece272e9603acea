/** Operations on a database itself, without the service: for the operator's commands. */
export { createRandom } from '../service/context.ts';
export { isTaken as isTargetTaken, restoreBackup as restore, tryBackup } from '../store/backup/restore.ts';
export { takeBackup as backUp } from '../store/backup/take.ts';
export { inspect as inspectDatabase } from '../store/database.ts';
export { copyInstance, databaseStatus, migrateDatabase, rekeyDatabase } from './databases.ts';
