import type { Method } from './endpoint.ts';

/** A request that can be sent any number of times, with the same bytes each time. */
export interface PreparedRequest {
  readonly url: string;
  readonly method: Method;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/**
 * Sends a request once. A redirect is returned, not followed. What a `Fetch` does, without objects of the Fetch API: to load
 * those takes Node.js longer than a whole command.
 */
export type Transport = (request: PreparedRequest, signal: AbortSignal) => Promise<TransportResponse>;

/** What the client reads of a response; the global `Response` fits. */
export interface TransportResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: AsyncIterable<Uint8Array> | null;
}

/** Reads one header; null when the response does not have it. */
export interface ResponseHeaders {
  get(name: string): string | null;
}
