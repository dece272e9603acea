import type { Client } from '../../client/client.ts';
import type { Fetch } from '../../contract/endpoint.ts';
import type { Instance } from '../../server/runtime.ts';
import { checkExists } from '../config/location.ts';
import type { Settings } from '../config/settings.ts';
import type { Target } from '../config/target.ts';
import type { FoundToken } from '../config/token.ts';
import type { GlobalFlags } from '../global-options.ts';
import type { Io } from '../io.ts';
import type { Observation } from './observe.ts';

/** A service that can be called. */
export interface Connection {
  readonly baseUrl: string;
  readonly fetch: Fetch | undefined;
  readonly token: FoundToken | null;
  close(): Promise<void>;
}

/** The address of a database in this process; nothing listens there. */
export const inProcessUrl = 'http://127.0.0.1';

/** Opens the service of a target. Without `needsToken` it is called without a token. */
export async function openConnection(
  target: Target,
  { flags, io, needsToken }: { readonly flags: GlobalFlags; readonly io: Io; readonly needsToken: boolean },
): Promise<Connection> {
  if (target.kind === 'remote') {
    const { findToken } = await import('../config/token.ts');
    const token = needsToken ? await findToken(flags, target, io) : null;
    return { baseUrl: target.baseUrl, fetch: io.fetch, token, close: async () => {} };
  }
  const given = flags.tokenFile ? await readGiven(flags.tokenFile, io) : undefined;
  const instance = await openInstance(target.db, io, { create: flags.create ?? false });
  const token = given ? { token: given, from: '--token-file' } : { token: instance.ownerToken, from: '--db' };
  return { baseUrl: inProcessUrl, fetch: instance.fetch, token, close: () => instance.close() };
}

async function readGiven(file: string, io: Io): Promise<string> {
  const { readTokenFile } = await import('../config/token.ts');
  return readTokenFile(file, '--token-file', io);
}

/** The typed client on a connection; what its requests show goes to the observation. */
export async function openClient(
  { baseUrl, token, fetch }: Connection,
  { onAttempt, onNotice }: Observation,
  settings: Settings,
  io: Io,
): Promise<Client> {
  const { createClient } = await import('../../client/client.ts');
  const { timeoutMs, maxRetries, maxWaitMs } = settings;
  return createClient({
    baseUrl,
    token: token?.token,
    userAgent: `lkm/${io.version}`,
    ...{ timeoutMs, maxRetries, maxWaitMs },
    ...{ fetch, timing: io.timing },
    ...{ onAttempt, onNotice },
  });
}

/**
 * Opens the service on a database in this process: same requests, same answers, no socket. Throws `LocalError` when
 * there is no such file and none is to be made.
 */
export async function openInstance(
  db: string,
  io: Pick<Io, 'now'>,
  { create }: { readonly create: boolean },
): Promise<Instance> {
  if (!create) checkExists(db, [['A new one:', '--create']]);
  const server = await import('../../server/runtime.ts');
  return server.openInstance({ db, clock: io.now, create });
}

/** What an operator does to a database itself, past the service. */
export type Operator = typeof import('../../operator/index.ts');

/** Loads it. */
export const loadOperator = (): Promise<Operator> => import('../../operator/index.ts');
