import type { Client } from '../../client/client.ts';
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

/** A token with its source, which errors name. */
export interface TokenWithOrigin {
  readonly token: string;
  readonly from: string;
}

export interface Connection {
  readonly baseUrl: string;
  readonly fetch?: Fetch | undefined;
  readonly token: TokenWithOrigin | null;
  /** How long a call is retried while no connection can be made; default: the client's limit. */
  readonly maxUnreachableMs?: number | undefined;
  /** How long a failing call is retried or waits; default: the client's limit. */
  readonly maxElapsedMs?: number | undefined;
  /** The database of the server, if the profile belongs to a server on this machine. */
  readonly servedDb?: string | undefined;
  /** The last error of the database in this process. */
  failure?(): Error | null;
  close(): Promise<void>;
}

/** The base URL of a database in this process; nothing listens there. */
export const inProcessUrl = 'http://127.0.0.1';

export interface ClientNeeds extends Pick<Connection, 'maxUnreachableMs'> {
  /** If false, requests carry no token. */
  readonly needsToken: boolean;
}

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

/** Requests without a token are sent as the owner of the database. */
function asOwner({ fetch, ownerToken }: Instance): Fetch {
  return (request) => {
    if (!request.headers.has('authorization')) request.headers.set('authorization', `Bearer ${ownerToken}`);
    return fetch(request);
  };
}

/** A person on the machine of the service learns soon that it does not run. */
const LOOPBACK_TIMEOUT_MS = 500;

const isLoopback = (baseUrl: string): boolean => /^https?:\/\/(localhost|127\.[\d.]+|\[::1\])(:|\/|$)/i.test(baseUrl);

/** An obstacle to writing a database file either passes soon or needs a person. */
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

/** Opens the service on a database, without a socket. Throws `LocalError` for a missing database unless `create` is set. */
export async function openInstance(db: string, { io, flags }: Invocation, how: OpenOptions): Promise<Instance> {
  if (!how.create) checkExists(db, [['A new one:', '--create']]);
  const masterKey = readMasterKey(io, flags);
  const server = await import('../../server/runtime.ts');
  return server.openInstance({ db, masterKey, clock: io.now, ...how });
}

/** Runs work as the owner of a database in this process; settings and `-v` do not apply to its requests. */
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

export function clientOptions(
  { baseUrl, token, fetch, maxUnreachableMs, maxElapsedMs }: Connection,
  hooks: RequestHooks,
  { timeoutMs, maxRetries, maxWaitMs }: Settings,
  { version, timing }: Io,
): ClientOptions {
  return {
    ...hooks,
    ...{ baseUrl, fetch, timing, timeoutMs, maxRetries, maxElapsedMs },
    token: token?.token,
    userAgent: `lkm/${version}`,
    maxWaitMs: maxElapsedMs === undefined ? maxWaitMs : Math.min(maxElapsedMs, maxWaitMs ?? maxElapsedMs),
    maxUnreachableMs: maxRetries === undefined ? maxUnreachableMs : undefined,
  };
}

export async function openClient(...opening: Parameters<typeof clientOptions>): Promise<Client> {
  const { createClient } = await import('../../client/client.ts');
  return createClient(clientOptions(...opening));
}
