import type { Instant } from '../../contract/scalars.ts';
import type { Repositories } from '../../store/store.ts';
import type { EventRecord } from '../../store/tables/record/events.ts';
import type { DeliveryRecord } from '../../store/tables/webhooks/deliveries.ts';
import type { WebhookRecord } from '../../store/tables/webhooks/webhooks.ts';

/** An event that is to be sent, and what is known of the attempts before. */
export interface Due {
  readonly event: EventRecord;
  readonly before: DeliveryRecord | null;
}

export interface Batch {
  readonly due: readonly Due[];
  /** The webhook has seen all events up to this number once these were sent. */
  readonly until: number;
}

const MAX_AT_ONCE = 16;

const MAX_AT_ONCE_FAILING = 2;

/** How many events are passed over at one time that a webhook does not take. */
const MAX_SCANNED = 20_000;

/** Finds what is to be sent now: what has failed before and is due again, then what is new. */
export async function nextBatch(
  repositories: Pick<Repositories, 'deliveries' | 'events' | 'recordHeads'>,
  webhook: WebhookRecord,
  now: Instant,
): Promise<Batch> {
  const { accountId, lastSeq, ordered, failingSince } = webhook;
  const most = failingSince === null ? MAX_AT_ONCE : MAX_AT_ONCE_FAILING;
  const retries = await dueRetries(repositories, webhook, now, ordered ? 1 : most);
  // In order, what has failed holds up what is new.
  if (ordered && webhook.retryAt !== null) return { due: retries, until: lastSeq };
  // What has failed leaves half of the places to what is new.
  const kept = retries.slice(0, Math.max(most / 2, 1));
  const head = (await repositories.recordHeads.find(accountId))?.eventSeq ?? lastSeq;
  const found = head > lastSeq ? await newEvents(repositories, webhook, head, most - kept.length) : [];
  const free = most - kept.length - found.length;
  const due = [
    ...retries.slice(0, kept.length + free),
    ...found.filter((event) => isFor(webhook, event)).map((event) => ({ event, before: null })),
  ];
  const isPart = found.length === most - kept.length;
  const until = isPart ? (found.at(-1)?.seq ?? lastSeq) : Math.max(lastSeq, Math.min(head, lastSeq + MAX_SCANNED));
  return { due, until };
}

async function dueRetries(
  { deliveries, events }: Pick<Repositories, 'deliveries' | 'events'>,
  { accountId, id: webhookId, retryAt }: WebhookRecord,
  now: Instant,
  limit: number,
): Promise<Due[]> {
  if (retryAt === null || retryAt > now) return [];
  const found: Due[] = [];
  for (const before of await deliveries.listDue({ accountId, webhookId }, now, limit)) {
    const [event] = await events.list(accountId, { after: before.seq - 1, until: before.seq, limit: 1 }, {});
    if (event === undefined) throw new Error(`event ${before.seq} of ${accountId} is gone`);
    found.push({ event, before });
  }
  return found;
}

function newEvents(
  { events }: Pick<Repositories, 'events'>,
  { accountId, lastSeq, types }: WebhookRecord,
  head: number,
  limit: number,
): Promise<EventRecord[]> {
  if (limit < 1) return Promise.resolve([]);
  const range = { after: lastSeq, until: Math.min(head, lastSeq + MAX_SCANNED), limit };
  return events.list(accountId, range, { types: types === null ? undefined : [...types, PING] });
}

const PING = 'ping';

/** A ping is for the webhook alone that it is about. */
const isFor = ({ id }: WebhookRecord, { type, subjectId }: EventRecord): boolean => type !== PING || subjectId === id;
