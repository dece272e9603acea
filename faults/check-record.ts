import { FIRST_HASH, linkOf } from '../src/domain/audit-chain.ts';
import { readAuditRow, readEventContent } from '../src/service/numbering.ts';
import type { OutboxEntry } from '../src/store/tables/record/outbox.ts';
import { fail, type Report } from './report.ts';
import type { Snapshot } from './snapshot.ts';

/** What is recorded of the making of each kind of thing, and what of its end. */
const kinds = [
  { table: 'licenses', made: 'license.created', ended: [] },
  { table: 'customers', made: 'customer.created', ended: ['customer.deleted'] },
  { table: 'products', made: 'product.created', ended: [] },
  { table: 'tokens', made: 'token.created', ended: ['token.revoked'] },
  { table: 'devices', made: 'device.activated', ended: ['device.deactivated'] },
  { table: 'sessions', made: 'session.checked_out', ended: ['session.checked_in', 'session.expired'] },
] as const;

/** Kinds of which the world holds none before its intents. */
const ALL_OURS: readonly string[] = ['licenses', 'devices', 'sessions'];

/**
 * Compares what is recorded with what is there: each thing was made once, in one audit row; the numbers have neither gaps
 * nor doubles; the chain of the audit log holds.
 */
export function checkRecord(report: Report, rows: Snapshot): void {
  checkNumbers(report, rows);
  const { events, requests } = readRecord(rows);
  for (const { table, made, ended } of kinds) {
    const there = new Set([...rows[table].values()].flat().map(({ id }) => id));
    for (const id of there) {
      const times = events.filter((event) => event.type === made && event.resourceId === id);
      if (times.length === 0) fail(report, 'lost', `a row of ${table} without its event`);
      if (times.length > 1) fail(report, 'doubled', `a row of ${table} with ${times.length} events of its making`);
    }
    if (!ALL_OURS.includes(table)) continue;
    const gone = new Set(
      events.filter(({ type }) => ended.some((end) => end === type)).map((event) => event.resourceId),
    );
    for (const { type, resourceId } of events) {
      if (type !== made || there.has(resourceId) || gone.has(resourceId)) continue;
      fail(report, 'doubled', `an event of a row of ${table} that is not there`);
    }
  }
  for (const { type, requestId } of events) {
    const times = requestId === null ? 1 : (requests.get(requestId) ?? 0);
    if (times !== 1) fail(report, times === 0 ? 'lost' : 'doubled', `${type} with ${times} audit rows of its request`);
  }
}

function checkNumbers(report: Report, { record: { audit, events } }: Snapshot): void {
  const rows = audit.toSorted((a, b) => a.seq - b.seq);
  let hash = FIRST_HASH;
  for (const [index, row] of rows.entries()) {
    if (row.seq !== index + 1) fail(report, 'lost', `the audit row ${index + 1} is missing`);
    hash = linkOf(hash, row.content);
    if (row.hash !== hash) fail(report, 'wrong', `the audit row ${row.seq} does not fit its hash`);
  }
  const numbers = events.map(({ seq }) => seq).sort((a, b) => a - b);
  if (numbers.some((seq, index) => seq !== index + 1)) fail(report, 'lost', 'the numbers of events have a gap');
}

interface RecordedEvent {
  readonly type: string;
  readonly resourceId: string;
  readonly requestId: string | null;
}

/** All events, numbered or not, and how many audit rows each request has. */
function readRecord({ record: { outbox, audit, events } }: Snapshot): {
  events: readonly RecordedEvent[];
  requests: ReadonlyMap<string, number>;
} {
  const staged = outbox.map(({ entry }): OutboxEntry => JSON.parse(entry));
  const numbered = events.map(({ content }) => readEventContent(content));
  const requests = new Map<string, number>();
  for (const id of [...staged.map((entry) => entry.requestId), ...audit.map((row) => readAuditRow(row).request_id)]) {
    if (id !== null) requests.set(id, (requests.get(id) ?? 0) + 1);
  }
  return {
    requests,
    events: [
      ...numbered.map((event) => ({ type: event.type, resourceId: event.resource_id, requestId: event.request_id })),
      ...staged.flatMap(({ requestId, events }) =>
        events.map(({ type, resource }) => ({ type, resourceId: resource.id, requestId })),
      ),
    ],
  };
}
