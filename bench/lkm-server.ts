import { pino } from 'pino';
import { startServer } from '../src/server/serve.ts';

// The service as `lkm serve` runs it: its checks, its limits (far away) and its log are on; log lines are written in
// batches, to nowhere.

const server = await startServer({
  db: process.argv[2] ?? '',
  host: '127.0.0.1',
  port: 0,
  logFormat: 'json',
  logTo: pino.destination({ dest: '/dev/null', sync: false }),
  rateLimit: 1_000_000_000,
});
process.stdout.write(`${JSON.stringify({ url: server.url, pid: process.pid })}\n`);
