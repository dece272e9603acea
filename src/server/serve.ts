import { isNetwork, readNetworks } from '../domain/ip-address.ts';
import { signatureHeaderProblem } from '../domain/webhooks/signature.ts';
import { createFirstToken } from '../service/accounts.ts';
import { StartupError } from '../store/errors.ts';
import type { MasterKey } from '../store/secret-box.ts';
import { type Base, type Clock, openBase } from './base.ts';
import { type App, createApp } from './http/app.ts';
import { trustProxies } from './http/client-address.ts';
import { createMemoryCounter, createSharedCounter } from './http/rate-counters.ts';
import { createRateLimiter, DEFAULT_REQUESTS_PER_MINUTE, type RateLimiter } from './http/rate-limit.ts';
import { type Address, isLoopback, onlyLoopbackHosts } from './http/transport/bind.ts';
import type { ConnectionLimits } from './http/transport/connections.ts';
import { listen, type Tls } from './http/transport/listen.ts';
import { type BackupSchedule, backupJob } from './jobs/backups.ts';
import { checkpointJob } from './jobs/checkpoints.ts';
import { cleanupJob } from './jobs/cleanup.ts';
import { DELIVERIES } from './jobs/deliveries.ts';
import { expiryJob } from './jobs/expiry.ts';
import { createJobs, type Job, type JobHealth } from './jobs/job.ts';
import { gather, SEQUENCER, sequenceNow, sequencerJob } from './jobs/sequencer.ts';
import type { Logger } from './log.ts';
import { type LogFormat, type LogSink, openLog } from './log.ts';
import type { MetricsSources } from './metrics.ts';
import { type PageOptions, readPageOptions } from './pages/customer/settings.ts';
import { createPlaces, type PlaceLimits } from './places.ts';
import { createReadingThread, hasReadingThread } from './reading/reading-thread.ts';
import { createTokenUses } from './token-uses.ts';
import { openWebhooks, type WebhookOptions } from './webhooks/open.ts';

export { tryAddress } from './http/transport/bind.ts';
export { createLogSink } from './log.ts';
export { createTestClock } from './test-clock.ts';

/** Options of {@link startServer}. */
export interface ServeOptions extends Address {
  /** The path of a SQLite file, which is created when it does not exist, or `postgres://…`. */
  readonly db: string;
  readonly tls?: Tls;
  /** How many connections to PostgreSQL it opens at most (17). */
  readonly dbConnections?: number;
  /** The master key under which the secrets of the database are sealed; null is plain. */
  readonly masterKey?: MasterKey | null;
  /** Networks (CIDR) of proxies whose `X-Forwarded-For` is believed. */
  readonly behindProxy?: readonly string[];
  readonly logFormat: LogFormat;
  /** The sink of the log; lines that it does not take are counted. */
  readonly logTo: LogSink;
  /** With a test clock the server has `POST /_test/clock`. */
  readonly clock?: Clock;
  /** Requests per minute and token; null is without limit. */
  readonly rateLimit?: number | null;
  /** Look-ups per minute of keys that do not exist, by one token at one address; null is without limit. */
  readonly lookupLimit?: number | null;
  readonly connections?: Partial<ConnectionLimits>;
  readonly requests?: Partial<PlaceLimits>;
  /** How webhooks are sent; by default to public addresses over HTTPS only. */
  readonly webhooks?: WebhookOptions;
  /** How long requests in flight may take when the server stops, in milliseconds (10 000). */
  readonly drainMs?: number;
  readonly backups?: BackupSchedule | undefined;
  /** The page on which customers free devices. */
  readonly page?: PageOptions | undefined;
  /** Serves metrics at this address, apart from the API; default: no metrics. */
  readonly metrics?: Address | undefined;
}

/** A server that accepts requests. */
export interface RunningServer {
  readonly url: string;
  readonly port: number;
  readonly db: string;
  /** How private keys and other secrets are kept. */
  readonly secrets: 'plain' | 'sealed';
  readonly metricsUrl: string | null;
  /** Whether the database was made now. */
  readonly isNew: boolean;
  /** Set for a database without tokens: its account, and its first admin token, which is shown nowhere else. */
  readonly created: { readonly accountId: string; readonly adminToken: string } | null;
  /** Replaces certificate and key for new connections; open connections keep the old ones. */
  reloadTls(tls: Tls): void;
  jobHealth(): readonly JobHealth[];
  /** Finishes running requests, within `drainMs`; then closes all connections, the jobs and the database. */
  close(): Promise<void>;
}

/** The sum exceeds the default number of connections (decision 0012). */
const REQUEST_LIMITS: PlaceLimits = { maxRunning: 256, maxWaiting: 1_024 };

/** Starts the service on a database; resolves once it listens. Throws StartupError when it cannot. */
export async function startServer(options: ServeOptions): Promise<RunningServer> {
  checkOptions(options);
  const opened = new AsyncDisposableStack();
  try {
    return await open(options, opened);
  } catch (error) {
    // Reports the first failure; ignores failures to close after it.
    await opened.disposeAsync().catch(() => {});
    throw error;
  }
}

/**
 * Throws StartupError for a header that cannot carry signatures, for proxies that are not networks, and for a host that
 * other machines reach without TLS and without a proxy.
 */
function checkOptions({ host, tls, behindProxy = [], webhooks: { signatureHeader: name } = {} }: ServeOptions): void {
  const why = name === undefined ? null : signatureHeaderProblem(name);
  if (why !== null) throw new StartupError(`'${name}' ${why}`, 'give another name for the signatures of webhooks');
  const wrong = behindProxy.find((text) => !isNetwork(text));
  if (wrong !== undefined) {
    throw new StartupError(`${wrong} is not a network of proxies`, 'in CIDR notation, as --behind-proxy 10.0.0.0/8');
  }
  if (isLoopback(host) || tls !== undefined || behindProxy.length > 0) return;
  throw new StartupError(
    `${host} is reached from other machines, where tokens could be overheard`,
    'give a certificate with --tls-cert and --tls-key, or name the proxy that has one with --behind-proxy',
  );
}

/** Opens the parts of a server one after the other, and puts each on `opened`, which closes them in reverse order. */
async function open(options: ServeOptions, opened: AsyncDisposableStack): Promise<RunningServer> {
  const { db, masterKey = null, clock, behindProxy = [], dbConnections: connections, webhooks = {} } = options;
  const { allowPrivate = false } = webhooks;
  const { log, flush } = await openLog(options.logFormat, options.logTo);
  opened.defer(flush);
  const base = await openBase(
    db,
    { masterKey, allowPrivate, migrate: true, ...(connections && { connections }) },
    clock,
  );
  const { store, parts } = base;
  opened.defer(() => store.close());
  opened.defer(() => sequenceNow(store));
  for (const warning of store.warnings) log.warn(warning);
  const backup = options.backups === undefined ? null : backupJob(db, options.backups, parts);
  const uses = createTokenUses(store);
  // If the database fails, the days of last use are lost; the server stops anyway.
  opened.defer(() => uses.flush().catch(() => {}));

  const jobs = createJobs({ store, log, testClock: parts.testClock });
  // Changes that are recorded get their numbers first, and are then sent to webhooks.
  const onNumbered = () => jobs.wake(DELIVERIES);
  const onRecorded = gather(base.numbersInCommit ? onNumbered : () => jobs.wake(SEQUENCER));
  const reading = store.file && hasReadingThread() ? createReadingThread(store.file, masterKey) : undefined;
  opened.defer(() => reading?.close());
  const recording = { ...parts, onRecorded, log, reading };
  const places = createPlaces('requests', { ...REQUEST_LIMITS, ...options.requests });
  const metrics = await openMetrics(options, { store, places, now: parts.now, jobHealth: jobs.health }, log);
  opened.defer(() => metrics?.close());

  const sending = { ...recording, onAttempt: metrics?.countAttempt };
  const webhookJobs = openWebhooks(webhooks, sending, (close) => opened.defer(close));
  opened.defer(jobs.stop);

  let ownUrl: string | null = null;
  const app = createApp({
    ...recording,
    places,
    onRequest: metrics?.countRequest,
    addressOf: trustProxies(behindProxy),
    limiter: limiterOf(base, options, log),
    noteUse: uses.note,
    page: readPageOptions(options.page ?? {}, () => ownUrl),
    door: 'http',
  });
  const listener = await startListening(app, options, { ...parts, log });
  opened.defer(listener.close);
  ownUrl = listener.url;
  store.publishUrl(listener.url);
  // After it listens: a server that fails to start makes no token, and the next start does.
  const created = await makeFirstToken(base);
  if (store.isOnlyWriter) await store.transaction(({ webhooks }) => webhooks.releaseAll());
  const background: readonly (Job | null)[] = [
    cleanupJob(base.clocks, recording),
    expiryJob(recording),
    base.numbersInCommit ? null : sequencerJob(store, onRecorded, onNumbered),
    checkpointJob(store, parts),
    ...webhookJobs,
    uses.job,
    store.rates && { name: 'rates', everyMs: 60_000, run: store.rates.removeEmpty },
    backup,
  ];
  jobs.start(background.filter((job) => job !== null));
  jobs.wake(SEQUENCER);
  if (backup !== null) jobs.wake(backup.name);
  return {
    ...listener,
    metricsUrl: metrics?.url ?? null,
    created,
    db,
    secrets: store.secrets,
    isNew: base.created,
    jobHealth: jobs.health,
    close: () => opened.disposeAsync(),
  };
}

function startListening(
  app: App,
  options: ServeOptions,
  { log, monotonic }: { readonly log: Logger; monotonic(): number },
) {
  const { host, behindProxy = [], connections: limits } = options;
  const isLocal = isLoopback(host) && behindProxy.length === 0;
  return listen(app, {
    ...options,
    limits,
    isProxy: readNetworks(behindProxy),
    isHostAllowed: isLocal ? onlyLoopbackHosts(log, monotonic) : undefined,
    onFailure: (error) => log.error({ err: error }, 'response broken off'),
  });
}

async function openMetrics({ metrics }: ServeOptions, sources: MetricsSources, log: Logger) {
  if (metrics === undefined) return null;
  // Imported on use.
  const { serveMetrics } = await import('./metrics.ts');
  return serveMetrics(metrics, sources, (error) => log.error({ err: error }, 'metrics failed'));
}

/**
 * Makes the first token of a database without tokens. Null for a database with tokens, and for an existing shared database,
 * where another server might make a second token.
 */
async function makeFirstToken({ store, created, accountId, parts }: Base): Promise<RunningServer['created']> {
  if (!created && !store.isOnlyWriter) return null;
  return store.transaction(async (repositories) => {
    if ((await repositories.tokens.list(accountId).count()) > 0) return null;
    const adminToken = await createFirstToken(repositories, { ...parts, accountId, now: parts.now() });
    return { accountId, adminToken };
  });
}

/** Rate limits in this process if it owns the database, else in the database. */
function limiterOf({ store: { rates }, clocks }: Base, options: ServeOptions, log: Logger): RateLimiter {
  const { rateLimit: requestsPerMinute = DEFAULT_REQUESTS_PER_MINUTE, lookupLimit: missesPerMinute } = options;
  const now = () => Math.floor(clocks.monotonic() * 1_000);
  const onFailure = (error: unknown) => log.error({ err: error }, 'rate limits cannot be counted');
  const counter = rates === null ? createMemoryCounter(now) : createSharedCounter(rates, { now, onFailure });
  const publicCounter = createMemoryCounter(now);
  return createRateLimiter(counter, { requestsPerMinute, missesPerMinute, publicCounter });
}
