import { createApp } from '../src/server/http/app.ts';
import { trustProxies } from '../src/server/http/client-address.ts';
import { createMemoryCounter } from '../src/server/http/rate-counters.ts';
import { createRateLimiter } from '../src/server/http/rate-limit.ts';
import { listen } from '../src/server/http/transport/listen.ts';
import { createExactlyOnce } from '../src/server/idempotency/exactly-once.ts';
import { createLog, createLogSink } from '../src/server/log.ts';
import { openBase } from '../src/server/runtime.ts';
import type { Store } from '../src/store/store.ts';

// The service as it is, but for one thing: a transaction begins when the one before it is durable, so that each
// request pays for a commit of its own.

const base = await openBase(process.argv[2] ?? '', {});
let last: Promise<unknown> = Promise.resolve();
const store: Store = {
  ...base.store,
  transaction: (work) => {
    const turn = last.then(() => base.store.transaction(work));
    last = turn.catch(() => {});
    return turn;
  },
};
const microseconds = () => Math.floor(performance.now() * 1_000);
const app = createApp({
  ...base.parts,
  store,
  exactlyOnce: createExactlyOnce(store, base.parts.random),
  log: await createLog('json', createLogSink(2)),
  door: 'http',
  limiter: createRateLimiter({ counter: createMemoryCounter(microseconds), now: microseconds }, 1_000_000_000),
  addressOf: trustProxies([]),
});
const { url } = await listen(app, { host: '127.0.0.1', port: 0 });
process.stdout.write(`${JSON.stringify({ url, pid: process.pid })}\n`);
