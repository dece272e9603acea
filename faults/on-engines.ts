import { endUnavailable } from '../test/support/postgres-server.ts';
import { type Cluster, openCluster } from './cluster.ts';
import type { Engine } from './world.ts';

const engines: Readonly<Record<string, Engine>> = { sqlite: 'sqlite', postgres: 'postgres' };

/** Works on each engine of these names in turn, with a PostgreSQL of its own where it is one. */
export async function onEngines(
  names: readonly string[],
  work: (engine: Engine, cluster: Cluster | null) => Promise<void>,
): Promise<void> {
  for (const name of names) {
    const engine = engines[name];
    if (engine === undefined) throw new Error(`there is no engine ${name}: ${Object.keys(engines).join(', ')}`);
    const cluster = engine === 'postgres' ? await openCluster().catch(endUnavailable) : null;
    try {
      await work(engine, cluster);
    } finally {
      await cluster?.close();
    }
  }
}
