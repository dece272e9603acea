/** The headers of one request. Names are given in lower case. */
export interface RequestHeaders {
  /** The value, or null; the lines of a repeated header joined with a comma (RFC 9110 §5.3). */
  get(name: string): string | null;
  /** The value of each line of its own, where the request came over HTTP: a value may hold a comma itself. */
  lines(name: string): readonly string[];
}

/**
 * Looks headers up where they are: few are asked for, and a `Headers` object of all of them takes its time.
 *
 * @param rawHeaders names and values of the lines, one after the other, where the request came over HTTP
 */
export function headersOf(request: Request, rawHeaders: readonly string[] | undefined): RequestHeaders {
  if (rawHeaders === undefined) {
    const get = (name: string) => request.headers.get(name);
    return { get, lines: (name) => [get(name)].filter((value) => value !== null) };
  }
  const lines = (name: string) => {
    const values: string[] = [];
    for (let index = 0; index < rawHeaders.length; index += 2) {
      if (isNamed(rawHeaders[index] ?? '', name)) values.push(rawHeaders[index + 1] ?? '');
    }
    return values;
  };
  return {
    lines,
    get: (name) => {
      const values = lines(name);
      return values.length === 0 ? null : values.join(', ');
    },
  };
}

const isNamed = (header: string, name: string): boolean =>
  header.length === name.length && header.toLowerCase() === name;
