import { toInstant } from '../../domain/time.ts';

const HOUR_MS = 3_600_000;

/**
 * How long after a request it is still repeated, in milliseconds: as long as the service keeps its response, less an hour for
 * clocks that differ and for the time until the repetition arrives.
 */
const REPEATABLE_MS = 23 * HOUR_MS;

/**
 * The instants between which a request was sent that can be repeated under its key now, without being done a second time.
 * One of a time to come cannot: the clock was set since, and nobody knows its age.
 *
 * @param now milliseconds since 1970
 */
export const repeatableSpan = (now: number): readonly [from: string, to: string] => [
  toInstant(now - REPEATABLE_MS),
  toInstant(now + HOUR_MS),
];
