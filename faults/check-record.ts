import { FIRST_HASH, linkOf } from '../src/domain/audit-chain.ts';
import { readAuditRow, readEventContent } from '../src/service/numbering.ts';
import type { OutboxEntry } from '../src/store/outbox-record.ts';
import { fail, type Report } from './report.ts';
import type { Snapshot } from './snapshot.ts';

/** What is recorded of the making of each kind of thing, and of its end where the world holds none before its intents. */
const kinds = [
  { table: 'licenses', made: 'license.created', ended: [] },
  { table: 'devices', made: 'device.activated', ended: ['device.deactivated'] },
  { table: 'sessions', made: 'session.checked_out', ended: ['session.checked_in', 'session.expired'] },
  { table: 'customers', made: 'customer.created', ended: null },
  { table: 'products', made: 'product.created', ended: null },
  { table: 'tokens', made: 'token.created', ended: null },
] as const satisfies readonly { ended: readonly string[] | null; [name: string]: unknown }[];

/**
 * Compares what is recorded with what is there: each thing was made once, in one audit row; the numbers have neither gaps
 * nor doubles; the chain of the audit log holds.
 */
export function checkRecord(report: Report, rows: Snapshot): void {
  checkNumbers(report, rows);
  const staged = rows.outbox.map(({ entry }): OutboxEntry => JSON.parse(entry));
  const events = [
    ...rows.events.map(({ content }) => {
      const { type, resource_id: resourceId, request_id: requestId } = readEventContent(content);
      return { type, resourceId, requestId };
    }),
    ...staged.flatMap(({ requestId, events }) =>
      events.map(({ type, resource }) => ({ type: String(type), resourceId: resource.id, requestId })),
    ),
  ];
  const ids = [...staged.map(({ requestId }) => requestId), ...rows.audit.map((row) => readAuditRow(row).request_id)];
  const requests = Map.groupBy(ids, (id) => id);

  for (const { table, made, ended } of kinds) {
    const there = new Set([...rows[table].values()].flat().map(({ id }) => id));
    const making = Map.groupBy(
      events.filter(({ type }) => type === made),
      ({ resourceId }) => resourceId,
    );
    for (const id of there) {
      const times = making.get(id)?.length ?? 0;
      if (times === 0) fail(report, 'lost', `a row of ${table} without its event`);
      if (times > 1) fail(report, 'doubled', `a row of ${table} with ${times} events of its making`);
    }
    if (ended === null) continue;
    const ends: readonly string[] = ended;
    const gone = new Set(events.filter(({ type }) => ends.includes(type)).map(({ resourceId }) => resourceId));
    for (const id of making.keys()) {
      if (!there.has(id) && !gone.has(id)) fail(report, 'doubled', `an event of a row of ${table} that is not there`);
    }
  }
  for (const { type, requestId } of events) {
    const times = requestId === null ? 1 : (requests.get(requestId)?.length ?? 0);
    if (times !== 1) fail(report, times === 0 ? 'lost' : 'doubled', `${type} with ${times} audit rows of its request`);
  }
}

function checkNumbers(report: Report, { audit, events }: Snapshot): void {
  let hash = FIRST_HASH;
  for (const [index, row] of audit.toSorted((a, b) => a.seq - b.seq).entries()) {
    if (row.seq !== index + 1) fail(report, 'lost', `the audit row ${index + 1} is missing`);
    hash = linkOf(hash, row.content);
    if (row.hash !== hash) fail(report, 'wrong', `the audit row ${row.seq} does not fit its hash`);
  }
  const numbers = events.map(({ seq }) => seq).sort((a, b) => a - b);
  if (numbers.some((seq, index) => seq !== index + 1)) fail(report, 'lost', 'the numbers of events have a gap');
}
