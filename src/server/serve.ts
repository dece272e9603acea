import { scopesOf } from '../domain/access.ts';
import { newId } from '../domain/ids.ts';
import { hashToken, mintToken } from '../domain/token.ts';
import { createApp } from './http/app.ts';
import { trustProxies } from './http/client-address.ts';
import { listen, type Tls } from './http/listen.ts';
import { createRateLimiter, DEFAULT_REQUESTS_PER_MINUTE } from './http/rate-limit.ts';
import { startCleanup } from './jobs/cleanup.ts';
import { createLog, gatherLines, type LogFormat, type LogSink } from './log.ts';
import { type Base, openBase } from './runtime.ts';

/** How a server is to run. */
export interface ServeOptions {
  /** The path of a SQLite file, which is made when it is not there, or `postgres://…`. */
  readonly db: string;
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly tls?: Tls;
  /** Networks (CIDR) of proxies whose `X-Forwarded-For` is believed. */
  readonly behindProxy?: readonly string[];
  readonly logFormat: LogFormat;
  readonly logTo: LogSink;
  readonly clock?: () => number;
  /** Requests per minute and token; null is without limit. */
  readonly rateLimit?: number | null;
}

/** A server that accepts requests. */
export interface RunningServer {
  readonly url: string;
  readonly port: number;
  readonly db: string;
  /** Set when the database was new: its account, and an admin token that is shown nowhere else. */
  readonly created: { readonly accountId: string; readonly adminToken: string } | null;
  /** Finishes what is in flight, then closes the database. */
  close(): Promise<void>;
}

/** Starts the service on a database; resolves once it listens. Throws StartupError when it cannot. */
export async function startServer(options: ServeOptions): Promise<RunningServer> {
  const addressOf = trustProxies(options.behindProxy ?? []);
  const base = await openBase(options.db, {}, options.clock);
  try {
    const log = await createLog(options.logFormat, gatherLines(options.logTo));
    for (const warning of base.store.warnings) log.warn(warning);
    const perMinute = options.rateLimit === undefined ? DEFAULT_REQUESTS_PER_MINUTE : options.rateLimit;
    const limiter = perMinute === null ? null : createRateLimiter(perMinute);
    const created = base.created ? await firstToken(base) : null;
    const listener = await listen(createApp({ ...base.parts, log, limiter, addressOf }), options);
    base.store.announce(listener.url);
    const cleanup = startCleanup(base.store, log, base.clocks);
    return {
      url: listener.url,
      port: listener.port,
      db: options.db,
      created,
      close: async () => {
        await listener.close();
        await cleanup.stop();
        await base.store.close();
      },
    };
  } catch (error) {
    await base.store.close();
    throw error;
  }
}

/** Makes the admin token of a new database. */
async function firstToken({ accountId, parts }: Base): Promise<{ accountId: string; adminToken: string }> {
  const now = parts.now();
  const adminToken = mintToken('admin', parts.random(32));
  await parts.store.transaction((repositories) =>
    repositories.tokens.insert({
      accountId,
      id: newId('tok', now, parts.random(10)),
      hash: hashToken(adminToken),
      name: 'first admin token',
      kind: 'admin',
      scopes: scopesOf('admin', []),
      productIds: null,
      maxIssues: null,
      expiresAt: null,
      now,
    }),
  );
  return { accountId, adminToken };
}
