import { closeSync, openSync } from 'node:fs';
import { createApp } from '../src/server/http/app.ts';
import { trustProxies } from '../src/server/http/client-address.ts';
import { createLogSink } from '../src/server/log.ts';
import { openBase } from '../src/server/runtime.ts';
import { startServer } from '../src/server/serve.ts';
import { selfSigned } from '../test/client/self-signed.ts';
import { type Sabotage, sabotage, sabotageDrivers } from './sabotage.ts';
import { listenWithout, openLogWithout } from './sabotaged-server.ts';
import { startDelivering } from './sabotaged-webhooks.ts';
import type { ServerSetup } from './server-process.ts';

// A server under test: as `lkm serve` runs it, or with one protection taken away. It stops at SIGTERM, and ends with its
// parent.

const { db, without, setup } = JSON.parse(process.argv[2] ?? '{}') as {
  db: string;
  without: Sabotage | null;
  setup: ServerSetup;
};
process.stdin.on('end', () => process.exit()).resume();

const { limits, drainMs } = setup;
const webhooks = setup.webhooks && { webhooks: { allowPrivate: true, ...setup.webhooks } };
const file = setup.log === undefined ? null : openSync(setup.log, 'a');
const logTo = file === null ? { write: (line: string) => process.stderr.write(line) } : createLogSink(file);
const logFormat = file === null && process.env.LKM_FAULT_LOG === undefined ? 'none' : 'json';
const options = {
  host: '127.0.0.1',
  port: 0,
  ...(drainMs !== undefined && { drainMs }),
  ...(setup.tls && { tls: selfSigned }),
};
sabotageDrivers(without);
const { url, close } = await (without === null ? start() : startWithout(without));
process.stdout.write(`${url}\n`);
process.once('SIGTERM', async () => {
  await close();
  if (file !== null) closeSync(file);
  process.exit();
});

function start(): Promise<{ url: string; close(): Promise<void> }> {
  return startServer({
    db,
    ...options,
    ...(limits && { connections: limits }),
    logFormat,
    logTo,
    rateLimit: null,
    ...webhooks,
  });
}

async function startWithout(name: Sabotage): Promise<{ url: string; close(): Promise<void> }> {
  const base = await openBase(db, { allowPrivate: webhooks !== undefined });
  const { parts, store } = base;
  const without = sabotage(name, parts, db);
  const record = without.record ?? parts.record;
  const delivering = webhooks && startDelivering(name, base, { record, webhooks: setup.webhooks });
  const { log, flush } = await openLogWithout(name, logFormat, logTo, file);
  const app = createApp({
    ...parts,
    ...without,
    ...(delivering && { record: delivering.record, onRecorded: delivering.onRecorded }),
    log,
    door: 'http',
    limiter: null,
    addressOf: trustProxies([]),
  });
  const listener = await listenWithout(name, app, { ...options, ...(limits && { limits }) });
  return {
    url: listener.url,
    async close() {
      await listener.close();
      await delivering?.stop();
      await store.close();
      await flush();
    },
  };
}
