import type { Instant } from '../../contract/scalars.ts';
import type { Repositories } from '../../store/store.ts';
import type { EventRecord } from '../../store/tables/record/events.ts';
import type { DeliveryRecord } from '../../store/tables/webhooks/deliveries.ts';
import type { WebhookRecord } from '../../store/tables/webhooks/webhooks.ts';

/** An event to send, with its previous attempts. */
export interface PendingDelivery {
  readonly event: EventRecord;
  readonly before: DeliveryRecord | null;
}

export interface Batch {
  readonly due: readonly PendingDelivery[];
  /** After this batch, the webhook needs no other event up to this number. */
  readonly until: number;
}

/** The number up to which events were taken, and the events in flight, whose outcome is not saved yet. */
interface Position {
  readonly cursor: number;
  readonly sending: ReadonlyMap<number, unknown>;
  readonly now: Instant;
}

/** How many events of a webhook are in flight at one time. */
const MAX_IN_FLIGHT = 16;

/** How many numbers a batch goes through, including events of types that the webhook does not take. */
const MAX_SCANNED = 20_000;

/** Chooses the events to send next, up to the number that may be in flight: due retries first, then new events. */
export async function nextBatch(
  repositories: Pick<Repositories, 'deliveries' | 'events' | 'recordHeads'>,
  webhook: WebhookRecord,
  position: Position,
): Promise<Batch> {
  const { accountId, id: webhookId, ordered, pausedUntil, retryAt, types } = webhook;
  const { cursor, sending, now } = position;
  const { events, recordHeads } = repositories;
  const isPaused = pausedUntil !== null && pausedUntil > now;
  const free = (ordered || isPaused ? 1 : MAX_IN_FLIGHT) - sending.size;
  const retries = isPaused || free < 1 ? [] : await dueRetries(repositories, webhook, position, free);
  // With `ordered`, a failed event holds up new events.
  const limit = ordered && retryAt !== null ? 0 : free - retries.length;
  const head = (await recordHeads.find(accountId))?.eventSeq ?? cursor;
  const last = Math.min(head, cursor + MAX_SCANNED);
  if (limit < 1 || last <= cursor) return { due: retries, until: cursor };
  const range = { after: cursor, until: last, limit };
  const found = await events.list(accountId, range, { types: types === null ? undefined : [...types, 'ping'] });
  /** A ping goes only to its own webhook, also during a pause of its receiver. */
  const isOwnPing = ({ type, subjectId }: EventRecord) => type === 'ping' && subjectId === webhookId;
  if (isPaused && !found.some(isOwnPing)) return { due: retries, until: cursor };
  const wanted = found.filter((event) => event.type !== 'ping' || isOwnPing(event));
  const due = [...retries, ...wanted.map((event) => ({ event, before: null }))];
  return { due, until: found.length === limit ? (found.at(-1)?.seq ?? cursor) : last };
}

async function dueRetries(
  { deliveries, events }: Pick<Repositories, 'deliveries' | 'events'>,
  { accountId, id: webhookId, retryAt }: WebhookRecord,
  { sending, now }: Position,
  limit: number,
): Promise<readonly PendingDelivery[]> {
  if (retryAt === null || retryAt > now) return [];
  // Events that are being sent stay due until their outcome is saved.
  const listed = await deliveries.listDue({ accountId, webhookId }, now, limit + sending.size);
  const due: PendingDelivery[] = [];
  for (const before of listed.filter(({ seq }) => !sending.has(seq)).slice(0, limit)) {
    const [event] = await events.list(accountId, { after: before.seq - 1, until: before.seq, limit: 1 }, {});
    if (event === undefined) throw new Error(`event ${before.seq} of ${accountId} is gone`);
    due.push({ event, before });
  }
  return due;
}
