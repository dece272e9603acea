import type { Logger } from 'pino';
import { readNetworks } from '../domain/networks.ts';
import { createFirstToken } from '../service/tokens.ts';
import type { MasterKey } from '../store/secret-box.ts';
import type { Store } from '../store/store.ts';
import { createApp } from './http/app.ts';
import { trustProxies } from './http/client-address.ts';
import type { ConnectionLimits } from './http/connections.ts';
import { createNews, type News } from './http/events/news.ts';
import { type Listener, listen, type Tls } from './http/listen.ts';
import { isLoopback } from './http/loopback.ts';
import { createMemoryCounter, createSharedCounter } from './http/rate-counters.ts';
import { createRateLimiter, DEFAULT_REQUESTS_PER_MINUTE } from './http/rate-limit.ts';
import { createTurns, DEFAULT_REQUEST_LIMITS, type RequestLimits } from './http/turns.ts';
import { type BackupSchedule, backupJob } from './jobs/backups.ts';
import { cleanupJob } from './jobs/cleanup.ts';
import { DELIVERIES, deliveryCleanupJob, deliveryJob } from './jobs/deliveries.ts';
import { expiryJob } from './jobs/expiry.ts';
import { type JobHealth, type Jobs, startJobs } from './jobs/job.ts';
import { ratesJob } from './jobs/rates.ts';
import { checkpointJob, gather, SEQUENCER, sequenceNow, sequencerJob } from './jobs/sequencer.ts';
import { type LogFormat, type LogSink, openLog } from './log.ts';
import { checkExposure } from './preflight.ts';
import { type Clock, openBase } from './runtime.ts';
import type { MetricsAddress } from './telemetry/listen.ts';
import { type OpenTelemetry, openTelemetry } from './telemetry/open.ts';
import { logStandbys } from './telemetry/standbys.ts';
import { createTokenUses, type TokenUses } from './token-uses.ts';
import { createDeliverer, type Deliverer } from './webhooks/deliverer.ts';
import { createPace } from './webhooks/pace.ts';
import { createSender, type Sender, type SenderOptions } from './webhooks/send.ts';

export { createSelfSigned } from './http/self-signed.ts';
export { createLogSink } from './log.ts';
export { createTestClock } from './test-clock.ts';

/** How a server is to run. */
export interface ServeOptions {
  /** The path of a SQLite file, which is created when it does not exist, or `postgres://…`. */
  readonly db: string;
  /** Hot standbys (`postgres://…`) of it that reads may go to. */
  readonly standbys?: readonly string[];
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly tls?: Tls;
  /** What the secrets of the database are sealed under; null is plain. */
  readonly masterKey?: MasterKey | null;
  /** Networks (CIDR) of proxies whose `X-Forwarded-For` is believed. */
  readonly behindProxy?: readonly string[];
  readonly logFormat: LogFormat;
  /** Lines that it does not take are counted and otherwise ignored. */
  readonly logTo: LogSink;
  /** With a test clock the server has `POST /_test/clock`. */
  readonly clock?: Clock;
  /** Requests per minute and token; null is without limit. */
  readonly rateLimit?: number | null;
  /** Look-ups per minute of keys that do not exist, by one token at one address; null is without limit. */
  readonly lookupLimit?: number | null;
  /** What connections may use of the server. */
  readonly connections?: Partial<ConnectionLimits>;
  /** How many requests may run, and wait, at one time. */
  readonly requests?: Partial<RequestLimits>;
  /** How webhooks are sent; by default to public addresses over HTTPS only. */
  readonly webhooks?: WebhookOptions;
  /** How long requests in flight may take when the server stops, in milliseconds (10 000). */
  readonly drainMs?: number;
  /** Backs the database up while it serves. */
  readonly backups?: BackupSchedule | undefined;
  /** Serves metrics there, apart from the API; without it there are none. */
  readonly metrics?: MetricsAddress | undefined;
}

/** How webhooks are sent. */
export interface WebhookOptions extends Partial<SenderOptions> {
  /** The waits after failed attempts, in seconds; those of Standard Webhooks unless given. */
  readonly schedule?: readonly number[];
  /** How long the work of a server that has died waits for another, in seconds (60). */
  readonly leaseSeconds?: number;
}

/** A server that accepts requests. */
export interface RunningServer {
  readonly url: string;
  readonly port: number;
  readonly db: string;
  /** How private keys and other secrets are kept. */
  readonly secrets: 'plain' | 'sealed';
  /** Where the metrics are, or null. */
  readonly metricsUrl: string | null;
  /** Set when the database was new: its account, and an admin token that is shown nowhere else. */
  readonly created: { readonly accountId: string; readonly adminToken: string } | null;
  /** Takes another certificate and key for connections to come; those that are open go on. */
  reloadTls(tls: Tls): void;
  /** How the background work is doing. */
  jobHealth(): readonly JobHealth[];
  /** Finishes what is in flight, as long as `drainMs`; then closes all connections, the jobs and the database. */
  close(): Promise<void>;
}

/** Starts the service on a database; resolves once it listens. Throws StartupError when it cannot. */
export async function startServer(options: ServeOptions): Promise<RunningServer> {
  const proxies = options.behindProxy ?? [];
  const { backups } = options;
  checkExposure(options);
  const addressOf = trustProxies(proxies);
  const { schedule, leaseSeconds, allowPrivate = false, ...sending } = options.webhooks ?? {};
  const {
    store,
    accountId,
    created: isNew,
    numbersInCommit,
    clocks,
    parts,
  } = await openBase(
    options.db,
    { masterKey: options.masterKey ?? null, allowPrivate, standbys: options.standbys ?? [] },
    options.clock,
  );
  let listener: Listener | undefined;
  let jobs: Jobs | undefined;
  const news = createNews();
  const sender = createSender({ allowPrivate, ...sending });
  let telemetry: OpenTelemetry | undefined;
  const numbered = () => {
    jobs?.wake(DELIVERIES);
    news.announce();
  };
  const recorded = gather(numbersInCommit ? numbered : () => jobs?.wake(SEQUENCER));
  try {
    const backup = backups === undefined ? null : backupJob(options.db, backups, parts);
    const { log, flush } = await openLog(options.logFormat, options.logTo);
    for (const warning of store.warnings) log.warn(warning);
    logStandbys(store.standbys, log);
    const { rateLimit = DEFAULT_REQUESTS_PER_MINUTE, lookupLimit } = options;
    const limiter = createRateLimiter(rateParts(store, clocks.monotonic, log), rateLimit, lookupLimit);
    const adminToken = isNew
      ? await store.transaction((repositories) =>
          createFirstToken(repositories, { ...parts, accountId, now: parts.now() }),
        )
      : null;
    const uses = createTokenUses(store);
    const turns = createTurns({ ...DEFAULT_REQUEST_LIMITS, ...options.requests });
    telemetry = await openTelemetry(
      options.metrics,
      { store, turns, now: parts.now, jobHealth: () => jobs?.health() ?? [] },
      (error) => log.error({ err: error }, 'metrics failed'),
    );
    const arriving = { log, limiter, addressOf, turns, noteUse: uses.note, telemetry: telemetry.telemetry };
    const app = createApp({ ...parts, ...arriving, recorded, news, door: 'http' });
    listener = await listen(app, {
      host: options.host,
      port: options.port,
      ...(options.tls && { tls: options.tls }),
      ...(options.drainMs !== undefined && { drainMs: options.drainMs }),
      ...(options.connections && { limits: options.connections }),
      isProxy: readNetworks(proxies),
      onlyLoopbackHosts: isLoopback(options.host) && proxies.length === 0,
      onFailure: (error) => log.error({ err: error }, 'response broken off'),
    });
    store.publishUrl(listener.url);
    const recording = { ...parts, recorded };
    const attempted = telemetry.telemetry?.metrics?.countAttempt;
    const delivering = { ...recording, log, sender, schedule, leaseSeconds, pace: createPace(turns), attempted };
    const deliverer = createDeliverer(delivering, parts.newRequestId);
    if (store.isOnlyWriter) await store.transaction(({ webhooks }) => webhooks.releaseAll());
    jobs = startJobs(
      [
        cleanupJob(clocks, recording),
        expiryJob(recording),
        ...(numbersInCommit ? [] : [sequencerJob(store, parts, recorded, numbered)]),
        checkpointJob(store, parts),
        deliveryJob(deliverer, !store.isOnlyWriter),
        deliveryCleanupJob(parts),
        uses.job,
        ...(store.rates === null ? [] : [ratesJob(store.rates)]),
        ...(backup === null ? [] : [backup]),
      ],
      { store, log, testClock: parts.testClock },
    );
    if (!numbersInCommit) jobs.wake(SEQUENCER);
    if (backup?.isDue?.()) jobs.wake(backup.name);
    return {
      url: listener.url,
      port: listener.port,
      db: options.db,
      secrets: store.secrets,
      metricsUrl: telemetry.url,
      created: adminToken === null ? null : { accountId, adminToken },
      reloadTls: listener.reloadTls,
      jobHealth: jobs.health,
      close: closeAll(listener, {
        ...{ telemetry, jobs, news, deliverer, sender, store, uses, flush },
        sequence: () => sequenceNow(store, parts),
      }),
    };
  } catch (error) {
    // In this order: no request may meet a closed database.
    await listener?.close();
    await telemetry?.close();
    // The first failure is reported; a failure to close after it is not.
    await store.close().catch(() => {});
    throw error;
  }
}

/** Counts in this process while it has the database for itself, else in the database. */
function rateParts({ rates }: Store, monotonicMs: () => number, log: Logger) {
  const now = () => Math.floor(monotonicMs() * 1_000);
  const onFailure = (error: unknown) => log.error({ err: error }, 'rate limits cannot be counted');
  return { now, counter: rates === null ? createMemoryCounter(now) : createSharedCounter(rates, { now, onFailure }) };
}

interface Closing {
  readonly telemetry: OpenTelemetry;
  readonly jobs: Jobs;
  readonly news: News;
  readonly deliverer: Deliverer;
  readonly sender: Sender;
  readonly store: Store;
  readonly uses: TokenUses;
  sequence(): Promise<unknown>;
  flush(): Promise<void>;
}

const closeAll =
  (listener: Listener, { telemetry, jobs, news, deliverer, sender, store, uses, sequence, flush }: Closing) =>
  async () => {
    news.close();
    await listener.close();
    await telemetry.close();
    await jobs.stop();
    await deliverer.stop();
    sender.close();
    // Without a database the days of the last uses are lost, and the server ends all the same.
    await uses.flush().catch(() => {});
    await sequence();
    await store.close();
    await flush();
  };
