import type { Fetch, Method } from '../contract/endpoint.ts';

/** A request that can be sent any number of times, with the same bytes each time. */
export interface Outgoing {
  readonly url: string;
  readonly method: Method;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** Sends a request once. Redirects come back as answers. */
export type Transport = (outgoing: Outgoing, signal: AbortSignal) => Promise<Response>;

/** Sends through a `Fetch`: the server in this process, or a network of the caller's. */
export const throughFetch =
  (fetch: Fetch): Transport =>
  ({ url, method, headers, body }, signal) =>
    fetch(new Request(url, { method, headers, body, redirect: 'manual', signal }));
