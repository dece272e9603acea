/** What works on a database itself, past the service: for commands of its operator. */
export { copyInstance, databaseStatus, migrateDatabase } from './databases.ts';
export { listResolved, listUnfinished, resolveClaim } from './idempotency.ts';
