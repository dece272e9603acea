import type { AccountId, HostId, Instant } from '../../contract/scalars.ts';
import type { License } from '../../domain/license.ts';
import type { Connection } from '../engine/driver.ts';
import { type Sql, sql } from '../engine/sql.ts';
import { type List, listsOf } from '../lists.ts';
import { type Secrets, secretContext } from '../secret-box.ts';
import { countOf, optional, type RecordOf, type Row, tableOf, text } from '../table.ts';
import { besideHeld, isKey, isOfProducts, readHeld } from './keys/licenses.ts';

const sessions = tableOf('sessions', {
  accountId: text<AccountId>('account_id'),
  licenseId: text('license_id'),
  id: text('id'),
  hostId: optional(text<HostId>('host_id')),
  tag: optional(text('tag')),
  userIdentifier: optional(text('user_identifier')),
  /** The key of the HMAC that signs heartbeats. */
  secret: text('secret'),
  /** The nonce that the next heartbeat signs. */
  nonce: text('nonce'),
  /** The nonce that the last heartbeat signed, unless it was accepted twice. */
  previousNonce: optional(text('previous_nonce')),
  /** The end of the lease. */
  expiresAt: text<Instant>('expires_at'),
  createdAt: text<Instant>('created_at'),
});

const readListed = (row: Row) => ({ ...sessions.read(row), ...readHeld(row) });

/** A session with the key whose seat it has, and the names of its product and customer. */
export type ListedSession = ReturnType<typeof readListed>;

const lists = listsOf({ ...sessions, read: readListed }, 'id', { beside: besideHeld });

/** A leased concurrent use of a floating licence. */
export type Session = RecordOf<typeof sessions.columns>;

export interface SessionFilters {
  /** Null means of any product. */
  readonly productIds: readonly string[] | null;
  readonly licenseKey?: string | undefined;
}

/** The fields that a heartbeat changes. */
type Prolongation = Pick<Session, 'nonce' | 'previousNonce' | 'expiresAt'>;

/** The sessions of floating licences. A caller that counts and then inserts holds the licence's lock. */
export function sessionRepository(db: Connection, { sealSecret, openSecret }: Secrets) {
  const open = (session: Session): Session => ({ ...session, secret: openSecret(session.secret, contextOf(session)) });
  return {
    insert: (session: Session) =>
      sessions.add(db, { ...session, secret: sealSecret(session.secret, contextOf(session)) }),

    /**
     * Removes sessions whose lease has ended, and returns them, in the order of their ends: all sessions of a licence, or at
     * most `most` of all accounts. The caller records `session.expired` for each.
     */
    async removeLapsed(now: Instant, of: { license: License } | { most: number }): Promise<Session[]> {
      const which =
        'license' in of
          ? isOfLicense(of.license)
          : sql`(account_id, license_id, id) in (
              select account_id, license_id, id from sessions where expires_at <= ${now}
              order by expires_at, id limit ${of.most})`;
      const removed = await sessions.all(db)`delete from sessions where ${which} and expires_at <= ${now} returning *`;
      return removed.map(open).sort((a, b) => (a.expiresAt + a.id < b.expiresAt + b.id ? -1 : 1));
    },

    /** Ends the leases that would end after an instant. */
    endLater: (latest: Instant, now: Instant) =>
      db.run(sql`update sessions set expires_at = ${now} where expires_at > ${latest}`),

    countLive: (license: License, now: Instant) =>
      countOf(db, sql`sessions where ${isOfLicense(license)} and expires_at > ${now}`),

    /** The number of live sessions of all accounts. */
    countAllLive: (now: Instant) => countOf(db, sql`sessions where expires_at > ${now}`),

    removeAll: ({ accountId, id }: License) => sessions.remove(db, { accountId, licenseId: id }),

    /** The sessions of the licence whose lease runs, oldest first. */
    async listLive(license: License, now: Instant): Promise<Session[]> {
      const live = await sessions.all(db)`
        select * from sessions where ${isOfLicense(license)} and expires_at > ${now} order by id`;
      return live.map(open);
    },

    /** Locks and returns a session; null if it has ended. */
    async hold(accountId: AccountId, id: string, now: Instant): Promise<Session | null> {
      const held = await sessions.lock(db, { accountId, id });
      return held === null || held.expiresAt <= now ? null : open(held);
    },

    prolong: ({ accountId, id }: Session, changes: Prolongation) => sessions.set(db, { accountId, id }, changes),

    remove: ({ accountId, id }: Session) => sessions.remove(db, { accountId, id }),

    /** The sessions of the account whose lease runs, oldest first. */
    list: (accountId: AccountId, now: Instant, filters: SessionFilters): List<ListedSession> =>
      lists.of(db, { accountId }, { conditions: conditionsOf(accountId, now, filters) }),
  };
}

const isOfLicense = ({ accountId, id }: License): Sql => sql`account_id = ${accountId} and license_id = ${id}`;

function conditionsOf(accountId: AccountId, now: Instant, { productIds, licenseKey }: SessionFilters): Sql[] {
  const conditions = [sql`sessions.expires_at > ${now}`, isOfProducts(accountId, 'sessions.license_id', productIds)];
  if (licenseKey !== undefined) {
    // Also by an earlier key that still works.
    conditions.push(sql`sessions.license_id = coalesce(
      (select l.id from licenses as l where l.account_id = ${accountId} and ${isKey(licenseKey, 'l.license_key')}),
      (select p.license_id from previous_keys as p
       where p.account_id = ${accountId} and p.license_key = ${licenseKey} and p.valid_until > ${now}))`);
  }
  return conditions;
}

const contextOf = ({ accountId, id }: Pick<Session, 'accountId' | 'id'>): string =>
  secretContext('sessions', accountId, id);
