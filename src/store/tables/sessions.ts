import type { HostId, Instant } from '../../contract/scalars.ts';
import type { License } from '../../domain/license.ts';
import type { Connection } from '../engine/driver.ts';
import { statement } from '../engine/statement.ts';

/** A leased concurrent use of a floating licence. */
export interface Session {
  readonly id: string;
  readonly hostId: HostId | null;
  readonly tag: string | null;
  readonly userIdentifier: string | null;
  /** The key of the HMAC that signs heartbeats. */
  readonly secret: string;
  readonly nonce: string;
  readonly expiresAt: Instant;
}

const insert = statement<{
  accountId: string;
  licenseId: string;
  id: string;
  hostId: string | null;
  tag: string | null;
  userIdentifier: string | null;
  secret: string;
  nonce: string;
  expiresAt: string;
  now: string;
}>()((db, $) =>
  db.insertInto('sessions').values({
    account_id: $.accountId,
    license_id: $.licenseId,
    id: $.id,
    host_id: $.hostId,
    tag: $.tag,
    user_identifier: $.userIdentifier,
    secret: $.secret,
    nonce: $.nonce,
    expires_at: $.expiresAt,
    created_at: $.now,
  }),
);

const removeEnded = statement<{ accountId: string; licenseId: string; now: string }>()((db, $) =>
  db
    .deleteFrom('sessions')
    .where('account_id', '=', $.accountId)
    .where('license_id', '=', $.licenseId)
    .where('expires_at', '<=', $.now),
);

const count = statement<{ accountId: string; licenseId: string }>()((db, $) =>
  db
    .selectFrom('sessions')
    .select((s) => s.fn.countAll<number>().as('count'))
    .where('account_id', '=', $.accountId)
    .where('license_id', '=', $.licenseId),
);

/** The sessions of floating licences. Whoever counts and then inserts holds the licence's lock. */
export const sessionRepository = (db: Connection) => ({
  /** Removes the sessions whose lease has run out, and counts the live ones. */
  async countLive(license: License, now: Instant): Promise<number> {
    const address = { accountId: license.accountId, licenseId: license.id };
    await db.run(removeEnded, { ...address, now });
    return Number((await db.first(count, address))?.count ?? 0);
  },

  async insert(license: License, session: Session, now: Instant): Promise<void> {
    await db.run(insert, { accountId: license.accountId, licenseId: license.id, ...session, now });
  },
});
