import * as idempotency from '../src/server/idempotency/exactly-once.ts';
import { type Sabotage, sabotages } from './sabotages.ts';

// Stands in the place of a module of the server, from which one protection is taken away.

const { without } = JSON.parse(process.argv[2] ?? '{}') as { without: Sabotage };

export * from '../src/server/idempotency/exactly-once.ts';
export const createExactlyOnce = sabotages[without].createExactlyOnce ?? idempotency.createExactlyOnce;
