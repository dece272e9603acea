/** One request, whether it came over a socket or from this process. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query as they were written. */
  readonly target: string;
  readonly headers: RequestHeaders;
  /** The address that the connection comes from; undefined in process. */
  readonly peer: string | undefined;
  /**
   * Reads the exact bytes of the body, once.
   *
   * @throws ApiError `bodyTooLarge`, as soon as that is known; `invalidParams` when the caller hangs up in the middle
   */
  readBody(): Promise<Uint8Array>;
}

/** The headers of one request. Names are given in lower case. */
export interface RequestHeaders {
  /** The value, or null; the lines of a repeated header joined with a comma (RFC 9110 §5.3). */
  get(name: string): string | null;
  /** The value of each line of its own, where the request came over HTTP: a value may hold a comma itself. */
  lines(name: string): readonly string[];
}

/** What goes back. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Splits a target at its first question mark, which stays with the query. */
export function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const mark = target.indexOf('?');
  return mark === -1 ? { path: target, query: '' } : { path: target.slice(0, mark), query: target.slice(mark) };
}
