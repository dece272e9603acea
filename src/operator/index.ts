/** Operations on a database itself, without the service: for the operator's commands. */
export { backUp, isTargetTaken, restore } from './backups.ts';
export {
  copyInstance,
  databaseStatus,
  inspectDatabase,
  migrateDatabase,
  rekeyDatabase,
} from './databases.ts';
export { drill } from './drill.ts';
export { listResolvedRequests, listUnfinishedRequests, resolveRequest } from './idempotency.ts';
