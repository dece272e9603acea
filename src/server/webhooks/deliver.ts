import { setTimeout as sleep } from 'node:timers/promises';
import type { Instant } from '../../contract/scalars.ts';
import type { DisabledReason } from '../../contract/webhooks.ts';
import { epochSeconds } from '../../domain/time.ts';
import { healthAfter, progressAfter } from '../../domain/webhooks/outcome.ts';
import { redactResponse } from '../../domain/webhooks/redact.ts';
import { signedHeaders } from '../../domain/webhooks/signature.ts';
import { eventOf, withoutRequest } from '../../service/record.ts';
import { type Payload, renderEvent } from '../../service/webhooks/deliveries.ts';
import type { Repositories } from '../../store/store.ts';
import type { DeliveryRecord } from '../../store/tables/webhooks/deliveries.ts';
import type { WebhookRecord } from '../../store/tables/webhooks/webhooks.ts';
import type { Base } from '../base.ts';
import type { Logger } from '../log.ts';
import { nextBatch, type PendingDelivery } from './batch.ts';
import type { Sender, SendResult } from './send.ts';

export interface ObservedAttempt {
  readonly accepted: boolean;
  readonly status: number | null;
  readonly lagSeconds: number;
}

/** The service's clock decides when retries are due; leases and signatures use real time. */
export interface DeliveryParts extends Pick<Base['parts'], 'store' | 'record' | 'now' | 'realTime' | 'random'> {
  readonly log: Logger;
  readonly sender: Pick<Sender, 'send'>;
  /** The header of timestamped signatures; `LKM-Signature` unless given. */
  readonly signatureHeader?: string | undefined;
  /**
   * The waits after failed attempts, in seconds, the last wait again and again; the waits of Standard Webhooks unless given.
   */
  readonly schedule?: readonly number[] | undefined;
  /** How long a lease lasts that a server no longer prolongs; 15 s unless given. */
  readonly leaseSeconds?: number | undefined;
  onAttempt?: ((attempt: ObservedAttempt) => void) | undefined;
  onRecorded(): void;
}

/** How long a finished attempt waits for other attempts, so that one transaction saves them all. */
const GATHER_MS = 5;

/** An event that is being sent. `before` is set once its waiting delivery is saved. */
interface Sending extends Omit<PendingDelivery, 'before'> {
  before: DeliveryRecord | null;
  readonly payload: Payload;
  readonly startedAt: Instant;
}

/** An attempt with its outcome; null if the server's stop ended it. */
interface Attempted {
  readonly sent: Sending;
  readonly outcome: SendResult | null;
  readonly at: Instant;
  readonly durationMs: number;
}

interface Run {
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal;
  /** Resolves when there may be more to send. */
  woken(): Promise<void>;
}

/**
 * Sends the due events of one webhook while this server holds the lease. A limited number is in flight; the next event
 * starts once the outcome of another event is saved. So a server that dies sends at most that many events twice.
 */
export async function deliverTo(parts: DeliveryParts, claimed: WebhookRecord, run: Run): Promise<void> {
  const { repositories } = parts.store;
  const ended = new AbortController();
  const signal = AbortSignal.any([run.stopping, ended.signal]);
  const sending = new Map<number, Sending>();
  const attempts = new Set<Promise<void>>();
  const finished: Attempted[] = [];
  let cursor = claimed.lastSeq;

  async function takeMore(webhook: WebhookRecord): Promise<void> {
    const startedAt = parts.now();
    const { due, until } = await nextBatch(repositories, webhook, { cursor, sending, now: startedAt });
    const prepare = async (one: PendingDelivery) => ({
      ...one,
      payload: await renderEvent(repositories, webhook, one.event),
      startedAt,
    });
    // All are read before any is sent: a failed read must not make this run forget an event that was sent.
    const prepared = await Promise.all(due.map(prepare));
    cursor = until;
    for (const sent of prepared) {
      sending.set(sent.event.seq, sent);
      const attempt = attemptOne(parts, webhook, sent, signal).then((attempted) => {
        attempts.delete(attempt);
        finished.push(attempted);
      });
      attempts.add(attempt);
    }
  }

  /** Waits until an attempt has finished, and a moment for others; or until there may be more to send. */
  async function waitForAttempt(woken: Promise<void>): Promise<void> {
    if (attempts.size > 0 && finished.length === 0) await Promise.race([woken, ...attempts]);
    if (attempts.size > 0 && finished.length > 0) await Promise.race([Promise.all(attempts), sleep(GATHER_MS)]);
  }

  try {
    for (;;) {
      const woken = run.woken();
      const webhook = await repositories.webhooks.find(claimed.accountId, claimed.id);
      // Another server holds the lease, the cursor was moved, or the webhook was removed.
      if (webhook === null || webhook.lease !== claimed.lease) return;
      if (webhook.active && !run.stopping.aborted) {
        await takeMore(webhook).catch((error: unknown) => {
          if (sending.size === 0) throw error;
        });
      }
      if (sending.size === 0 && cursor <= webhook.lastSeq) return;
      await waitForAttempt(woken);
      // The cursor also passes events in flight. Their waiting deliveries are saved, so that the next server finds them.
      const over = finished.splice(0);
      const isOver = new Set(over.map(({ sent }) => sent));
      const begun = [...sending.values()].filter((one) => one.before === null && !isOver.has(one));
      await save(parts, webhook, { cursor, begun, over });
      for (const { sent } of over) sending.delete(sent.event.seq);
    }
  } finally {
    ended.abort();
  }
}

/** The secrets that sign now, the newest first. */
function secretsOf({ now }: DeliveryParts, webhook: WebhookRecord): string[] {
  const { secret, previousSecret, previousSecretUntil } = webhook;
  const isShared = previousSecret !== null && previousSecretUntil !== null && previousSecretUntil > now();
  return [secret, ...(isShared ? [previousSecret] : [])];
}

async function attemptOne(
  parts: DeliveryParts,
  webhook: WebhookRecord,
  sent: Sending,
  signal: AbortSignal,
): Promise<Attempted> {
  const { sender, realTime, now, onAttempt, signatureHeader: header } = parts;
  const { eventId, createdAt, body } = sent.payload;
  const started = realTime();
  const message = { id: eventId, timestamp: epochSeconds(started), body };
  const headers = {
    'content-type': 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'lkm-webhooks',
    ...signedHeaders(message, secretsOf(parts, webhook), { signatures: webhook.signatures, header }),
  };
  const outcome = await sender.send({ url: webhook.url, headers, body, signal });
  const durationMs = Math.max(0, Date.parse(realTime()) - Date.parse(started));
  const at = now();
  if (outcome !== null) onAttempt?.({ ...outcome, lagSeconds: (Date.parse(at) - Date.parse(createdAt)) / 1_000 });
  return { sent, outcome, at, durationMs };
}

interface Progress {
  readonly cursor: number;
  readonly begun: readonly Sending[];
  readonly over: readonly Attempted[];
}

/** Saves the progress in one transaction, unless the lease was lost. */
async function save(parts: DeliveryParts, webhook: WebhookRecord, { cursor, begun, over }: Progress): Promise<void> {
  if (begun.length === 0 && over.length === 0 && cursor === webhook.lastSeq) return;
  const { accountId, id: webhookId, lease } = webhook;
  const target = { accountId, webhookId };
  const at = parts.now();
  const isStopped = await parts.store.transaction(async (repositories) => {
    const { webhooks, deliveries } = repositories;
    const current = await webhooks.lock(accountId, webhookId);
    if (current === null || current.lease !== lease) return false;
    for (const sent of begun) {
      sent.before = recordOf(parts, webhook, { sent, outcome: null, at: sent.startedAt, durationMs: 0 });
    }
    const ended = over.map((one) => recordOf(parts, webhook, one));
    await deliveries.save([...begun.flatMap(({ before }) => before ?? []), ...ended]);
    const outcomes = over.flatMap(({ outcome }) => outcome ?? []);
    const { isGone, ...health } = healthAfter(current, outcomes, at);
    const isBack = ended.some(({ type, state }) => type === 'ping' && state === 'delivered');
    if (isBack) await deliveries.retryAll(target, at);
    const retryAt = await deliveries.nextRetry(target);
    const lastError = outcomes.findLast(({ error }) => error !== null)?.error;
    const after = await webhooks.patch(webhook, {
      ...health,
      ...(isBack && { pausedUntil: null }),
      lastError: lastError ?? (retryAt === null ? null : current.lastError),
      lastSeq: cursor,
      retryAt,
    });
    if (isGone && after.active) await disable(parts, repositories, after, { reason: 'gone', at });
    return isGone;
  });
  if (isStopped) parts.onRecorded();
}

/** Stops a webhook that is locked in the same transaction, and records that. */
export async function disable(
  { record, log }: Pick<DeliveryParts, 'record' | 'log'>,
  repositories: Repositories,
  webhook: WebhookRecord,
  { reason, at }: { readonly reason: DisabledReason; readonly at: Instant },
): Promise<void> {
  const { id, accountId, failingSince, lastError } = webhook;
  await repositories.webhooks.patch(webhook, {
    active: false,
    disabledAt: at,
    disabledReason: reason,
    updatedAt: at,
  });
  const events = [eventOf('webhook.disabled', 'webhook', id, { reason, failingSince })];
  const origin = { ...withoutRequest('job', 'deliveries'), accountId, at, operation: 'webhooks.disable' };
  await record(repositories, { ...origin, events });
  log.warn({ webhook: id, reason, failingSince, lastError }, 'webhook disabled');
}

function recordOf(
  parts: DeliveryParts,
  webhook: WebhookRecord,
  { sent, outcome, at, durationMs }: Attempted,
): DeliveryRecord {
  const { event, payload, before } = sent;
  const { accountId, seq, type } = event;
  const { eventId, secrets } = payload;
  const attempted = { accountId, webhookId: webhook.id, seq, eventId, type, durationMs, attemptedAt: at };
  if (outcome === null) {
    // The outcome is unknown, so the next server makes the attempt.
    const unknown = { attempts: 0, status: null, error: null, answer: null };
    return { ...attempted, ...unknown, ...before, state: 'waiting', nextAttemptAt: at };
  }
  const { status, error, answer } = outcome;
  const [byte = 0] = parts.random(1);
  const attempts = (before?.attempts ?? 0) + 1;
  const progress = progressAfter(outcome, { attempts, now: at, random: byte / 256 }, parts.schedule);
  return { ...attempted, ...progress, attempts, status, error, answer: redactResponse(answer, secrets) };
}
