import type { CallEndpoint, Client } from '../../client/client.ts';
import type { ClientOptions } from '../../client/options.ts';
import type { Fetch } from '../../contract/endpoint.ts';
import type { Instance } from '../../server/runtime.ts';
import { checkExists, isPostgres } from '../config/location.ts';
import { readMasterKey } from '../config/master-key.ts';
import type { Settings } from '../config/settings.ts';
import type { GlobalFlags } from '../global-options.ts';
import type { Io } from '../io.ts';
import type { RequestHooks } from './observe.ts';
import type { Target } from './target.ts';

/** A token, and where it came from in words for an error. */
export interface TokenWithOrigin {
  readonly token: string;
  readonly from: string;
}

export interface Connection {
  readonly baseUrl: string;
  readonly fetch?: Fetch | undefined;
  readonly token: TokenWithOrigin | null;
  /** How long a call is repeated at most while no connection can be made; as long as the client does unless given. */
  readonly maxUnreachableMs?: number | undefined;
  /** How long a call that fails is repeated, or waits, at most; as long as the client does unless given. */
  readonly maxElapsedMs?: number | undefined;
  /** The database behind it, where the profile is that of a server of this machine. */
  readonly servedDb?: string | undefined;
  /** Why the database in this process failed last, in words; null when it did not. */
  failure?(): Error | null;
  close(): Promise<void>;
}

/** The address of a database in this process; nothing listens there. */
export const inProcessUrl = 'http://127.0.0.1';

/** What a command needs of a connection. */
export interface ClientNeeds extends Pick<Connection, 'maxUnreachableMs'> {
  /** Without it the service is called without a token. */
  readonly needsToken: boolean;
}

/** Opens the service of a target. */
export async function openConnection(
  target: Target,
  { flags, io, needsToken, ...needs }: ClientNeeds & { readonly flags: GlobalFlags; readonly io: Io },
): Promise<Connection> {
  if (target.kind === 'remote') {
    const { findToken } = await import('../config/token.ts');
    const token = needsToken ? await findToken(flags, target, io) : null;
    const { baseUrl, profile } = target;
    const servedDb = profile?.baseUrl === baseUrl ? profile.db : undefined;
    const isWatched = io.stderr.isTTY && isLoopback(baseUrl);
    const { maxUnreachableMs = isWatched ? LOOPBACK_TIMEOUT_MS : undefined } = needs;
    return { baseUrl, fetch: io.fetch, token, maxUnreachableMs, servedDb, close: async () => {} };
  }
  const { tokenFile } = flags;
  const token = tokenFile
    ? await (await import('../config/token.ts')).readTokenFile(tokenFile, '--token-file', io, flags)
    : null;
  const instance = await openInstance(target.db, { io, flags }, { create: flags.create ?? false });
  return {
    baseUrl: inProcessUrl,
    fetch: asOwner(instance),
    token,
    maxElapsedMs: isPostgres(target.db) ? undefined : FILE_TIMEOUT_MS,
    failure: () => instance.failure,
    close: () => instance.close(),
  };
}

/** Who sends no token is the owner of the database that this process has opened. */
function asOwner({ fetch, ownerToken }: Instance): Fetch {
  return (request) => {
    if (!request.headers.has('authorization')) request.headers.set('authorization', `Bearer ${ownerToken}`);
    return fetch(request);
  };
}

/** A person at the machine of the service knows whether it runs, and is told soon when it does not. */
const LOOPBACK_TIMEOUT_MS = 500;

const isLoopback = (baseUrl: string): boolean => /^https?:\/\/(localhost|127\.[\d.]+|\[::1\])(:|\/|$)/i.test(baseUrl);

/** A file is not restarted: what keeps it from being written passes soon, or needs a person. */
const FILE_TIMEOUT_MS = 5_000;

interface Invocation {
  readonly io: Io;
  readonly flags: GlobalFlags;
}

interface OpenOptions {
  readonly create: boolean;
  readonly migrate?: boolean;
  readonly clock?: () => number;
}

/** Opens the service on a database, without a socket. Throws `LocalError` when there is none and none is to be made. */
export async function openInstance(db: string, { io, flags }: Invocation, how: OpenOptions): Promise<Instance> {
  if (!how.create) checkExists(db, [['A new one:', '--create']]);
  const masterKey = readMasterKey(io, flags);
  const server = await import('../../server/runtime.ts');
  return server.openInstance({ db, masterKey, clock: io.now, ...how });
}

/** Runs work as the owner of a database in this process, past the settings and the observation of a command. */
export async function asOwnerOf<T>(
  db: string,
  context: Invocation,
  how: OpenOptions,
  work: (client: Client, instance: Instance) => Promise<T>,
): Promise<T> {
  const { createClient } = await import('../../client/client.ts');
  const instance = await openInstance(db, context, how);
  try {
    const { fetch, ownerToken: token } = instance;
    return await work(
      createClient({ baseUrl: inProcessUrl, fetch, token, userAgent: `lkm/${context.io.version}` }),
      instance,
    );
  } finally {
    await instance.close();
  }
}

/** The options of a client on a connection, with the hooks that it calls. */
export function clientOptions(
  { baseUrl, token, fetch, maxUnreachableMs, maxElapsedMs }: Connection,
  { onSend, onAttempt, onExchange, onNotice, onKeyLost }: RequestHooks,
  settings: Settings,
  io: Io,
): ClientOptions {
  const { timeoutMs, maxRetries, maxWaitMs } = settings;
  return {
    baseUrl,
    token: token?.token,
    userAgent: `lkm/${io.version}`,
    timeoutMs,
    maxRetries,
    maxWaitMs: maxElapsedMs === undefined ? maxWaitMs : Math.min(maxElapsedMs, maxWaitMs ?? maxElapsedMs),
    maxElapsedMs,
    maxUnreachableMs: maxRetries === undefined ? maxUnreachableMs : undefined,
    fetch,
    timing: io.timing,
    onSend,
    onAttempt,
    onExchange,
    onNotice,
    onKeyLost,
  };
}

/** Opens a caller, for requests that the contract does not have too. */
export async function openCaller(...opening: Parameters<typeof clientOptions>): Promise<CallEndpoint> {
  const { createCallEndpoint } = await import('../../client/client.ts');
  return createCallEndpoint(clientOptions(...opening));
}

export async function openClient(...opening: Parameters<typeof clientOptions>): Promise<Client> {
  const { createClient } = await import('../../client/client.ts');
  return createClient(clientOptions(...opening));
}
