import type { EventType } from '../../../contract/events.ts';
import type { AccountId } from '../../../contract/scalars.ts';
import type { Connection } from '../../engine/driver.ts';
import { and, isAmong, raw, type Sql, sql } from '../../engine/sql.ts';
import { integer, type RecordOf, type Row, tableOf, text } from '../../table.ts';
import { readNames, type SeqRange } from './audit.ts';

const events = tableOf('events', {
  accountId: text<AccountId>('account_id'),
  /** From 1, without a gap in its account. */
  seq: integer('seq'),
  type: text<EventType>('type'),
  /** The licence that it is about, or else the resource. */
  subjectId: text('subject_id'),
  /** The event as JSON. */
  content: text('content'),
});

/** A numbered event. Events are added and never changed. */
export type EventRecord = RecordOf<typeof events.columns>;

/** The filters of a list of events. */
export interface EventFilters {
  readonly types?: readonly EventType[] | undefined;
  readonly subjectId?: string | undefined;
}

/** The numbered events of accounts. */
export const eventRepository = (db: Connection) => ({
  insertMany: (rows: readonly EventRecord[]) => events.insertMany(db, rows),

  /** Events that pass the filters, oldest first. */
  list: (accountId: AccountId, range: SeqRange, filters: EventFilters) =>
    db.all(selectFrom('events', accountId, range, filters), events.read),

  /** Events that pass the filters, with names, oldest first. */
  listNamed: (accountId: AccountId, range: SeqRange, filters: EventFilters) =>
    db.all(selectFrom('named_events', accountId, range, filters), (row: Row) => ({
      ...events.read(row),
      names: readNames(row),
    })),

  /** The number of the `n`-th event of a subject after `after`; null when it has fewer. */
  seqOfNth(accountId: AccountId, subjectId: string, { after, n }: { after: number; n: number }) {
    const nth = sql`
      select seq from events where account_id = ${accountId} and subject_id = ${subjectId} and seq > ${after}
      order by seq limit 1 offset ${n - 1}`;
    return db.first(nth, (row: { seq: number }) => row.seq);
  },
});

function selectFrom(
  view: 'events' | 'named_events',
  accountId: AccountId,
  { after, until, limit }: SeqRange,
  { types, subjectId }: EventFilters,
): Sql {
  const conditions = [sql`account_id = ${accountId} and seq > ${after} and seq <= ${until}`];
  if (types !== undefined) conditions.push(isAmong(sql`type`, types));
  if (subjectId !== undefined) conditions.push(sql`subject_id = ${subjectId}`);
  return sql`select * from ${raw(view)} where ${and(conditions)} order by seq limit ${limit}`;
}
