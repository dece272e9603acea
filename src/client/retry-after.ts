/**
 * The wait a `Retry-After` header asks for, in milliseconds from now; null when it is absent or makes no sense.
 * A date is read against the answer's own `Date`, so that a wrong clock here does not matter.
 */
export function readRetryAfter(headers: Headers, now: number): number | null {
  const text = headers.get('retry-after')?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const due = readHttpDate(text);
  if (due === null) return null;
  return Math.max(0, due - (readHttpDate(headers.get('date') ?? '') ?? now));
}

/** Milliseconds since 1970. `Date.parse` alone takes much that is not an HTTP date. */
function readHttpDate(text: string): number | null {
  const time = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? null : time;
}
