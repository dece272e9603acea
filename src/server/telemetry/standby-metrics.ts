import { Counter, Gauge, type Registry } from 'prom-client';
import type { Standbys } from '../../store/engine/standbys.ts';

/** Adds the metrics of standbys, where there are some. */
export function measureStandbys(registry: Registry, standbys: Standbys | null): void {
  if (standbys === null) return;
  const registers = [registry];
  new Counter({
    name: 'lkm_standby_reads_total',
    help: 'Reads that a standby could have answered, by the server that did.',
    labelNames: ['from'],
    registers,
    collect() {
      this.reset();
      for (const [from, count] of Object.entries(standbys.reads)) this.inc({ from }, count);
    },
  });
  new Gauge({
    name: 'lkm_standbys_used',
    help: 'Standbys that reads go to.',
    registers,
    collect() {
      this.set(standbys.list().filter(({ problem }) => problem === null).length);
    },
  });
}
