import { type Kysely, sql } from 'kysely';
import type { EventType } from '../../../contract/events.ts';
import type { AccountId } from '../../../contract/scalars.ts';
import type { Connection } from '../../engine/driver.ts';
import { statement } from '../../engine/statement.ts';
import type { Tables } from '../../schema.ts';
import { insertManyInto, integer, type RecordOf, readerOf, type Table, text } from '../../table.ts';
import type { SeqRange } from './audit.ts';

export const eventColumns = {
  accountId: text<AccountId>()('account_id'),
  /** From 1, without a gap in its account. */
  seq: integer()('seq'),
  type: text<EventType>()('type'),
  /** The licence that it is about, or else the resource. */
  subjectId: text()('subject_id'),
  /** The event as JSON. */
  content: text()('content'),
};

/** A numbered event. Events are added and never changed. */
export type EventRecord = RecordOf<typeof eventColumns>;

const events: Table<typeof eventColumns> = { name: 'events', columns: eventColumns };
const insertMany = insertManyInto(events);
const read = readerOf(events);

/** Which events a list holds. */
export interface EventFilters {
  readonly types?: readonly EventType[] | undefined;
  readonly subjectId?: string | undefined;
}

type Listed = SeqRange & { accountId: AccountId; types: string };

/** The types come as a text with commas round each, in which a type is looked for: any number of them is one parameter. */
const inRange = (db: Kysely<Tables>, $: Listed) =>
  db
    .selectFrom('events')
    .selectAll()
    .where('account_id', '=', $.accountId)
    .where('seq', '>', $.after)
    .where('seq', '<=', $.until)
    .where(sql<boolean>`(${$.types} = '' or replace(${$.types}, ',' || type || ',', '') <> ${$.types})`)
    .orderBy('seq')
    .limit($.limit);

const list = statement<Listed>()(inRange);

const listOfSubject = statement<Listed & { subjectId: string }>()((db, $) =>
  inRange(db, $).where('subject_id', '=', $.subjectId),
);

const nthOfSubject = statement<{ accountId: AccountId; subjectId: string; after: number; before: number }>()((db, $) =>
  db
    .selectFrom('events')
    .select('seq')
    .where('account_id', '=', $.accountId)
    .where('subject_id', '=', $.subjectId)
    .where('seq', '>', $.after)
    .orderBy('seq')
    .limit(sql.lit(1))
    .offset($.before),
);

/** The numbered events of accounts. */
export const eventRepository = (db: Connection) => ({
  insertMany: (rows: readonly EventRecord[]): Promise<void> => insertMany(db, rows),

  /** Events that pass the filters, oldest first. */
  async list(accountId: AccountId, range: SeqRange, { types, subjectId }: EventFilters): Promise<EventRecord[]> {
    const listed = { accountId, ...range, types: types === undefined ? '' : `,${types.join()},` };
    const rows =
      subjectId === undefined ? await db.all(list, listed) : await db.all(listOfSubject, { ...listed, subjectId });
    return rows.map(read);
  },

  /** The number of the `n`-th event of a subject after `after`; null when it has fewer. */
  async seqOfNth(accountId: AccountId, subjectId: string, { after, n }: { after: number; n: number }) {
    const row = await db.first(nthOfSubject, { accountId, subjectId, after, before: n - 1 });
    return row === undefined ? null : Number(row.seq);
  },
});
