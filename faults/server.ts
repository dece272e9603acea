import { createApp } from '../src/server/http/app.ts';
import { trustProxies } from '../src/server/http/client-address.ts';
import { listen } from '../src/server/http/listen.ts';
import { createLog } from '../src/server/log.ts';
import { openBase } from '../src/server/runtime.ts';
import { startServer } from '../src/server/serve.ts';
import { type Sabotage, sabotage, sabotageDrivers } from './sabotage.ts';

// A server under test: as `lkm serve` runs it, or with one protection taken away. It ends with its parent.

const { db, without } = JSON.parse(process.argv[2] ?? '{}') as { db: string; without: Sabotage | null };
process.stdin.on('end', () => process.exit()).resume();

const logTo = { write: (line: string) => process.stderr.write(line) };
const logFormat = process.env.LKM_FAULT_LOG === undefined ? 'none' : 'json';
const address = { host: '127.0.0.1', port: 0 };
sabotageDrivers(without);
if (without === null) {
  const { url } = await startServer({ db, ...address, logFormat, logTo, rateLimit: null });
  process.stdout.write(`${url}\n`);
} else {
  const { parts } = await openBase(db, {});
  const log = await createLog(logFormat, logTo);
  const app = createApp({
    ...parts,
    ...sabotage(without, parts, db),
    log,
    limiter: null,
    addressOf: trustProxies([]),
  });
  const { url } = await listen(app, address);
  process.stdout.write(`${url}\n`);
}
