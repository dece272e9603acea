import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Instant } from '../../contract/scalars.ts';
import { readEventContent } from '../../service/numbering.ts';
import type { Store } from '../../store/store.ts';
import type { ObservedAttempt } from '../webhooks/deliver.ts';
import { whereReadable } from './where-readable.ts';

/** In seconds: an event that is repeated is delivered within days. */
const LAG_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600, 3_600, 86_400];

/** Adds the metrics of webhooks; returns the function that counts an attempt. They name no webhook and no address. */
export function measureWebhooks(
  registry: Registry,
  { store, now }: { readonly store: Pick<Store, 'repositories'>; now(): Instant },
): (attempt: ObservedAttempt) => void {
  const registers = [registry];
  const attempts = new Counter({
    name: 'lkm_webhook_attempts_total',
    help: 'Attempts to send an event, by how they ended: accepted, refused with another status, failed without a whole response.',
    labelNames: ['result'],
    registers,
  });
  for (const result of ['accepted', 'refused', 'failed']) attempts.inc({ result }, 0);
  const lag = new Histogram({
    name: 'lkm_webhook_lag_seconds',
    help: 'Time from an event until it was accepted.',
    buckets: LAG_BUCKETS,
    registers,
  });
  const readBacklog = oncePerScrape(() => store.repositories.deliveries.backlog());
  new Gauge({
    name: 'lkm_webhook_oldest_seconds',
    help: 'Age of the oldest event that some active webhook has not accepted.',
    registers,
    collect: whereReadable(async (gauge) => {
      const { oldest } = await readBacklog();
      const ages = oldest.map((content) => secondsBetween(readEventContent(content).created_at, now()));
      gauge.set(Math.max(0, ...ages));
    }),
  });
  new Gauge({
    name: 'lkm_webhook_events',
    help: 'Events on their way to webhooks: waiting to be sent first, retrying after a failure, dead.',
    labelNames: ['state'],
    registers,
    collect: whereReadable<'state'>(
      async (gauge) => {
        const { waiting, retrying, dead } = await readBacklog();
        gauge.set({ state: 'waiting' }, waiting);
        gauge.set({ state: 'retrying' }, retrying);
        gauge.set({ state: 'dead' }, dead);
      },
      (gauge) => gauge.reset(),
    ),
  });
  return ({ accepted, status, lagSeconds }) => {
    attempts.inc({ result: accepted ? 'accepted' : isRefusal(status) ? 'refused' : 'failed' });
    if (accepted) lag.observe(Math.max(0, lagSeconds));
  };
}

/** Shares one reading among the metrics of a scrape, which are collected at the same time. */
function oncePerScrape<T>(read: () => Promise<T>): () => Promise<T> {
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
