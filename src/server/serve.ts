import type { Logger } from 'pino';
import { readNetworks } from '../domain/networks.ts';
import { createFirstToken } from '../service/tokens.ts';
import type { Store } from '../store/store.ts';
import { createApp } from './http/app.ts';
import { trustProxies } from './http/client-address.ts';
import { createConcurrencyLimit, DEFAULT_REQUEST_LIMITS } from './http/concurrency-limit.ts';
import { createEventSignal, type EventSignal } from './http/events/event-signal.ts';
import { createStreamPlaces } from './http/events/stream-places.ts';
import { type Listener, type ListenOptions, listen } from './http/listen.ts';
import { isLoopback } from './http/loopback.ts';
import { createMemoryCounter, createSharedCounter } from './http/rate-counters.ts';
import { createRateLimiter, DEFAULT_REQUESTS_PER_MINUTE, type RateLimiter } from './http/rate-limit.ts';
import { backupJob } from './jobs/backups.ts';
import { cleanupJob } from './jobs/cleanup.ts';
import { DELIVERIES, deliveryCleanupJob, deliveryJob } from './jobs/deliveries.ts';
import { expiryJob } from './jobs/expiry.ts';
import { type Job, type Jobs, startJobs } from './jobs/job.ts';
import { ratesJob } from './jobs/rates.ts';
import { checkpointJob, gather, SEQUENCER, sequenceNow, sequencerJob } from './jobs/sequencer.ts';
import { openLog } from './log.ts';
import { checkExposure } from './preflight.ts';
import { type Base, openBase } from './runtime.ts';
import type { RunningServer, ServeOptions } from './serve-options.ts';
import { type OpenTelemetry, openTelemetry } from './telemetry/open.ts';
import { logStandbys } from './telemetry/standbys.ts';
import { createTokenUses, type TokenUses } from './token-uses.ts';
import { createDeliverer, type Deliverer } from './webhooks/deliverer.ts';
import { createPace } from './webhooks/pace.ts';
import { createSender, type Sender } from './webhooks/send.ts';

export { createSelfSigned } from './http/self-signed.ts';
export { createLogSink } from './log.ts';
export type { RunningServer, ServeOptions } from './serve-options.ts';
export { createTestClock } from './test-clock.ts';

/** Starts the service on a database; resolves once it listens. Throws StartupError when it cannot. */
export async function startServer(options: ServeOptions): Promise<RunningServer> {
  checkExposure(options);
  const addressOf = trustProxies(options.behindProxy ?? []);
  const { schedule, leaseSeconds, allowPrivate = false, ...sending } = options.webhooks ?? {};
  const opening = { masterKey: options.masterKey ?? null, allowPrivate, standbys: options.standbys ?? [] };
  const base = await openBase(options.db, opening, options.clock);
  const { store, numbersInCommit, parts } = base;
  const eventSignal = createEventSignal();
  const sender = createSender({ allowPrivate, ...sending });
  let listener: Listener | undefined;
  let telemetry: OpenTelemetry | undefined;
  let jobs: Jobs | undefined;
  const onNumbered = () => {
    jobs?.wake(DELIVERIES);
    eventSignal.notify();
  };
  const onRecorded = gather(numbersInCommit ? onNumbered : () => jobs?.wake(SEQUENCER));
  try {
    const backup = options.backups === undefined ? null : backupJob(options.db, options.backups, parts);
    const { log, flush } = await openLog(options.logFormat, options.logTo);
    for (const warning of store.warnings) log.warn(warning);
    logStandbys(store.standbys, log);
    const uses = createTokenUses(store);
    const concurrencyLimit = createConcurrencyLimit({ ...DEFAULT_REQUEST_LIMITS, ...options.requests });
    telemetry = await openTelemetry(
      options.metrics,
      { store, concurrencyLimit, now: parts.now, jobHealth: () => jobs?.health() ?? [] },
      (error) => log.error({ err: error }, 'metrics failed'),
    );
    const app = createApp({
      ...parts,
      ...{ log, addressOf, concurrencyLimit, onRecorded, eventSignal },
      limiter: limiterOf(base, options, log),
      noteUse: uses.note,
      telemetry: telemetry.telemetry,
      streamPlaces: createStreamPlaces(),
      door: 'http',
    });
    listener = await listen(app, listenOptions(options, log));
    store.publishUrl(listener.url);
    // Not before it listens: who starts a server that cannot is not told the token.
    const created = await makeFirstToken(base);
    const recording = { ...parts, onRecorded };
    const onAttempt = telemetry.telemetry?.metrics?.countAttempt;
    const pace = createPace(concurrencyLimit);
    const delivering = { ...recording, log, sender, schedule, leaseSeconds, pace, onAttempt };
    const deliverer = createDeliverer(delivering, parts.newRequestId);
    if (store.isOnlyWriter) await store.transaction(({ webhooks }) => webhooks.releaseAll());
    const listed = listJobs(base, { recording, onNumbered, deliverer, uses, backup });
    jobs = startJobs(listed, { store, log, testClock: parts.testClock });
    if (!numbersInCommit) jobs.wake(SEQUENCER);
    if (backup?.claimRun?.()) jobs.wake(backup.name);
    const sequence = () => sequenceNow(store, parts);
    return {
      url: listener.url,
      port: listener.port,
      db: options.db,
      secrets: store.secrets,
      metricsUrl: telemetry.url,
      isNew: base.created,
      created,
      reloadTls: listener.reloadTls,
      jobHealth: jobs.health,
      close: closeAll(listener, { telemetry, jobs, eventSignal, deliverer, sender, store, uses, flush, sequence }),
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

/**
 * Makes the first token of a database that has never had one: mostly a new one. Null for others, and for one that this
 * server has not made and shares, whose other servers might make one too.
 */
async function makeFirstToken({ store, created, accountId, parts }: Base): Promise<RunningServer['created']> {
  if (!created && !store.isOnlyWriter) return null;
  return store.transaction(async (repositories) => {
    if ((await repositories.tokens.count(accountId)) > 0) return null;
    const adminToken = await createFirstToken(repositories, { ...parts, accountId, now: parts.now() });
    return { accountId, adminToken };
  });
}

/** Counts in this process while it has the database for itself, else in the database. */
function limiterOf({ store: { rates }, clocks }: Base, options: ServeOptions, log: Logger): RateLimiter | null {
  const { rateLimit = DEFAULT_REQUESTS_PER_MINUTE, lookupLimit } = options;
  const now = () => Math.floor(clocks.monotonic() * 1_000);
  const onFailure = (error: unknown) => log.error({ err: error }, 'rate limits cannot be counted');
  const counter = rates === null ? createMemoryCounter(now) : createSharedCounter(rates, { now, onFailure });
  return createRateLimiter({ now, counter }, rateLimit, lookupLimit);
}

interface JobSources {
  readonly recording: Base['parts'] & { onRecorded(): void };
  readonly deliverer: Deliverer;
  readonly uses: TokenUses;
  readonly backup: Job | null;
  onNumbered(): void;
}

/** The background work of a server on this database. */
function listJobs({ store, clocks, numbersInCommit, parts }: Base, sources: JobSources): Job[] {
  const { recording, onNumbered, deliverer, uses, backup } = sources;
  return [
    cleanupJob(clocks, recording),
    expiryJob(recording),
    ...(numbersInCommit ? [] : [sequencerJob(store, parts, recording.onRecorded, onNumbered)]),
    checkpointJob(store, parts),
    deliveryJob(deliverer, !store.isOnlyWriter),
    deliveryCleanupJob(parts),
    uses.job,
    ...(store.rates === null ? [] : [ratesJob(store.rates)]),
    ...(backup === null ? [] : [backup]),
  ];
}

function listenOptions(options: ServeOptions, log: Logger): ListenOptions {
  const { host, port, tls, drainMs, connections, behindProxy: proxies = [] } = options;
  return {
    host,
    port,
    ...(tls && { tls }),
    ...(drainMs !== undefined && { drainMs }),
    ...(connections && { limits: connections }),
    isProxy: readNetworks(proxies),
    onlyLoopbackHosts: isLoopback(host) && proxies.length === 0,
    onFailure: (error) => log.error({ err: error }, 'response broken off'),
  };
}

interface Closing {
  readonly telemetry: OpenTelemetry;
  readonly jobs: Jobs;
  readonly eventSignal: EventSignal;
  readonly deliverer: Deliverer;
  readonly sender: Sender;
  readonly store: Store;
  readonly uses: TokenUses;
  sequence(): Promise<unknown>;
  flush(): Promise<void>;
}

const closeAll =
  (listener: Listener, { telemetry, jobs, eventSignal, deliverer, sender, store, uses, sequence, flush }: Closing) =>
  async () => {
    eventSignal.close();
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
