/** Milliseconds since 1970 as the service writes an instant. */
export const instantAt = (epochMs: number): string => new Date(epochMs).toISOString();

/** Its day, UTC. */
export const dayOf = (epochMs: number): string => instantAt(epochMs).slice(0, 10);

/** A length of time in calendar units. */
export interface Span {
  readonly months?: number;
  readonly days?: number;
  readonly seconds?: number;
}

/**
 * The same day of the month so many months later, or the last one of a month that lacks it; then days and seconds. The day
 * is the `anchor` where the months before were too short for it.
 */
export function later(epochMs: number, { months = 0, days = 0, seconds = 0 }: Span, anchor?: number): number {
  const from = new Date(epochMs);
  const month = from.getUTCFullYear() * 12 + from.getUTCMonth() + months;
  const [year, monthOfYear] = [Math.floor(month / 12), month % 12];
  // The day before the first of the next month.
  const lastDay = new Date(Date.UTC(year, monthOfYear + 1, 0)).getUTCDate();
  const day = Math.min(anchor ?? from.getUTCDate(), lastDay);
  const midnight = epochMs - (epochMs % DAY_MS);
  return Date.UTC(year, monthOfYear, day) + (epochMs - midnight) + days * DAY_MS + seconds * 1_000;
}

/**
 * When a licence ends a span later, and the day of the month that further months lead to, where the month of the end has no
 * such day; `day` is that of the start.
 */
export function endAfter(epochMs: number, span: Span, day = new Date(epochMs).getUTCDate()) {
  const expiresAt = later(epochMs, span, day);
  const isCutShort = !span.days && !span.seconds && new Date(expiresAt).getUTCDate() < day;
  return { expiresAt, renewalDay: isCutShort ? day : null };
}

/** The same from now on: without seconds it is the end of its day. */
export function endFromNow(now: number, span: Span) {
  const end = endAfter(now, span);
  if (span.seconds) return end;
  return { ...end, expiresAt: end.expiresAt - (end.expiresAt % DAY_MS) + DAY_MS - 1_000 };
}

/** A span as ISO 8601 writes it. */
export function durationText({ months = 0, days = 0, seconds = 0 }: Span): string {
  const date = (months === 0 ? '' : `${months}M`) + (days === 0 ? '' : `${days}D`);
  return `P${date}${seconds === 0 && date !== '' ? '' : `T${seconds}S`}`;
}

const DAY_MS = 86_400_000;
