import { sql } from 'kysely';
import type { AccountId, HostId, Instant } from '../../contract/scalars.ts';
import type { License } from '../../domain/license.ts';
import type { Connection } from '../engine/driver.ts';
import { statement } from '../engine/statement.ts';
import { isAmong, type Values } from '../list-filters.ts';
import { listsOf, type Page } from '../lists.ts';
import { type Secrets, secretContext } from '../secrets.ts';
import { byKey, insertInto, optional, type RecordOf, readerOf, type Table, text } from '../table.ts';
import { isKey } from './keys/licenses.ts';

export const sessionColumns = {
  accountId: text<AccountId>()('account_id'),
  licenseId: text()('license_id'),
  id: text()('id'),
  hostId: optional(text<HostId>()('host_id')),
  tag: optional(text()('tag')),
  userIdentifier: optional(text()('user_identifier')),
  /** The key of the HMAC that signs heartbeats. */
  secret: text()('secret'),
  /** What the next heartbeat signs. */
  nonce: text()('nonce'),
  /** What the last heartbeat signed, unless it was accepted twice. */
  previousNonce: optional(text()('previous_nonce')),
  /** From this instant on the seat is free. */
  expiresAt: text<Instant>()('expires_at'),
  createdAt: text<Instant>()('created_at'),
};

/** A leased concurrent use of a floating licence. */
export type Session = RecordOf<typeof sessionColumns>;

/** Which sessions a list has. */
export interface SessionFilters {
  /** Null means of any product. */
  readonly productIds: readonly string[] | null;
  readonly licenseKey?: string | undefined;
}

const sessions: Table<typeof sessionColumns> = { name: 'sessions', columns: sessionColumns };
const insert = insertInto(sessions);
const read = readerOf(sessions);
const byId = byKey(sessions, ['accountId', 'id'], read);
const prolong = byId.setting(['nonce', 'previousNonce', 'expiresAt']);

/** Whether the licence of a session is of one of these products; looked up for each session. */
const isOfProducts = (products: Values) => sql`exists (
  select 1 from licenses as l
  where l.account_id = ${products.scope('accountId')} and l.id = sessions.license_id
    and ${isAmong(sql`l.product_id`, products)})`;

/** Whether a session is of the licence that has this key. */
const isOfKey = (key: Values) => sql`sessions.license_id = (
  select l.id from licenses as l where l.account_id = ${key.scope('accountId')} and ${isKey(key(), 'l.license_key')})`;

const lists = listsOf(sessions, read, {
  scope: ['accountId'],
  order: 'id',
  conditions: {
    liveAt: (value) => sql`sessions.expires_at > ${value()}`,
    products: isOfProducts,
    licenseKey: isOfKey,
  },
});

const removeLapsedOfLicense = statement<{ accountId: AccountId; licenseId: string; now: Instant }>()((db, $) =>
  db
    .deleteFrom('sessions')
    .where('account_id', '=', $.accountId)
    .where('license_id', '=', $.licenseId)
    .where('expires_at', '<=', $.now)
    .returningAll(),
);

const removeLapsed = statement<{ now: Instant; most: number }>()((db, $) =>
  db
    .deleteFrom('sessions')
    .where(({ refTuple, selectFrom, eb }) =>
      eb(
        refTuple('account_id', 'license_id', 'id'),
        'in',
        selectFrom('sessions')
          .select(['account_id', 'license_id', 'id'])
          .where('expires_at', '<=', $.now)
          .orderBy('expires_at')
          .orderBy('id')
          .limit($.most)
          .$asTuple('account_id', 'license_id', 'id'),
      ),
    )
    .where('expires_at', '<=', $.now)
    .returningAll(),
);

const endLater = statement<{ latest: Instant; now: Instant }>()((db, $) =>
  db.updateTable('sessions').set({ expires_at: $.now }).where('expires_at', '>', $.latest),
);

const countLive = statement<{ accountId: AccountId; licenseId: string; now: Instant }>()((db, $) =>
  db
    .selectFrom('sessions')
    .select((s) => s.fn.countAll<number>().as('count'))
    .where('account_id', '=', $.accountId)
    .where('license_id', '=', $.licenseId)
    .where('expires_at', '>', $.now),
);

const countAllLive = statement<{ now: Instant }>()((db, $) =>
  db
    .selectFrom('sessions')
    .select((s) => s.fn.countAll<number>().as('count'))
    .where('expires_at', '>', $.now),
);

const removeAll = statement<{ accountId: AccountId; licenseId: string }>()((db, $) =>
  db.deleteFrom('sessions').where('account_id', '=', $.accountId).where('license_id', '=', $.licenseId),
);

const listLive = statement<{ accountId: AccountId; licenseId: string; now: Instant }>()((db, $) =>
  db
    .selectFrom('sessions')
    .selectAll()
    .where('account_id', '=', $.accountId)
    .where('license_id', '=', $.licenseId)
    .where('expires_at', '>', $.now)
    .orderBy('id'),
);

const hold = statement<{ accountId: AccountId; id: string; now: Instant }>()((db, $) =>
  db
    .selectFrom('sessions')
    .selectAll()
    .where('account_id', '=', $.accountId)
    .where('id', '=', $.id)
    .where('expires_at', '>', $.now)
    .forUpdate(),
);

/** What a heartbeat changes. */
export type Prolongation = Pick<Session, 'nonce' | 'previousNonce' | 'expiresAt'>;

/** The sessions of floating licences. A caller that counts and then inserts holds the licence's lock. */
export function sessionRepository(db: Connection, { sealSecret, openSecret }: Secrets) {
  const open = (session: Session): Session => ({ ...session, secret: openSecret(session.secret, contextOf(session)) });
  return {
    async insert(session: Session): Promise<void> {
      await db.run(insert, { ...session, secret: sealSecret(session.secret, contextOf(session)) });
    },

    /**
     * Removes sessions whose lease has ended, and returns them, in the order of their ends: all of one licence, or at
     * most `most` of all accounts. Whoever calls it records `session.expired` for each.
     */
    async removeLapsed(now: Instant, of: { license: License } | { most: number }): Promise<Session[]> {
      const rows =
        'license' in of
          ? await db.all(removeLapsedOfLicense, { accountId: of.license.accountId, licenseId: of.license.id, now })
          : await db.all(removeLapsed, { now, most: of.most });
      return rows.map((row) => open(read(row))).sort((a, b) => (a.expiresAt + a.id < b.expiresAt + b.id ? -1 : 1));
    },

    /** Ends the leases that would end after an instant; they are removed as any that has ended. */
    async endLater(latest: Instant, now: Instant): Promise<void> {
      await db.run(endLater, { latest, now });
    },

    /** How many sessions of the licence have a lease that runs. */
    async countLive({ accountId, id }: License, now: Instant): Promise<number> {
      return Number((await db.first(countLive, { accountId, licenseId: id, now }))?.count ?? 0);
    },

    /** How many sessions of all accounts have a lease that runs. */
    async countAllLive(now: Instant): Promise<number> {
      return Number((await db.first(countAllLive, { now }))?.count ?? 0);
    },

    /** Removes every session. */
    async removeAll(license: License): Promise<void> {
      await db.run(removeAll, { accountId: license.accountId, licenseId: license.id });
    },

    /** The sessions of the licence whose lease runs, oldest first. */
    async listLive({ accountId, id }: License, now: Instant): Promise<Session[]> {
      return (await db.all(listLive, { accountId, licenseId: id, now })).map((row) => open(read(row)));
    },

    /** Keeps all others from changing the session until this transaction ends; null when there is none whose lease runs. */
    async hold(accountId: AccountId, id: string, now: Instant): Promise<Session | null> {
      const row = await db.first(hold, { accountId, id, now });
      return row === undefined ? null : open(read(row));
    },

    async prolong({ accountId, id }: Session, changes: Prolongation): Promise<void> {
      await db.run(prolong, { accountId, id, ...changes });
    },

    async remove({ accountId, id }: Session): Promise<void> {
      await byId.remove(db, { accountId, id });
    },

    /** A part of the sessions of the account whose lease runs, oldest first. */
    async list(accountId: AccountId, now: Instant, page: Page, filters: SessionFilters): Promise<Session[]> {
      return (await lists.page(db, { accountId }, page, toFilterValues(now, filters))).map(open);
    },

    /** How many sessions of the account have a lease that runs. */
    count(accountId: AccountId, now: Instant, filters: SessionFilters): Promise<number> {
      return lists.count(db, { accountId }, toFilterValues(now, filters));
    },

    /** All sessions of the account whose lease runs, oldest first. */
    async *listAll(accountId: AccountId, now: Instant, filters: SessionFilters): AsyncGenerator<Session> {
      for await (const session of lists.walk(db, { accountId }, toFilterValues(now, filters))) yield open(session);
    },
  };
}

const toFilterValues = (now: Instant, { productIds, licenseKey }: SessionFilters) => ({
  liveAt: now,
  products: productIds ?? undefined,
  licenseKey,
});

const contextOf = ({ accountId, id }: Pick<Session, 'accountId' | 'id'>): string =>
  secretContext('sessions', accountId, id);
