import type { Instant } from '../../contract/scalars.ts';
import type { Repositories } from '../../store/store.ts';
import type { EventRecord } from '../../store/tables/record/events.ts';
import type { DeliveryRecord } from '../../store/tables/webhooks/deliveries.ts';
import type { WebhookRecord } from '../../store/tables/webhooks/webhooks.ts';

/** A due event with its previous attempts. */
export interface Due {
  readonly event: EventRecord;
  readonly before: DeliveryRecord | null;
}

export interface Batch {
  readonly due: readonly Due[];
  /** The webhook has seen all events up to this number once these were sent. */
  readonly until: number;
}

/** How far the sending has come: the number up to which events were taken, and those whose outcome is not saved yet. */
interface Position {
  readonly cursor: number;
  readonly sending: ReadonlyMap<number, unknown>;
  readonly now: Instant;
}

/** How many events are sent to a webhook at one time. */
const PLACES = 16;

/** How many events are passed over at one time that a webhook does not take. */
const MAX_SCANNED = 20_000;

/** Fills the free places: due retries first, then new events. */
export async function nextBatch(
  { deliveries, events, recordHeads }: Pick<Repositories, 'deliveries' | 'events' | 'recordHeads'>,
  { accountId, id: webhookId, ordered, pausedUntil, retryAt, types }: WebhookRecord,
  { cursor, sending, now }: Position,
): Promise<Batch> {
  const isPaused = pausedUntil !== null && pausedUntil > now;
  const free = (ordered || isPaused ? 1 : PLACES) - sending.size;
  const isDue = retryAt !== null && retryAt <= now && !isPaused && free > 0;
  // Events that are being sent stay due until their outcome is saved.
  const listed = isDue ? await deliveries.listDue({ accountId, webhookId }, now, free + sending.size) : [];
  const due: Due[] = [];
  for (const before of listed.filter(({ seq }) => !sending.has(seq)).slice(0, free)) {
    const [event] = await events.list(accountId, { after: before.seq - 1, until: before.seq, limit: 1 }, {});
    if (event === undefined) throw new Error(`event ${before.seq} of ${accountId} is gone`);
    due.push({ event, before });
  }
  // With `ordered`, a failed event holds up new ones.
  const limit = ordered && retryAt !== null ? 0 : free - due.length;
  const head = (await recordHeads.find(accountId))?.eventSeq ?? cursor;
  const last = Math.min(head, cursor + MAX_SCANNED);
  if (limit < 1 || last <= cursor) return { due, until: cursor };
  const range = { after: cursor, until: last, limit };
  const found = await events.list(accountId, range, { types: types === null ? undefined : [...types, 'ping'] });
  /** A ping goes only to its own webhook, also during a pause of its receiver. */
  const isOwnPing = ({ type, subjectId }: EventRecord) => type === 'ping' && subjectId === webhookId;
  if (isPaused && !found.some(isOwnPing)) return { due, until: cursor };
  for (const event of found) if (event.type !== 'ping' || isOwnPing(event)) due.push({ event, before: null });
  return { due, until: found.length === limit ? (found.at(-1)?.seq ?? cursor) : last };
}
