import { createServer } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Instant } from '../contract/scalars.ts';
import { readEventContent } from '../service/numbering.ts';
import { type Commit, commits } from '../store/engine/driver.ts';
import type { Store } from '../store/store.ts';
import { type Address, bind } from './http/transport/bind.ts';
import type { JobHealth } from './jobs/job.ts';
import type { Places } from './places.ts';
import type { ObservedAttempt } from './webhooks/deliver.ts';

/** A finished request, with its route of the contract: the path itself may contain a key. */
export interface ObservedRequest {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly ms: number;
}

export interface MetricsSources {
  readonly store: Pick<Store, 'repositories'>;
  readonly places: Pick<Places, 'load'>;
  now(): Instant;
  jobHealth(): readonly JobHealth[];
}

/**
 * A connection above this number is closed at once: few programs scrape metrics, and they have no token that could be
 * limited.
 */
const MAX_CONNECTIONS = 64;

const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const COMMIT_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

/** An event that is repeated is delivered within days. */
const LAG_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600, 3_600, 86_400];

const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/** Serves `GET /metrics` on an address of its own: they are for the operator's network, not for callers (decision 0012). */
export async function serveMetrics(address: Address, sources: MetricsSources, onFailure: (error: unknown) => void) {
  const metrics = createMetrics(sources);
  const server = createServer({ headersTimeout: 10_000, requestTimeout: 10_000 }, async (request, response) => {
    if (request.url?.split('?')[0] !== '/metrics') return response.writeHead(404).end();
    if (request.method !== 'GET' && request.method !== 'HEAD') return response.writeHead(405).end();
    try {
      const text = await metrics.print();
      return response.writeHead(200, { 'Content-Type': metrics.contentType }).end(text);
    } catch (error) {
      onFailure(error);
      return response.writeHead(503).end();
    }
  });
  server.maxConnections = MAX_CONNECTIONS;
  const authority = await bind(server, address, '--metrics').catch((error: unknown) => {
    metrics.close();
    throw error;
  });
  return {
    ...metrics,
    url: `http://${authority}/metrics`,
    close() {
      server.close().closeAllConnections();
      metrics.close();
    },
  };
}

/** The metrics of one server. They name no token, key, webhook or address: routes, methods, status codes and counts only. */
export function createMetrics({ store, places, now, jobHealth }: MetricsSources) {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  // These sums of the gauges by type are gauges too, but names in _total belong to counters, to which `rate()` applies.
  for (const of of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${of}_total`);
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers });
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers });
  const histogram = (name: string, help: string, buckets: number[], labelNames: string[] = []) =>
    new Histogram({ name, help, buckets, labelNames, registers });

  const byEndpoint = ['method', 'route'];
  const requests = counter('lkm_http_requests_total', 'Requests, by endpoint and status.', [...byEndpoint, 'status']);
  const secondsHelp = 'Time until a response was ready.';
  const seconds = histogram('lkm_http_request_seconds', secondsHelp, REQUEST_BUCKETS, byEndpoint);
  const running = gauge('lkm_requests_running', 'Requests that run now.');
  const waiting = gauge('lkm_requests_waiting', 'Requests that wait for a place to run.');
  const batches = histogram('lkm_commit_batch_size', 'Changes that one commit made durable.', BATCH_BUCKETS);
  const commitSeconds = histogram('lkm_commit_seconds', 'Time of a commit, with its sync to disk.', COMMIT_BUCKETS);
  const jobRuns = counter('lkm_job_runs_total', 'Runs of a job that have ended.', ['job']);
  const jobFailures = gauge('lkm_job_failures', 'Consecutive failed runs of a job.', ['job']);
  const outboxRows = gauge('lkm_outbox_rows', 'Audit rows and events that have no seq yet.');
  const liveSessions = gauge('lkm_sessions', 'Sessions of floating licences that are live.');
  const attemptsHelp =
    'Attempts to send an event, by how they ended: accepted, refused with another status, failed without a whole response.';
  const attempts = counter('lkm_webhook_attempts_total', attemptsHelp, ['result']);
  for (const result of ['accepted', 'refused', 'failed']) attempts.inc({ result }, 0);
  const lag = histogram('lkm_webhook_lag_seconds', 'Time from an event until it was accepted.', LAG_BUCKETS);
  const oldestHelp = 'Age of the oldest event that some active webhook has not accepted.';
  const oldestSeconds = gauge('lkm_webhook_oldest_seconds', oldestHelp);
  const events = gauge('lkm_webhook_events', 'Events that wait until an active webhook has accepted them.');

  function readServer(): void {
    const load = places.load();
    running.set(load.running);
    waiting.set(load.waiting);
    jobRuns.reset();
    for (const { name: job, runs, failures } of jobHealth()) {
      jobRuns.inc({ job }, runs);
      jobFailures.set({ job }, failures);
    }
  }

  async function readDatabase(): Promise<void> {
    const { outbox, sessions, deliveries } = store.repositories;
    outboxRows.set(await outbox.count());
    liveSessions.set(await sessions.countAllLive(now()));
    const { oldest, waiting } = await deliveries.backlog();
    const ages = oldest.map(
      (content) => (Date.parse(now()) - Date.parse(readEventContent(content).created_at)) / 1_000,
    );
    oldestSeconds.set(Math.max(0, ...ages));
    events.set(waiting);
  }

  /** Removes the metrics that are read from the database; the other metrics stay. */
  function forgetDatabase(): void {
    for (const one of [outboxRows, liveSessions, oldestSeconds, events]) one.remove();
  }

  return {
    countRequest({ method, route, status, ms }: ObservedRequest): void {
      requests.inc({ method, route, status });
      seconds.observe({ method, route }, ms / 1_000);
    },
    countAttempt({ accepted, status, lagSeconds }: ObservedAttempt): void {
      // A 2xx response that was incomplete or too late is a failure, no refusal.
      const isRefusal = status !== null && (status < 200 || status > 299);
      attempts.inc({ result: accepted ? 'accepted' : isRefusal ? 'refused' : 'failed' });
      if (accepted) lag.observe(Math.max(0, lagSeconds));
    },
    async print(): Promise<string> {
      readServer();
      // Jobs and requests log the errors of the database.
      await readDatabase().catch(forgetDatabase);
      return registry.metrics();
    },
    contentType: registry.contentType,
    close: measureCommits((size, tookMs) => {
      batches.observe(size);
      commitSeconds.observe(tookMs / 1_000);
    }),
  };
}

/** Calls `take` for each commit of this process that has succeeded, until the function that it returns is called. */
function measureCommits(take: (size: number, ms: number) => void): () => void {
  const begun = new WeakMap<Commit, number>();
  const finish = (commit: Commit) => {
    const started = begun.get(commit);
    if (started === undefined || 'error' in commit) return;
    take(commit.size, performance.now() - started);
  };
  const subscribers = {
    start: (commit: Commit) => void begun.set(commit, performance.now()),
    end: (commit: Commit) => void (commit.isSynchronous && finish(commit)),
    asyncStart: () => {},
    asyncEnd: finish,
    error: () => {},
  };
  commits.subscribe(subscribers);
  return () => void commits.unsubscribe(subscribers);
}
