import type { Logger } from 'pino';
import { readNetworks } from '../domain/networks.ts';
import { createFirstToken } from '../service/tokens.ts';
import { watchClock } from './clock-watch.ts';
import { createApp } from './http/app.ts';
import { trustProxies } from './http/client-address.ts';
import { createConcurrencyLimit, DEFAULT_REQUEST_LIMITS } from './http/concurrency-limit.ts';
import { createEventStreams, type EventStreams } from './http/event-streams.ts';
import { createMemoryCounter, createSharedCounter } from './http/rate-counters.ts';
import { createRateLimiter, DEFAULT_REQUESTS_PER_MINUTE, type RateLimiter } from './http/rate-limit.ts';
import { isLoopback } from './http/transport/bind.ts';
import { type ListenOptions, listen } from './http/transport/listen.ts';
import { backupJob } from './jobs/backups.ts';
import { checkpointJob } from './jobs/checkpoints.ts';
import { cleanupJob } from './jobs/cleanup.ts';
import { DELIVERIES, deliveryCleanupJob, deliveryJob } from './jobs/deliveries.ts';
import { expiryJob } from './jobs/expiry.ts';
import { createJobs, type Job, type Jobs } from './jobs/job.ts';
import { gather, SEQUENCER, sequenceNow, sequencerJob } from './jobs/sequencer.ts';
import { openLog } from './log.ts';
import { checkExposure } from './preflight.ts';
import { type Base, openBase } from './runtime.ts';
import type { RunningServer, ServeOptions } from './serve-options.ts';
import type { ServedMetrics } from './telemetry/listen.ts';
import type { MetricsSources } from './telemetry/metrics.ts';
import { createTokenUses, type TokenUses } from './token-uses.ts';
import type { DeliveryParts } from './webhooks/deliver.ts';
import { createDeliverer, type Deliverer } from './webhooks/deliverer.ts';
import { createPace } from './webhooks/pace.ts';
import { createSender } from './webhooks/send.ts';

export { createSelfSigned } from './http/transport/self-signed.ts';
export { createLogSink } from './log.ts';
export type { RunningServer, ServeOptions } from './serve-options.ts';
export { createTestClock } from './test-clock.ts';

/** Starts the service on a database; resolves once it listens. Throws StartupError when it cannot. */
export async function startServer(options: ServeOptions): Promise<RunningServer> {
  checkExposure(options);
  const opened = new AsyncDisposableStack();
  try {
    return await open(options, opened);
  } catch (error) {
    // The first failure is reported; a failure to close after it is not.
    await opened.disposeAsync().catch(() => {});
    throw error;
  }
}

/** Opens the parts of a server one after the other. Each is put on `opened`, which closes the last one first. */
async function open(options: ServeOptions, opened: AsyncDisposableStack): Promise<RunningServer> {
  const { log, flush } = await openLog(options.logFormat, options.logTo);
  opened.defer(flush);
  const base = await openDatabase(options, log);
  const { store, parts } = base;
  opened.defer(() => store.close());
  opened.defer(() => sequenceNow(store));
  const backup = options.backups === undefined ? null : backupJob(options.db, options.backups, parts);
  const uses = createTokenUses(store);
  // Without a database the days of the last uses are lost, and the server ends all the same.
  opened.defer(() => uses.flush().catch(() => {}));

  const jobs = createJobs({ store, log, testClock: parts.testClock });
  const eventStreams = createEventStreams();
  const { onNumbered, onRecorded } = followUps(base, jobs, eventStreams);
  const concurrencyLimit = createConcurrencyLimit({ ...DEFAULT_REQUEST_LIMITS, ...options.requests });
  const sources = { store, concurrencyLimit, now: parts.now, jobHealth: jobs.health };
  const metrics = await openMetrics(options, sources, log);
  opened.defer(async () => metrics?.close());
  const recording = { ...parts, onRecorded };
  const pace = createPace(concurrencyLimit);
  const deliverer = openDeliverer(
    { ...recording, log, pace, onAttempt: metrics?.countAttempt, clockWatch: watchClock(base.clocks) },
    options.webhooks,
    opened,
  );
  opened.defer(jobs.stop);

  const app = createApp({
    ...recording,
    log,
    concurrencyLimit,
    eventStreams,
    onRequest: metrics?.countRequest,
    addressOf: trustProxies(options.behindProxy ?? []),
    limiter: limiterOf(base, options, log),
    noteUse: uses.note,
    door: 'http',
  });
  const listener = await listen(app, listenOptions(options, log));
  opened.defer(listener.close);
  // Before the listener: streams have no end of their own that it could wait for.
  opened.defer(eventStreams.close);
  store.publishUrl(listener.url);
  // Not before it listens: who starts a server that cannot is not told the token.
  const created = await makeFirstToken(base);
  if (store.isOnlyWriter) await store.transaction(({ webhooks }) => webhooks.releaseAll());
  jobs.start(listJobs(base, { recording, onNumbered, deliverer, uses, backup }));
  if (!base.numbersInCommit) jobs.wake(SEQUENCER);
  if (backup !== null) jobs.wake(backup.name);

  const { url, port, reloadTls } = listener;
  return {
    url,
    port,
    reloadTls,
    metricsUrl: metrics?.url ?? null,
    created,
    db: options.db,
    secrets: store.secrets,
    isNew: base.created,
    jobHealth: jobs.health,
    close: () => opened.disposeAsync(),
  };
}

/** Opens the database, as a server does, and logs what is wrong with it. */
async function openDatabase({ db, masterKey = null, webhooks, clock }: ServeOptions, log: Logger) {
  const { allowPrivate = false } = webhooks ?? {};
  const base = await openBase(db, { masterKey, allowPrivate, migrate: true }, clock);
  for (const warning of base.store.warnings) log.warn(warning);
  return base;
}

async function openMetrics(options: ServeOptions, sources: MetricsSources, log: Logger): Promise<ServedMetrics | null> {
  if (options.metrics === undefined) return null;
  // Loaded only where it is used.
  const { serveMetrics } = await import('./telemetry/listen.ts');
  return serveMetrics(options.metrics, sources, (error) => log.error({ err: error }, 'metrics failed'));
}

/** What follows when something was recorded: it is numbered, then streams and webhooks get it. */
function followUps({ numbersInCommit }: Base, jobs: Jobs, eventStreams: EventStreams) {
  const onNumbered = () => {
    jobs.wake(DELIVERIES);
    eventStreams.notify();
  };
  return { onNumbered, onRecorded: gather(numbersInCommit ? onNumbered : () => jobs.wake(SEQUENCER)) };
}

function openDeliverer(
  parts: Omit<DeliveryParts, 'sender'> & Pick<Base['parts'], 'newRequestId'>,
  options: ServeOptions['webhooks'],
  opened: AsyncDisposableStack,
): Deliverer {
  const { schedule, leaseSeconds, allowPrivate = false, ...sending } = options ?? {};
  const sender = createSender({ allowPrivate, ...sending });
  opened.defer(async () => sender.close());
  const deliverer = createDeliverer({ ...parts, sender, schedule, leaseSeconds }, parts.newRequestId);
  opened.defer(deliverer.stop);
  return deliverer;
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
  return createRateLimiter(counter, rateLimit, lookupLimit);
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
    ...(numbersInCommit ? [] : [sequencerJob(store, recording.onRecorded, onNumbered)]),
    checkpointJob(store, parts),
    deliveryJob(deliverer, !store.isOnlyWriter),
    deliveryCleanupJob(parts),
    uses.job,
    ...(store.rates === null ? [] : [{ name: 'rates', everyMs: 60_000, run: store.rates.removeEmpty }]),
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
