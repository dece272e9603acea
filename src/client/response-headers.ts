import type { DeprecationNotice } from './options.ts';
import type { ResponseHeaders } from './transport.ts';

/**
 * The delay of a `Retry-After` header in milliseconds; null when it is absent or invalid.
 * A date is read against the response's own `Date`, so that a wrong local clock does not matter.
 */
export function readRetryAfter(headers: ResponseHeaders, now: number): number | null {
  const text = headers.get('retry-after')?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const due = readHttpDate(text);
  if (due === null) return null;
  return Math.max(0, due - (readHttpDate(headers.get('date') ?? '') ?? now));
}

/** Milliseconds since 1970. `Date.parse` alone accepts much that is not an HTTP date. */
function readHttpDate(text: string): number | null {
  const time = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? null : time;
}

/** Whether the response is the stored one of an earlier request. Source: decision 0018. */
export const isReplayed = (headers: ResponseHeaders): boolean =>
  headers.get('idempotency-replayed')?.trim().toLowerCase() === 'true';

/** Returns a function that reads response headers and reports each retired operation to `onNotice` once. */
export function deprecationReporter(
  onNotice: (notice: DeprecationNotice) => void,
): (operation: string, headers: ResponseHeaders) => void {
  const reported = new Set<string>();
  return (operation, headers) => {
    const deprecated = headers.get('deprecation');
    const sunset = headers.get('sunset');
    if ((deprecated === null && sunset === null) || reported.has(operation)) return;
    reported.add(operation);
    onNotice({ operation, deprecated, sunset });
  };
}
