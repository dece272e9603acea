/** The requests per minute in the long run, and the most at one moment after a pause. */
export interface Rate {
  readonly perMinute: number;
  readonly burst: number;
}

/** A minute, in microseconds: the unit of all instants and spans here. */
const MINUTE_US = 60_000_000;

/** The interval that one request uses up. */
export const intervalOf = ({ perMinute }: Rate): number => Math.ceil(MINUTE_US / perMinute);

/** How far the used-up time may lie ahead of now. */
export const toleranceOf = (rate: Rate): number => intervalOf(rate) * rate.burst;

/**
 * Decides on one request by the generic cell rate algorithm (ITU-T I.371); a refused request uses nothing up. `emptyAt` is
 * the instant at which the limit will be unused again, after this request if it was allowed.
 */
export function admit(rate: Rate, emptyAt: number | undefined, now: number) {
  const before = Math.max(emptyAt ?? now, now);
  const after = before + intervalOf(rate);
  return after - now <= toleranceOf(rate) ? { allowed: true, emptyAt: after } : { allowed: false, emptyAt: before };
}

/** How many requests are allowed at once. */
export const remainingOf = (rate: Rate, emptyAt: number, now: number): number =>
  Math.max(0, Math.floor((toleranceOf(rate) - (emptyAt - now)) / intervalOf(rate)));

/** How long until a request is allowed; at most 0 when a request is allowed now. */
export const waitOf = (rate: Rate, emptyAt: number, now: number): number =>
  emptyAt + intervalOf(rate) - toleranceOf(rate) - now;
