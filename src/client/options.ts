import type { Fetch } from '../contract/endpoint.ts';
import type { Timing } from './timing.ts';

/** How a client reaches its service. */
export interface ClientOptions {
  /** The address of the service; a path is kept: `https://example.com/licensing`. Plain `http:` on loopback only. */
  readonly baseUrl: string;
  /** The bearer token, sent to the origin of `baseUrl` and nowhere else. */
  readonly token?: string | undefined;
  /** The network; the default opens connections with undici and honours `HTTPS_PROXY` and `NO_PROXY`. */
  readonly fetch?: Fetch | undefined;
  /** Longest duration of one attempt, answer included, in milliseconds; default 30 000. */
  readonly timeoutMs?: number | undefined;
  /** Attempts after the first; default 4. Waiting for a request in progress (409/3) does not count. */
  readonly maxRetries?: number | undefined;
  /** Longest wait on one 429 or 503, and on a request in progress in all, in milliseconds; default 60 000. */
  readonly maxWaitMs?: number | undefined;
  /** The `User-Agent` header; default `lkm`. */
  readonly userAgent?: string | undefined;
  /** Told once per endpoint that the service is retiring it. */
  readonly onNotice?: ((notice: DeprecationNotice) => void) | undefined;
  /** Told after each attempt. */
  readonly onAttempt?: ((attempt: AttemptEvent) => void) | undefined;
  /** Time and chance, for tests. */
  readonly timing?: Timing | undefined;
}

/** What one call may set. */
export interface CallOptions {
  /** Makes a mutation repeatable across processes; without it each call gets a new one. Reads ignore it. */
  readonly idempotencyKey?: string | undefined;
  /** Ends the call at once; the call then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** One attempt, without anything secret. */
export interface AttemptEvent {
  /** Method and path: `POST /create-key`. */
  readonly operation: string;
  /** From 1. */
  readonly attempt: number;
  /** HTTP status; null when no whole answer came. */
  readonly status: number | null;
  readonly durationMs: number;
  /** Null on reads. */
  readonly idempotencyKey: string | null;
  /** Milliseconds until the next attempt; null when this was the last. */
  readonly willRetryInMs: number | null;
}

/** The service is retiring an endpoint: both headers as they came. Source: API description, "Versioning", 4. */
export interface DeprecationNotice {
  /** Method and path: `GET /key`. */
  readonly operation: string;
  /** The `Deprecation` header (RFC 9745): `@<unix seconds>`. */
  readonly deprecated: string | null;
  /** The `Sunset` header (RFC 8594): an HTTP date. */
  readonly sunset: string | null;
}
