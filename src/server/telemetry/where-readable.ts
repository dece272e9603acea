import type { Gauge } from 'prom-client';

/**
 * Makes what collects a gauge. Without the database the gauges that are read from it are absent, and all other metrics are
 * there: that is when they are looked at.
 *
 * @param clear takes the values of the gauge away; one with labels has `reset` for it
 */
export function whereReadable<L extends string>(
  read: (gauge: Gauge<L>) => Promise<void>,
  clear: (gauge: Gauge<L>) => void = (gauge) => gauge.remove(),
) {
  return async function collect(this: Gauge<L>): Promise<void> {
    try {
      await read(this);
    } catch {
      // Jobs and requests log what is wrong with the database.
      clear(this);
    }
  };
}
