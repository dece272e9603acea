import type { Instance } from '../../server/runtime.ts';
import type { Io } from '../io.ts';

/** Opens the service on a database in this process: same requests, same answers, no socket. */
export async function openInstance(db: string, io: Pick<Io, 'now'>): Promise<Instance> {
  const server = await import('../../server/runtime.ts');
  return server.openInstance({ db, clock: io.now });
}

/** What an operator does to a database itself, past the service. */
export type Operator = typeof import('../../operator/index.ts');

/** Loads it. */
export const loadOperator = (): Promise<Operator> => import('../../operator/index.ts');
