import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, onTestFinished } from 'vitest';
import type { Instant } from '../../src/contract/scalars.ts';
import { readTraceparent } from '../../src/server/http/pipeline.ts';
import { createMetrics } from '../../src/server/metrics.ts';
import { test as it } from '../support/fixtures.ts';
import { startTestServer } from '../support/server.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const metrics = { host: '127.0.0.1', port: 0 };
const traceparent = `00-${TRACE}-${PARENT}-01`;

/** The value of each line of metrics whose name begins so. */
async function scrape(url: string, prefix: string): Promise<Record<string, number>> {
  const text = await (await fetch(url)).text();
  const lines = text.split('\n').filter((line) => line.startsWith(prefix));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
  );
}

describe('metrics', () => {
  it('count requests by route and status, commits, queues, sessions and jobs', async () => {
    await using server = await startTestServer({ metrics });
    const url = server.server.metricsUrl ?? '';
    const { body } = await server.call('POST', '/product', { name: 'Engine Pro' });
    const { body: made } = await server.call('POST', '/create-key', {
      productId: body.data.id,
      licenseType: 'floating',
      maxConcurrentSessions: 1,
    });
    const checkout = { productId: body.data.id, licenseKey: made.key };
    expect((await server.call('POST', '/key/checkout', checkout)).status).toBe(200);
    expect((await server.call('POST', '/key/checkout', checkout)).status).toBe(403);

    expect(await scrape(url, 'lkm_http_requests_total')).toEqual({
      'lkm_http_requests_total{method="POST",route="/product",status="201"}': 1,
      'lkm_http_requests_total{method="POST",route="/create-key",status="200"}': 1,
      'lkm_http_requests_total{method="POST",route="/key/checkout",status="200"}': 1,
      'lkm_http_requests_total{method="POST",route="/key/checkout",status="403"}': 1,
    });
    expect(await scrape(url, 'lkm_http_request_seconds_count')).toMatchObject({
      'lkm_http_request_seconds_count{method="POST",route="/key/checkout"}': 2,
    });
    const commits = await scrape(url, 'lkm_commit_');
    expect(commits.lkm_commit_seconds_count).toBeGreaterThan(2);
    expect(commits.lkm_commit_seconds_count).toBe(commits.lkm_commit_batch_size_count);
    expect(commits.lkm_commit_seconds_sum).toBeGreaterThan(0);
    expect(await scrape(url, 'lkm_sessions')).toEqual({ lkm_sessions: 1 });
    expect(await scrape(url, 'lkm_requests_')).toEqual({ lkm_requests_running: 0, lkm_requests_waiting: 0 });
    await expect.poll(() => scrape(url, 'lkm_outbox_rows')).toEqual({ lkm_outbox_rows: 0 });
    expect(await scrape(url, 'lkm_job_')).toMatchObject({
      'lkm_job_runs_total{job="checkpoints"}': expect.any(Number),
      'lkm_job_failures{job="checkpoints"}': 0,
    });
    expect(await scrape(url, 'process_resident')).toMatchObject({ process_resident_memory_bytes: expect.any(Number) });
  });

  it('are named as Prometheus wants: counters in _total, and nothing else', async () => {
    await using server = await startTestServer({ metrics });
    const text = await (await fetch(server.server.metricsUrl ?? '')).text();
    const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type]) => ({ name, type }));
    expect(types.length).toBeGreaterThan(30);
    expect(types.filter(({ name, type }) => name.endsWith('_total') !== (type === 'counter'))).toEqual([]);
  });

  it('are those of now, and without the database all but what is read from it', async () => {
    let runs = 0;
    const gone = async () => Promise.reject(new Error('the database is gone'));
    const repositories = { outbox: { count: gone }, sessions: { countAllLive: gone }, deliveries: { backlog: gone } };
    const own = createMetrics({
      store: { repositories: repositories as never },
      places: { load: () => ({ running: 1, waiting: 0 }) },
      now: () => '2026-11-21T12:00:00.000Z' as Instant,
      jobHealth: () => [{ name: 'cleanup', runs: ++runs, failures: 0 }] as never,
    });
    onTestFinished(() => own.close());
    const lines = (await own.print()).split('\n');
    expect(lines).toContain('lkm_job_runs_total{job="cleanup"} 1');
    expect(lines).toContain('lkm_requests_running 1');
    const readFromIt = /^(lkm_outbox_rows|lkm_sessions|lkm_webhook_events|lkm_webhook_oldest_seconds)[ {]/;
    expect(lines.filter((line) => readFromIt.test(line))).toEqual([]);
  });

  it('are served over few connections', async () => {
    await using server = await startTestServer({ metrics });
    const url = new URL(server.server.metricsUrl ?? '');
    const sockets = await Promise.all(
      Array.from({ length: 64 }, async () => {
        const socket = connect(Number(url.port), url.hostname);
        await once(socket, 'connect');
        return socket;
      }),
    );
    // Accepted, and not only in the queue of the system.
    await expect.poll(() => fetch(url).catch((error: Error) => error.message)).toBe('fetch failed');
    for (const socket of sockets) socket.destroy();
    await expect.poll(async () => (await fetch(url).catch(() => null))?.status).toBe(200);
  });

  it('count attempts to send events, what waits for them, and the age of the oldest', async ({ receiver }) => {
    const webhooks = { allowPrivate: true, timeoutMs: 1_000, schedule: [3_600] };
    await using server = await startTestServer({ metrics, webhooks });
    const url = server.server.metricsUrl ?? '';
    const breakOff = (response: ServerResponse) => {
      response.writeHead(200, { 'content-length': '10' }).write('.', () => response.destroy());
    };
    receiver.answer([204, 500, breakOff]);
    await server.call('POST', '/webhook', { url: receiver.url });
    for (const seen of [1, 2, 3]) {
      await expect.poll(() => receiver.received.length).toBe(seen);
      await expect.poll(() => scrape(url, 'lkm_webhook_events')).toEqual({ lkm_webhook_events: seen - 1 });
      if (seen < 3) await server.call('POST', '/customer', { name: 'Zoë' });
    }
    expect(await scrape(url, 'lkm_webhook_attempts')).toEqual({
      'lkm_webhook_attempts_total{result="accepted"}': 1,
      'lkm_webhook_attempts_total{result="refused"}': 1,
      'lkm_webhook_attempts_total{result="failed"}': 1,
    });
    const { lkm_webhook_lag_seconds_count: accepted } = await scrape(url, 'lkm_webhook_lag_seconds_count');
    const { lkm_webhook_oldest_seconds: age = 0 } = await scrape(url, 'lkm_webhook_oldest_seconds');
    expect([accepted, age > 0, age < 60]).toEqual([1, true, true]);
  });

  it('name no token, no key and no part of a path that is none of the contract', async () => {
    await using server = await startTestServer({ metrics });
    const licenseKey = 'AAAAA-BBBBB-CCCCC-DDDDD-EEEEE';
    await server.call('GET', `/key?productId=prod_x&licenseKey=${licenseKey}`);
    await server.call('GET', `/key/${licenseKey}`);
    const text = await (await fetch(server.server.metricsUrl ?? '')).text();
    expect(text).toContain('route="/key",status="400"');
    for (const secret of [licenseKey, server.adminToken]) expect(text).not.toContain(secret);
  });

  it('are not there unless they are asked for, and never beside the API', async () => {
    await using plain = await startTestServer();
    expect(plain.server.metricsUrl).toBeNull();
    await using server = await startTestServer({ metrics });
    for (const one of [plain, server]) expect((await fetch(`${one.server.url}/metrics`)).status).toBe(404);
    const url = server.server.metricsUrl ?? '';
    expect((await fetch(url, { method: 'POST' })).status).toBe(405);
    expect((await fetch(url.replace('/metrics', '/key/list'))).status).toBe(404);
    await server.server.close();
    await expect(fetch(url)).rejects.toThrow();
  });
});

describe('a trace', () => {
  it('is named in the line of the request', async () => {
    await using server = await startTestServer();
    await server.call('GET', '/token/self', undefined, { traceparent });
    expect(await server.logged({ route: '/token/self' })).toMatchObject({ traceId: TRACE, parentId: PARENT });
    await server.call('GET', '/token/self', undefined, { traceparent: `${traceparent}-x` });
    expect(await server.logged({ route: '/token/self' }, 1)).not.toHaveProperty('traceId');
  });

  it.each([
    [traceparent, { traceId: TRACE, parentId: PARENT }],
    [`cc-${TRACE}-${PARENT}-01-what-comes-later`, { traceId: TRACE, parentId: PARENT }],
    [null, null],
    ['', null],
    [`ff-${TRACE}-${PARENT}-01`, null],
    [`00-${TRACE}-${PARENT}-01-more`, null],
    [`00-${'0'.repeat(32)}-${PARENT}-01`, null],
    [`00-${TRACE}-${'0'.repeat(16)}-01`, null],
    [`00-${TRACE.toUpperCase()}-${PARENT}-01`, null],
    [`00-${TRACE}-${PARENT}`, null],
    [`00-${TRACE}-${PARENT}-01\nforged: line`, null],
  ])('is read from %j', (header, context) => {
    expect(readTraceparent(header)).toEqual(context);
  });
});
