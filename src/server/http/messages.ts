/** One HTTP request, whether it came over a socket or from this process. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query exactly as they were sent. */
  readonly target: string;
  readonly headers: RequestHeaders;
  /** The address of the other end of the connection; loopback for a request in process. */
  readonly peer: string;
  /**
   * Reads the exact bytes of the body, once.
   *
   * @throws ApiError `bodyTooLarge` as soon as the size is known, `unsupportedMediaType` for an encoding other than plain
   * UTF-8, `invalidParams` when the connection is closed before the end of the body
   */
  readBody(): Promise<Uint8Array>;
  /** Calls `work` when the connection closes; at once when it is closed already. Absent for a request in process. */
  onClose?(work: () => void): void;
}

/** The headers of one request. Names are given in lower case. */
export interface RequestHeaders {
  /** The value, or null; the lines of a repeated header are joined with a comma (RFC 9110 §5.3). */
  get(name: string): string | null;
  /** The value of each line by itself, where the request came over HTTP: a value may contain a comma. */
  lines(name: string): readonly string[];
}

/** One HTTP response. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * A text, bytes, or chunks that are sent as the other side takes them. The iterator of the chunks is returned when the
   * connection closes before the last one.
   */
  readonly body: string | Buffer | AsyncIterable<string>;
}
