import type { Instance } from '../server/instance.ts';
import type { Io } from './io.ts';

/** Opens the service on a database in this process: same requests, same answers, no socket. */
export async function openInstance(db: string, io: Pick<Io, 'now'>): Promise<Instance> {
  const server = await import('../server/instance.ts');
  return server.openInstance({ db, clock: io.now });
}

/** What an operator does to a database itself, past the service. */
export type Operator = typeof import('../server/operator.ts');

/** Loads it. */
export const loadOperator = (): Promise<Operator> => import('../server/operator.ts');
