import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Instant } from '../../contract/scalars.ts';
import { type Commit, commits } from '../../store/engine/commits.ts';
import type { Store } from '../../store/store.ts';
import type { ConcurrencyLimit } from '../http/concurrency-limit.ts';
import type { JobHealth } from '../jobs/job.ts';
import type { ObservedAttempt } from '../webhooks/deliver.ts';
import { measureWebhooks } from './webhook-metrics.ts';
import { whereReadable } from './where-readable.ts';

/** A request that has its response. The route is that of the contract: the path itself may contain a key. */
export interface Observed {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly ms: number;
}

/** The metrics of one server. */
export interface Metrics {
  /** Counts a request that has its response. */
  count(observed: Observed): void;
  /** Counts an attempt to send an event to a webhook. */
  countAttempt(attempt: ObservedAttempt): void;
  /** The text of all of them, as Prometheus reads it. */
  print(): Promise<string>;
  readonly contentType: string;
  /** Counts no more. */
  close(): void;
}

/** What is looked at when the metrics are asked for. */
export interface MetricsSources {
  readonly store: Pick<Store, 'repositories'>;
  readonly concurrencyLimit: Pick<ConcurrencyLimit, 'load'>;
  now(): Instant;
  jobHealth(): readonly JobHealth[];
}

/** In seconds. */
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const COMMIT_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/** Names no token, key or address: routes, methods, status codes and counts only. */
export function createMetrics({ store, concurrencyLimit, now, jobHealth }: MetricsSources): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: 'lkm_http_requests_total',
    help: 'Requests, by endpoint and status.',
    labelNames: ['method', 'route', 'status'],
    registers,
  });
  const seconds = new Histogram({
    name: 'lkm_http_request_seconds',
    help: 'Time until a response was ready.',
    labelNames: ['method', 'route'],
    buckets: REQUEST_BUCKETS,
    registers,
  });
  const batches = new Histogram({
    name: 'lkm_commit_batch_size',
    help: 'Changes that one commit made durable.',
    buckets: BATCH_BUCKETS,
    registers,
  });
  const commitSeconds = new Histogram({
    name: 'lkm_commit_seconds',
    help: 'Time of a commit, with its sync to disk.',
    buckets: COMMIT_BUCKETS,
    registers,
  });
  const gauge = (name: string, help: string, read: () => number | Promise<number>) =>
    new Gauge({ name, help, registers, collect: whereReadable(async (own) => own.set(await read())) });
  gauge('lkm_requests_running', 'Requests that run now.', () => concurrencyLimit.load().running);
  gauge('lkm_requests_waiting', 'Requests that wait for a place to run.', () => concurrencyLimit.load().waiting);
  gauge('lkm_outbox_rows', 'Audit rows and events that have no seq yet.', () => store.repositories.outbox.count());
  gauge('lkm_sessions', 'Sessions of floating licences that are live.', () =>
    store.repositories.sessions.countAllLive(now()),
  );
  const jobGauge = (name: string, help: string, read: (job: JobHealth) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['job'],
      registers,
      collect() {
        for (const job of jobHealth()) this.set({ job: job.name }, read(job));
      },
    });
  jobGauge('lkm_job_runs', 'Runs of a job that have ended.', ({ runs }) => runs);
  jobGauge('lkm_job_failures', 'Consecutive failed runs of a job.', ({ failures }) => failures);

  const countAttempt = measureWebhooks(registry, { store, now });
  const stopMeasuring = measureCommits(({ size, seconds }) => {
    batches.observe(size);
    commitSeconds.observe(seconds);
  });

  return {
    count({ method, route, status, ms }) {
      requests.inc({ method, route, status });
      seconds.observe({ method, route }, ms / 1_000);
    },
    countAttempt,
    print: () => registry.metrics(),
    contentType: registry.contentType,
    close: stopMeasuring,
  };
}

/** Calls `take` for each commit of this process that has succeeded, until the function that it returns is called. */
function measureCommits(take: (commit: { readonly size: number; readonly seconds: number }) => void): () => void {
  const begun = new WeakMap<Commit, number>();
  const finish = (commit: Commit) => {
    const started = begun.get(commit);
    if (started === undefined || 'error' in commit) return;
    take({ size: commit.size, seconds: (performance.now() - started) / 1_000 });
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
