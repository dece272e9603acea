import { createHmac } from 'node:crypto';
import { ApiError } from '../contract/errors.ts';
import type { Client } from './client.ts';
import { isInProgress } from './errors.ts';
import { systemTiming, type Timing } from './timing.ts';

/** The parts of the reply to a checkout that a session signs with. */
export interface SessionKeys {
  readonly sessionId: string;
  /** The bytes of the text as UTF-8 are the key of the HMAC. */
  readonly sessionSecret: string;
  readonly nextNonce: string;
}

/** The fields with which a session signs a heartbeat or a checkin. Source: decision 0010. */
export function signRequest({ sessionId, sessionSecret, nextNonce }: SessionKeys) {
  const signature = createHmac('sha256', sessionSecret).update(`${sessionId}:${nextNonce}`).digest('hex');
  return { sessionId, timestamp: nextNonce, signature };
}

/** The part of a client that a session needs: {@link Client}, or the three operations alone. */
export interface SessionClient {
  readonly keys: Pick<Client['keys'], 'checkout' | 'heartbeat' | 'checkin'>;
}

/** The floating key to lease a session of, with its host and user. */
export type SessionInput = Parameters<Client['keys']['checkout']>[0];

/** A session while work is done in it. */
export interface LeasedSession {
  readonly sessionId: string;
  /** Aborts when the lease is lost, with {@link SessionLostError}, or when the caller's signal does. */
  readonly signal: AbortSignal;
  /** How many seats were taken when it was leased, this one included. */
  readonly currentSessions: number;
  /** How many seats there are; null means unlimited. */
  readonly maxSessions: number | null;
}

/** Options of {@link withSession}. */
export interface SessionOptions {
  /** Aborts the checkout, which may leave a seat taken until its lease ends; later aborts the work, and the seat is given back. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called when the seat could not be given back; it is free again when the lease ends. An error that it throws is dropped.
   */
  readonly onReturnFailed?: ((error: unknown) => void) | undefined;
  /** Clock, timers and new idempotency keys; tests set them. */
  readonly timing?: Timing | undefined;
}

/** The lease of a session was lost while work was done in it: refused, or not prolonged before it ended. */
export class SessionLostError extends Error {
  override readonly name = 'SessionLostError';
}

/** How long to wait after a heartbeat that did not reach the service. */
const RETRY_MS = 5_000;

/**
 * Leases a session, keeps its lease alive by heartbeats while `work` runs, and gives the seat back afterwards. Resolves or
 * rejects as `work` does, or as `client.keys.checkout`: with `ApiError` `sessionLimit` when no seat is free.
 */
export async function withSession<T>(
  client: SessionClient,
  input: SessionInput,
  work: (session: LeasedSession) => T | Promise<T>,
  { signal, onReturnFailed = () => {}, timing = systemTiming }: SessionOptions = {},
): Promise<T> {
  const sentAt = timing.now();
  const { productId, licenseKey } = input;
  const leased = await client.keys.checkout(input, { signal });
  const { sessionId, currentSessions, maxSessions } = leased;
  const intervalMs = Math.max(1, leased.heartbeatInterval) * 1_000;
  const endsAt = endOf(leased.expiresAt, sentAt, intervalMs);
  const lease: Lease = { address: { productId, licenseKey }, intervalMs, keys: leased, endsAt, hasEnded: false };
  const done = new AbortController();
  const lost = new AbortController();
  const kept = keepAlive(client, lease, timing, done.signal).catch((cause: unknown) => {
    if (done.signal.aborted) return;
    lease.hasEnded = !(cause instanceof ApiError) || cause.reason === 'sessionNotFound';
    lost.abort(new SessionLostError('the lease of the session was lost', { cause }));
  });
  try {
    const signals = signal === undefined ? [lost.signal] : [lost.signal, signal];
    return await work({ sessionId, currentSessions, maxSessions, signal: AbortSignal.any(signals) });
  } finally {
    done.abort();
    await kept;
    if (!lease.hasEnded) {
      await giveBack(client, lease)
        .catch(onReturnFailed)
        .catch(() => {});
    }
  }
}

/** A lease as it stands after the last heartbeat. */
interface Lease {
  readonly address: { readonly productId: string; readonly licenseKey: string };
  readonly intervalMs: number;
  keys: SessionKeys;
  /** When it ends by the clock of this machine. */
  endsAt: number;
  hasEnded: boolean;
}

/** No lease is shorter than the interval, so a clock that is ahead of the service's does not end a lease at once. */
const endOf = (expiresAt: string, sentAt: number, intervalMs: number): number =>
  Math.max(Date.parse(expiresAt), sentAt + intervalMs);

/** Sends heartbeats until the work is done. Rejects when the service refuses, and when the lease has ended. */
async function keepAlive(client: SessionClient, lease: Lease, timing: Timing, done: AbortSignal): Promise<never> {
  for (;;) {
    // A heartbeat at the end of the lease would be too late.
    const remainingMs = Math.max(0, lease.endsAt - timing.now());
    await timing.sleep(Math.min(lease.intervalMs, remainingMs / 2), done);
    await prolong(client, lease, timing, done);
  }
}

/** Prolongs the lease, in as many attempts as fit into it: one request under one key, so that a lost response does not matter. */
async function prolong(client: SessionClient, lease: Lease, timing: Timing, done: AbortSignal): Promise<void> {
  const request = { ...lease.address, ...signRequest(lease.keys) };
  const idempotencyKey = timing.newKey();
  const sentAt = timing.now();
  for (;;) {
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, done]);
    // An attempt may last as long as the lease, and at least a moment after the machine was suspended.
    const late = timing.sleep(Math.max(RETRY_MS, lease.endsAt - timing.now()), signal).then(() => {
      throw new Error('the lease has ended');
    });
    try {
      const answer = client.keys.heartbeat(request, { idempotencyKey, signal });
      const { nextNonce, expiresAt } = await Promise.race([answer, late]);
      lease.keys = { ...lease.keys, nextNonce };
      lease.endsAt = endOf(expiresAt, sentAt, lease.intervalMs);
      return;
    } catch (error) {
      const remainingMs = lease.endsAt - timing.now();
      if (done.aborted || isRefusal(error) || remainingMs <= 0) throw error;
      await timing.sleep(Math.min(RETRY_MS, remainingMs), done);
    } finally {
      over.abort();
    }
  }
}

/** Whether the service refused a heartbeat finally. */
function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status < 500 && error.status !== 429 && !isInProgress(error);
}

async function giveBack(client: SessionClient, { address, keys }: Lease): Promise<void> {
  try {
    await client.keys.checkin({ ...address, ...signRequest(keys) });
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== 'sessionNotFound') throw error;
  }
}
