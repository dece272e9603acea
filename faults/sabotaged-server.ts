import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { App } from '../src/server/http/app.ts';
import { type ListenOptions, listen } from '../src/server/http/transport/listen.ts';
import { createNodeListener } from '../src/server/http/transport/node-adapter.ts';
import { createLog, createLogSink, type LogFormat, type LogSink, openLog, type ServerLog } from '../src/server/log.ts';
import type { Sabotage } from './sabotage.ts';

/** Listens with a protection of the connections taken away, if it is one. */
export function listenWithout(
  name: Sabotage,
  app: App,
  options: ListenOptions,
): Promise<{ url: string; close(): Promise<void> }> {
  if (name === 'unbounded-connections') return listenUnbounded(app);
  return listen(app, name === 'endless-drain' ? { ...options, drainMs: HOUR_MS } : options);
}

const HOUR_MS = 3_600_000;

/** Begins every request as soon as it has come, and waits for every connection for ever. */
async function listenUnbounded(app: App): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer({ headersTimeout: 0, requestTimeout: 0 });
  server.on('request', createNodeListener(app, { isHostAllowed: () => true, hold: () => {}, fail: () => {} }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.close();
      await once(server, 'close');
    },
  };
}

/** Opens a log with a protection of it taken away, if it is one. */
export async function openLogWithout(
  name: Sabotage,
  format: LogFormat,
  sink: LogSink,
  file: number | null,
): Promise<ServerLog> {
  if (name === 'log-throws' && file !== null) {
    const log = await createLog(format, { write: (line) => writeSync(file, line) });
    return { log, flush: async () => {} };
  }
  if (name === 'losses-uncounted' && file !== null) {
    const { write, flush } = createLogSink(file, 16_384);
    return openLog(format, { write, ...(flush && { flush }) });
  }
  return openLog(format, sink);
}
