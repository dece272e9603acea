import { sql } from 'kysely';
import type { AccountId, Instant } from '../../../contract/scalars.ts';
import type { License } from '../../../domain/license.ts';
import type { Connection } from '../../engine/driver.ts';
import { statement } from '../../engine/statement.ts';
import { optional, type RowOf, text } from '../../table.ts';
import { toLicense } from './licenses.ts';

/** For which end of its term an expiry event of a licence was recorded: a later end is recorded anew. */
export const licenseExpiryColumns = {
  soonRecordedFor: optional(text<Instant>()('soon_recorded_for')),
  expiredRecordedFor: optional(text<Instant>()('expired_recorded_for')),
};

type MarkColumn = keyof RowOf<typeof licenseExpiryColumns>;

/** Licences that one transaction marks at most: other writes wait no longer than for these. */
const BATCH_SIZE = 50;

/** 0 for a licence that is not marked at all, 1 for one that is marked as ending soon: as their index has it. */
const stage = (table: string) => {
  const [mark, end] = [sql.ref(`${table}.soon_recorded_for`), sql.ref(`${table}.expires_at`)];
  return sql<number>`(case when ${mark} is distinct from ${end} then 0 else 1 end)`;
};

const isNotMarkedExpired = (table: string) =>
  sql<boolean>`${sql.ref(`${table}.expired_recorded_for`)} is distinct from ${sql.ref(`${table}.expires_at`)}`;

// The conditions are repeated outside: the term may change between the two steps of the statement.
const markOf = (column: MarkColumn, from: 0 | 1) =>
  statement<{ accountId: AccountId; until: Instant }>()((db, $) =>
    db
      .updateTable('licenses')
      .set((l) => ({ [column]: l.ref('expires_at') }))
      .where('account_id', '=', $.accountId)
      .where((l) =>
        l(
          'id',
          'in',
          l
            .selectFrom('licenses as due')
            .select('due.id')
            .where('due.account_id', '=', $.accountId)
            .where('due.expires_at', 'is not', null)
            .where(isNotMarkedExpired('due'))
            .where(stage('due'), '=', sql.lit(from))
            .where('due.expires_at', '<=', $.until)
            .orderBy('due.expires_at')
            .orderBy('due.id')
            .limit(sql.lit(BATCH_SIZE)),
        ),
      )
      .where('expires_at', '<=', $.until)
      .where(isNotMarkedExpired('licenses'))
      .where(stage('licenses'), '=', sql.lit(from))
      .returningAll(),
  );

const markSoon = markOf('soon_recorded_for', 0);
const markExpired = markOf('expired_recorded_for', 1);

const markRecorded = statement<{ accountId: AccountId; id: string }>()((db, $) =>
  db
    .updateTable('licenses')
    .set((l) => ({ soon_recorded_for: l.ref('expires_at'), expired_recorded_for: l.ref('expires_at') }))
    .where('account_id', '=', $.accountId)
    .where('id', '=', $.id),
);

/** The licences whose term ends. */
export const licenseExpiryRepository = (db: Connection) => {
  const mark = async (step: typeof markSoon, accountId: AccountId, until: Instant): Promise<License[]> => {
    const rows = await db.all(step, { accountId, until });
    return rows.map((row) => toLicense(row)).sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  };
  return {
    /** Marks some licences that end by then as recorded, each once for its end, and returns them; all when they are few. */
    markSoon: (accountId: AccountId, until: Instant) => mark(markSoon, accountId, until),

    /**
     * Marks some licences that have ended by then, each once for its end, and returns them; all when they are few. Those
     * that were not marked as ending soon before wait until they are.
     */
    markExpired: (accountId: AccountId, until: Instant) => mark(markExpired, accountId, until),

    /** Marks a licence that has ended as recorded before. */
    async markRecorded({ accountId, id }: License): Promise<void> {
      await db.run(markRecorded, { accountId, id });
    },

    /** Whether a batch of this many marked licences may not have been all. */
    isFullBatch: (count: number): boolean => count === BATCH_SIZE,
  };
};

const orderOf = ({ expirationDate, id }: License): string => `${expirationDate} ${id}`;
