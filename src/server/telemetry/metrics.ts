import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Instant } from '../../contract/scalars.ts';
import { readEventContent } from '../../service/numbering.ts';
import { type Commit, commits } from '../../store/engine/driver.ts';
import type { Store } from '../../store/store.ts';
import type { ConcurrencyLimit } from '../http/concurrency-limit.ts';
import type { JobHealth } from '../jobs/job.ts';
import type { ObservedAttempt } from '../webhooks/deliver.ts';

/** A request that has its response. The route is that of the contract: the path itself may contain a key. */
interface Observed {
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

/** An event that is repeated is delivered within days. */
const LAG_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600, 3_600, 86_400];

const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/** Names no token, key, webhook or address: routes, methods, status codes and counts only. */
export function createMetrics({ store, concurrencyLimit, now, jobHealth }: MetricsSources): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // Sums of those by type, and gauges: a name in _total is that of a counter, to which `rate()` applies.
  for (const of of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${of}_total`);
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers: [registry] });
  const histogram = (name: string, help: string, buckets: number[], labelNames: string[] = []) =>
    new Histogram({ name, help, buckets, labelNames, registers: [registry] });
  const gauge = makerOfGauges(registry);

  const requests = counter('lkm_http_requests_total', 'Requests, by endpoint and status.', [
    'method',
    'route',
    'status',
  ]);
  const seconds = histogram('lkm_http_request_seconds', 'Time until a response was ready.', REQUEST_BUCKETS, [
    'method',
    'route',
  ]);
  const batches = histogram('lkm_commit_batch_size', 'Changes that one commit made durable.', BATCH_BUCKETS);
  const commitSeconds = histogram('lkm_commit_seconds', 'Time of a commit, with its sync to disk.', COMMIT_BUCKETS);
  gauge('lkm_requests_running', 'Requests that run now.', () => concurrencyLimit.load().running);
  gauge('lkm_requests_waiting', 'Requests that wait for a place to run.', () => concurrencyLimit.load().waiting);
  const { outbox, sessions, deliveries } = store.repositories;
  gauge('lkm_outbox_rows', 'Audit rows and events that have no seq yet.', () => outbox.count());
  gauge('lkm_sessions', 'Sessions of floating licences that are live.', () => sessions.countAllLive(now()));
  new Counter({
    ...{
      name: 'lkm_job_runs_total',
      help: 'Runs of a job that have ended.',
      labelNames: ['job'],
      registers: [registry],
    },
    collect() {
      this.reset();
      for (const { name, runs } of jobHealth()) this.inc({ job: name }, runs);
    },
  });
  gauge(
    'lkm_job_failures',
    'Consecutive failed runs of a job.',
    () => jobHealth().map(({ name, failures }) => [name, failures] as const),
    'job',
  );

  const attempts = counter(
    'lkm_webhook_attempts_total',
    'Attempts to send an event, by how they ended: accepted, refused with another status, failed without a whole response.',
    ['result'],
  );
  for (const result of ['accepted', 'refused', 'failed']) attempts.inc({ result }, 0);
  const lag = histogram('lkm_webhook_lag_seconds', 'Time from an event until it was accepted.', LAG_BUCKETS);
  const readBacklog = shared(() => deliveries.backlog());
  gauge(
    'lkm_webhook_oldest_seconds',
    'Age of the oldest event that some active webhook has not accepted.',
    async () => {
      const { oldest } = await readBacklog();
      const ages = oldest.map((content) => secondsBetween(readEventContent(content).created_at, now()));
      return Math.max(0, ...ages);
    },
  );
  gauge(
    'lkm_webhook_events',
    'Events on their way to webhooks: waiting to be sent first, retrying after a failure, dead.',
    async () => {
      const { waiting, retrying, dead } = await readBacklog();
      return Object.entries({ waiting, retrying, dead });
    },
    'state',
  );
  const stopMeasuring = measureCommits(({ size, seconds }) => {
    batches.observe(size);
    commitSeconds.observe(seconds);
  });

  return {
    count({ method, route, status, ms }) {
      requests.inc({ method, route, status });
      seconds.observe({ method, route }, ms / 1_000);
    },
    countAttempt({ accepted, status, lagSeconds }) {
      attempts.inc({ result: accepted ? 'accepted' : isRefusal(status) ? 'refused' : 'failed' });
      if (accepted) lag.observe(Math.max(0, lagSeconds));
    },
    print: () => registry.metrics(),
    contentType: registry.contentType,
    close: stopMeasuring,
  };
}

/** A value, or one for each value of a label. */
type Reading = number | readonly (readonly [label: string, value: number])[];

/**
 * Makes gauges that are read when they are asked for. Without the database those that are read from it are absent, and all
 * other metrics are there: that is when they are looked at.
 */
const makerOfGauges =
  (registry: Registry) =>
  (name: string, help: string, read: () => Reading | Promise<Reading>, label?: string): Gauge =>
    new Gauge({
      ...{ name, help, labelNames: label === undefined ? [] : [label], registers: [registry] },
      async collect() {
        try {
          const found = await read();
          if (typeof found === 'number') this.set(found);
          else for (const [of, value] of found) this.set({ [label ?? '']: of }, value);
        } catch {
          // Jobs and requests log what is wrong with the database.
          if (label === undefined) this.remove();
          else this.reset();
        }
      },
    });

/** Shares one reading among the metrics of a scrape, which are collected at the same time. */
function shared<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | null = null;
  return () => {
    reading ??= read().finally(() => {
      reading = null;
    });
    return reading;
  };
}

/** A response of 2xx that was not whole, or too late, is none. */
const isRefusal = (status: number | null): boolean => status !== null && (status < 200 || status > 299);

const secondsBetween = (from: Instant, to: Instant): number => (Date.parse(to) - Date.parse(from)) / 1_000;

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
