import type { AccountId, HostId, Instant } from '../../contract/scalars.ts';
import type { License } from '../../domain/license.ts';
import type { Connection } from '../engine/driver.ts';
import { statement } from '../engine/statement.ts';
import { insertInto, optional, type Table, text } from '../table.ts';

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

export const sessionColumns = {
  accountId: text<AccountId>()('account_id'),
  licenseId: text()('license_id'),
  id: text()('id'),
  hostId: optional(text<HostId>()('host_id')),
  tag: optional(text()('tag')),
  userIdentifier: optional(text()('user_identifier')),
  secret: text()('secret'),
  nonce: text()('nonce'),
  expiresAt: text<Instant>()('expires_at'),
  createdAt: text<Instant>()('created_at'),
};

const sessions: Table<typeof sessionColumns> = { name: 'sessions', columns: sessionColumns };
const insert = insertInto(sessions);

const removeEnded = statement<{ accountId: AccountId; licenseId: string; now: Instant }>()((db, $) =>
  db
    .deleteFrom('sessions')
    .where('account_id', '=', $.accountId)
    .where('license_id', '=', $.licenseId)
    .where('expires_at', '<=', $.now),
);

const count = statement<{ accountId: AccountId; licenseId: string }>()((db, $) =>
  db
    .selectFrom('sessions')
    .select((s) => s.fn.countAll<number>().as('count'))
    .where('account_id', '=', $.accountId)
    .where('license_id', '=', $.licenseId),
);

/** The sessions of floating licences. A caller that counts and then inserts holds the licence's lock. */
export const sessionRepository = (db: Connection) => ({
  /** Removes the sessions whose lease has run out, and counts the live ones. */
  async countLive(license: License, now: Instant): Promise<number> {
    const address = { accountId: license.accountId, licenseId: license.id };
    await db.run(removeEnded, { ...address, now });
    return Number((await db.first(count, address))?.count ?? 0);
  },

  async insert(license: License, session: Session, now: Instant): Promise<void> {
    await db.run(insert, { accountId: license.accountId, licenseId: license.id, ...session, createdAt: now });
  },
});
