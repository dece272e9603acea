import type { Migration } from 'kysely/migration';
import { up as initial } from './0001-initial.ts';
import { up as idempotency } from './0002-idempotency.ts';
import { up as audit } from './0003-audit.ts';
import { after, before, up as sealedIdempotency } from './0004-sealed-idempotency.ts';
import { up as metadata } from './0005-metadata.ts';
import { up as customerSearch } from './0006-customer-search.ts';
import { up as record } from './0007-record.ts';
import { up as terms } from './0008-terms.ts';
import { up as search } from './0009-search.ts';
import { up as licenseFiles } from './0010-license-files.ts';
import { up as sessions } from './0011-sessions.ts';
import { up as webhooks } from './0012-webhooks.ts';
import { up as security } from './0013-security.ts';

/** A migration, with what must run outside of its transaction. Both may run again when the process was killed. */
interface Step extends Migration {
  readonly before?: Migration['up'];
  readonly after?: Migration['up'];
}

/** Every migration in order; one that has been released is never changed. */
export const migrations: Readonly<Record<string, Step>> = {
  '0001-initial': { up: initial },
  '0002-idempotency': { up: idempotency },
  '0003-audit': { up: audit },
  '0004-sealed-idempotency': { before, up: sealedIdempotency, after },
  '0005-metadata': { up: metadata },
  '0006-customer-search': { up: customerSearch },
  '0007-record': { up: record },
  '0008-terms': { up: terms },
  '0009-search': { up: search },
  '0010-license-files': { up: licenseFiles },
  '0011-sessions': { up: sessions },
  '0012-webhooks': { up: webhooks },
  '0013-security': { up: security },
};
