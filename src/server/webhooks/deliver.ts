import type { Logger } from 'pino';
import type { Instant } from '../../contract/scalars.ts';
import { addSeconds, epochSeconds } from '../../domain/time.ts';
import { healthAfter, progressAfter } from '../../domain/webhooks/outcome.ts';
import { redactResponse } from '../../domain/webhooks/redact.ts';
import { signedHeaders } from '../../domain/webhooks/signature.ts';
import { eventOf, withoutRequest } from '../../service/record.ts';
import { type Payload, renderEvent } from '../../service/webhooks/deliveries.ts';
import type { DeliveryRecord } from '../../store/tables/webhooks/deliveries.ts';
import type { WebhookRecord } from '../../store/tables/webhooks/webhooks.ts';
import type { Base } from '../runtime.ts';
import { type Batch, type Due, nextBatch } from './batch.ts';
import type { Sender, SendResult } from './send.ts';

export interface ObservedAttempt {
  readonly accepted: boolean;
  readonly status: number | null;
  readonly lagSeconds: number;
}

/** Retries are due by the time of the service; leases, and the signatures that receivers compare, go by the real one. */
export interface DeliveryParts extends Pick<Base['parts'], 'store' | 'record' | 'now' | 'realTime' | 'random'> {
  readonly log: Logger;
  readonly sender: Pick<Sender, 'send'>;
  /** Called before each batch: makes deliveries give way to requests. */
  readonly giveWay?: (() => Promise<void>) | undefined;
  /** The header of timestamped signatures; `LKM-Signature` unless given. */
  readonly signatureHeader?: string | undefined;
  /** The waits after failed attempts, in seconds; those of Standard Webhooks unless given. */
  readonly schedule?: readonly number[] | undefined;
  /** How long a lease lasts; 60 s unless given. Each batch prolongs it, and takes less. */
  readonly leaseSeconds?: number | undefined;
  onAttempt?: ((attempt: ObservedAttempt) => void) | undefined;
  onRecorded(): void;
}

const LEASE_SECONDS = 60;

/** Until when a lease lasts that is taken, or prolonged, now. */
export const leaseEnd = ({ realTime, leaseSeconds = LEASE_SECONDS }: DeliveryParts): Instant =>
  addSeconds(realTime(), leaseSeconds);

/** In order, no further event is sent in a batch that has lasted this long. */
const MAX_BATCH_SECONDS = 15;

type Prepared = Due & { readonly payload: Payload };

/** An attempt and how it ended; null when it was ended because the server stops. */
type Attempted = Prepared & { readonly outcome: SendResult | null; readonly at: Instant; readonly durationMs: number };

/**
 * Sends everything that is due to one webhook, batch after batch, while it holds the lease. What was sent is saved before
 * anything more is sent, so that a server that dies sends at most one batch twice.
 */
export async function deliverTo(parts: DeliveryParts, claimed: WebhookRecord, signal: AbortSignal): Promise<void> {
  let webhook: WebhookRecord | null = claimed;
  while (webhook !== null && !signal.aborted) {
    const batch: Batch = await nextBatch(parts.store.repositories, webhook, parts.now());
    if (batch.due.length === 0 && batch.until === webhook.lastSeq) break;
    await parts.giveWay?.();
    const attempted = await attemptAll(parts, webhook, batch, signal);
    webhook = await saveAttempts(parts, webhook, batch, attempted);
  }
}

async function attemptAll(
  parts: DeliveryParts,
  webhook: WebhookRecord,
  { due }: Batch,
  signal: AbortSignal,
): Promise<Attempted[]> {
  const secrets = secretsOf(parts, webhook);
  const prepare = async (one: Due) => ({
    ...one,
    payload: await renderEvent(parts.store.repositories, webhook, one.event),
  });
  // Before anything is sent: what cannot be read then makes nothing that was sent forgotten.
  const prepared = await Promise.all(due.map(prepare));
  const attempt = (one: Prepared) => attemptOne(parts, webhook, one, { secrets, signal });
  if (!webhook.ordered) return Promise.all(prepared.map(attempt));
  const attempted: Attempted[] = [];
  const deadline = addSeconds(parts.realTime(), MAX_BATCH_SECONDS);
  for (const one of prepared) {
    const last = await attempt(one);
    attempted.push(last);
    if (!last.outcome?.accepted || parts.realTime() > deadline) break;
  }
  return attempted;
}

/** The secrets that sign now, the newest first. */
function secretsOf({ now }: DeliveryParts, webhook: WebhookRecord): string[] {
  const { secret, previousSecret, previousSecretUntil } = webhook;
  const isShared = previousSecret !== null && previousSecretUntil !== null && previousSecretUntil > now();
  return [secret, ...(isShared ? [previousSecret] : [])];
}

async function attemptOne(
  { sender, realTime, now, onAttempt, signatureHeader: header }: DeliveryParts,
  webhook: WebhookRecord,
  prepared: Prepared,
  { secrets, signal }: { readonly secrets: readonly string[]; readonly signal: AbortSignal },
): Promise<Attempted> {
  const { eventId, createdAt, body } = prepared.payload;
  const started = realTime();
  const message = { id: eventId, timestamp: epochSeconds(started), body };
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'lkm-webhooks',
    ...signedHeaders(message, secrets, { signatures: webhook.signatures, header }),
  };
  const outcome = await sender.send({ url: webhook.url, headers, body, signal });
  const durationMs = Math.max(0, Date.parse(realTime()) - Date.parse(started));
  const at = now();
  if (outcome !== null) onAttempt?.({ ...outcome, lagSeconds: (Date.parse(at) - Date.parse(createdAt)) / 1_000 });
  return { ...prepared, outcome, at, durationMs };
}

/** Saves what was sent, in one transaction. Returns the webhook to go on with; null when it is not ours any more. */
async function saveAttempts(
  parts: DeliveryParts,
  webhook: WebhookRecord,
  { until }: Batch,
  attempted: readonly Attempted[],
): Promise<WebhookRecord | null> {
  const { accountId, id: webhookId, lease } = webhook;
  const at = parts.now();
  const saved = await parts.store.transaction(async (repositories) => {
    const { webhooks, deliveries } = repositories;
    const current = await webhooks.lock(accountId, webhookId);
    // Another server does the same, somebody has asked for earlier events again, or the webhook is gone.
    if (current === null || current.lease !== lease) return null;
    await deliveries.save(attempted.map((one) => recordOf(parts, webhook, one)));
    const outcomes = attempted.flatMap(({ outcome }) => outcome ?? []);
    const { disabledReason, ...health } = healthAfter(current, outcomes, at);
    const after = await webhooks.patch(webhook, {
      ...health,
      ...(disabledReason && { active: false, disabledAt: at, disabledReason, updatedAt: at }),
      lastSeq: reached(webhook, until, attempted),
      retryAt: await deliveries.nextRetry({ accountId, webhookId }),
      leaseUntil: leaseEnd(parts),
    });
    if (disabledReason !== null) {
      const data = { reason: disabledReason, failingSince: after.failingSince };
      const events = [eventOf('webhook.disabled', 'webhook', webhook.id, data)];
      const origin = { ...withoutRequest('job', 'deliveries'), accountId, at, operation: 'webhooks.disable' };
      await parts.record(repositories, { ...origin, events });
    }
    return { after, disabledReason };
  });
  if (saved === null) return null;
  const { after, disabledReason } = saved;
  if (disabledReason !== null) {
    parts.onRecorded();
    parts.log.warn({ webhook: webhookId, reason: disabledReason }, 'webhook disabled');
  }
  const isPaused = after.pausedUntil !== null && after.pausedUntil > parts.now();
  return after.active && !isPaused ? after : null;
}

/** In order, a batch may end before its last event. */
const reached = ({ ordered, lastSeq }: WebhookRecord, until: number, attempted: readonly Attempted[]): number => {
  const last = attempted.at(-1);
  const isCut = ordered && last?.before === null && last.event.seq < until;
  return isCut ? Math.max(lastSeq, last.event.seq) : until;
};

function recordOf(parts: DeliveryParts, webhook: WebhookRecord, one: Attempted): DeliveryRecord {
  const { event, payload, outcome, at, durationMs } = one;
  const { accountId, seq, type } = event;
  const { eventId, secrets } = payload;
  const attempted = { accountId, webhookId: webhook.id, seq, eventId, type, durationMs, attemptedAt: at };
  const before = one.before?.attempts ?? 0;
  if (outcome === null) {
    // Not an attempt: the next server makes it.
    const ended = { status: null, error: 'the server stopped', answer: null };
    return { ...attempted, ...ended, state: 'retrying', attempts: before, nextAttemptAt: at };
  }
  const { status, error, answer } = outcome;
  const [byte = 0] = parts.random(1);
  const attempts = before + 1;
  const attempt = { attempts, now: at, random: byte / 256, forEver: webhook.ordered };
  const progress = progressAfter(outcome, attempt, parts.schedule);
  return { ...attempted, ...progress, attempts, status, error, answer: redactResponse(answer, secrets) };
}
