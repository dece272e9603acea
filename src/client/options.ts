import type { Fetch } from '../contract/endpoint.ts';
import type { RawResponse } from './attempt.ts';
import type { PreparedRequest } from './network.ts';
import type { Timing } from './timing.ts';

/** How a client connects to its service. */
export interface ClientOptions {
  /** The address of the service; a path is kept: `https://example.com/licensing`. Plain `http:` on loopback only. */
  readonly baseUrl: string;
  /** The bearer token, sent to the origin of `baseUrl` and nowhere else. */
  readonly token?: string | undefined;
  /** The certificate or the authorities (PEM) to trust, instead of this machine's authorities. */
  readonly ca?: string | undefined;
  /** The network; the default is undici's `fetch`, which uses `HTTPS_PROXY` and `NO_PROXY`. */
  readonly fetch?: Fetch | undefined;
  /** Longest duration of one attempt, response included, in milliseconds; default 30 000. */
  readonly timeoutMs?: number | undefined;
  /**
   * The most attempts after the first one, for any kind of failure. The default is 4, without the waits for a request in
   * progress (409/3) and for a rate limit (429), and without attempts while the service cannot be reached (no connection, 502,
   * 503, 504), which `maxElapsedMs` limits.
   */
  readonly maxRetries?: number | undefined;
  /**
   * How long a failing call is repeated, in milliseconds since its first failure; default 30 000, or without an end where
   * `maxRetries` is given. A rate limit (429) and a request in progress (409/3) have `maxWaitMs` instead.
   */
  readonly maxElapsedMs?: number | undefined;
  /** How long a call is repeated while no connection can be made, in milliseconds; default `maxElapsedMs`. */
  readonly maxUnreachableMs?: number | undefined;
  /**
   * Longest wait that one 429 or 503 may ask for, and for a request in progress in all; default 60 000. A rate limit is waited for
   * four times, or this long in all.
   */
  readonly maxWaitMs?: number | undefined;
  /** The `User-Agent` header; default `lkm`. */
  readonly userAgent?: string | undefined;
  /** Called once for each endpoint that the service is retiring. */
  readonly onNotice?: ((notice: DeprecationNotice) => void) | undefined;
  /**
   * Called with method and path if the service did not receive the idempotency key that was sent: a proxy drops the header, so that a
   * repeated request would be done twice.
   */
  readonly onKeyLost?: ((operation: string) => void) | undefined;
  /** Called before each attempt, with its method and path. */
  readonly onSend?: ((operation: string) => void) | undefined;
  /** Called after each attempt. */
  readonly onAttempt?: ((attempt: AttemptEvent) => void) | undefined;
  /** Called after each attempt with the whole request and response, secrets included. */
  readonly onExchange?: ((exchange: Exchange) => void) | undefined;
  /** Clock, timers and random numbers; tests set them. */
  readonly timing?: Timing | undefined;
}

/** Options of one call. */
export interface CallOptions {
  /**
   * Makes a mutation repeatable by another process, for 24 hours; the default is a new key for each call. Reads ignore it.
   * It has to be random: whoever guesses it can open the stored response. For one key per order give `reference` and
   * `ifAbsent`.
   */
  readonly idempotencyKey?: string | undefined;
  /** Ends the call at once; the call then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A request as it was sent, and the response to it; null when no complete response was received. */
export interface Exchange {
  readonly request: PreparedRequest;
  readonly response: RawResponse | null;
}

/** One attempt. Contains nothing secret. */
export interface AttemptEvent {
  /** Method and path: `POST /create-key`. */
  readonly operation: string;
  /** From 1. */
  readonly attempt: number;
  /** HTTP status; null when no complete response was received. */
  readonly status: number | null;
  readonly durationMs: number;
  /** Null on reads. */
  readonly idempotencyKey: string | null;
  /** Whether the service repeated its stored response to an earlier request (`Idempotency-Replayed`). */
  readonly replayed: boolean;
  /** Milliseconds until the next attempt; null when this was the last. */
  readonly willRetryInMs: number | null;
}

/** The service is retiring an endpoint: both headers as received. Source: API description, "Versioning", 4. */
export interface DeprecationNotice {
  /** Method and path: `GET /key`. */
  readonly operation: string;
  /** The `Deprecation` header (RFC 9745): `@<unix seconds>`. */
  readonly deprecated: string | null;
  /** The `Sunset` header (RFC 8594): an HTTP date. */
  readonly sunset: string | null;
}
