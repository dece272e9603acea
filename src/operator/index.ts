/** Operations on a database itself, without the service: for the operator's commands. */
export { copyInstance, databaseStatus, migrateDatabase, rekeyDatabase } from './databases.ts';
export { listResolvedRequests, listUnfinishedRequests, resolveRequest } from './idempotency.ts';
