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

const removeLapsed = statement<{ accountId: AccountId; licenseId: string; now: Instant }>()((db, $) =>
  db
    .deleteFrom('sessions')
    .where('account_id', '=', $.accountId)
    .where('license_id', '=', $.licenseId)
    .where('expires_at', '<=', $.now),
);

const countLive = statement<{ accountId: AccountId; licenseId: string; now: Instant }>()((db, $) =>
  db
    .selectFrom('sessions')
    .select((s) => s.fn.countAll<number>().as('count'))
    .where('account_id', '=', $.accountId)
    .where('license_id', '=', $.licenseId)
    .where('expires_at', '>', $.now),
);

/** The sessions of floating licences. A caller that counts and then inserts holds the licence's lock. */
export const sessionRepository = (db: Connection) => ({
  /** Removes the sessions whose lease has run out. */
  async removeLapsed({ accountId, id }: License, now: Instant): Promise<void> {
    await db.run(removeLapsed, { accountId, licenseId: id, now });
  },

  /** How many sessions have a lease that runs. */
  async countLive({ accountId, id }: License, now: Instant): Promise<number> {
    return Number((await db.first(countLive, { accountId, licenseId: id, now }))?.count ?? 0);
  },

  async insert(license: License, session: Session, now: Instant): Promise<void> {
    await db.run(insert, { accountId: license.accountId, licenseId: license.id, ...session, createdAt: now });
  },
});
