import * as idempotency from '../src/server/idempotency/exactly-once.ts';
import * as logs from '../src/server/log.ts';
import { type Sabotage, sabotages } from './sabotages.ts';

// Stands in the place of two modules of the server, from which one protection is taken away.

const { without, setup } = JSON.parse(process.argv[2] ?? '{}') as { without: Sabotage; setup: { log?: string } };
const sabotage = sabotages[without];

export * from '../src/server/idempotency/exactly-once.ts';
export * from '../src/server/log.ts';
export const createExactlyOnce = sabotage.createExactlyOnce ?? idempotency.createExactlyOnce;
export const openLog: typeof logs.openLog = (format, sink) =>
  setup.log === undefined || !sabotage.openLog ? logs.openLog(format, sink) : sabotage.openLog(format, sink, setup.log);
