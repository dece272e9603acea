import type { Fetch } from '../../contract/endpoint.ts';
import type { Target } from '../config/target.ts';
import { type FoundToken, findToken, readTokenFile } from '../config/token.ts';
import type { GlobalFlags } from '../global-options.ts';
import type { Io } from '../io.ts';
import { openInstance } from './server.ts';

/** A service that can be called. */
export interface Connection {
  readonly baseUrl: string;
  readonly fetch: Fetch | undefined;
  readonly token: FoundToken | null;
  close(): Promise<void>;
}

/** The address of a database in this process; nothing listens there. */
export const inProcessUrl = 'http://127.0.0.1';

/** Opens the service of a target. Without `needsToken` it is called as the public does. */
export async function openConnection(
  target: Target,
  flags: GlobalFlags,
  io: Io,
  needsToken: boolean,
): Promise<Connection> {
  if (target.kind === 'remote') {
    const token = needsToken ? await findToken(flags, target, io) : null;
    return { baseUrl: target.baseUrl, fetch: io.fetch, token, close: async () => {} };
  }
  const given = flags.tokenFile ? await readTokenFile(flags.tokenFile, '--token-file', io) : undefined;
  const instance = await openInstance(target.db, io);
  const token = given ? { token: given, from: '--token-file' } : { token: instance.ownerToken, from: '--db' };
  return { baseUrl: inProcessUrl, fetch: instance.fetch, token, close: () => instance.close() };
}
