import { schema } from './0001-schema.ts';
import type { Dialect } from './dialect.ts';

/** The statements that bring the schema one step further. */
type Migration = (dialect: Dialect) => readonly string[];

/** Every migration in order; a released migration is never changed. */
export const migrations: Readonly<Record<string, Migration>> = { '0001-schema': schema };
