import type { Migration } from 'kysely/migration';
import { up as initial } from './0001-initial.ts';
import { up as idempotency } from './0002-idempotency.ts';
import { up as audit } from './0003-audit.ts';
import { up as customerSearch } from './0004-customer-search.ts';

/** Every migration in order; one that has been released is never changed. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-initial': { up: initial },
  '0002-idempotency': { up: idempotency },
  '0003-audit': { up: audit },
  '0004-customer-search': { up: customerSearch },
};
