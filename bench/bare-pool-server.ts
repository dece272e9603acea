import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { openBarePool } from './bare-pool.ts';

// Answers each request when the statements of a file have been sent: what two replicas could reach with nothing else to do.

const [url = '', connections = '', file = ''] = process.argv.slice(2);
const pool = openBarePool(url, Number(connections), JSON.parse(readFileSync(file, 'utf8')));
/** As long as what is answered for a key. */
const filler = 'x'.repeat(500);

const server = createServer(async (request, response) => {
  const { productId } = JSON.parse(await text(request));
  await pool.sendOnce();
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ productId, filler, code: 0 }));
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`);
});
