import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

// Receives webhooks in a process of its own, and accepts all of them. Says its address first, and whenever it is asked, how
// long after their creation events have come since then, in milliseconds.

let lags: number[] = [];

const server = createServer(async (request, response) => {
  const [, createdAt = ''] = /"created_at":"([^"]+)"/.exec(await text(request)) ?? [];
  lags.push(Date.now() - Date.parse(createdAt));
  response.writeHead(204).end();
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('message', () => {
  process.send?.(lags);
  lags = [];
});
process.on('disconnect', () => process.exit());
