import type { Connection, Engine } from '../engine/driver.ts';
import { up as schema } from './0001-schema.ts';

/** Brings the schema one step further. */
export interface Migration {
  up(db: Connection, engine: Engine): Promise<unknown>;
}

/** Every migration in order; one that has been released is never changed. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-schema': { up: schema },
};

/** What `0001-schema` has taken the place of: a database that has run all of them has that schema. */
export const replaced: readonly string[] = [
  '0001-initial',
  '0002-idempotency',
  '0003-audit',
  '0004-sealed-idempotency',
  '0005-metadata',
  '0006-customer-search',
  '0007-record',
  '0008-terms',
  '0009-search',
  '0010-license-files',
  '0011-sessions',
  '0012-webhooks',
  '0013-security',
];
