/** What works on a database itself, past the service: for commands of its operator. */
export { copyInstance, databaseStatus, migrateDatabase } from './databases.ts';
export { listResolvedRequests, listUnfinishedRequests, resolveRequest } from './idempotency.ts';
