import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  await using occupied = await occupiedPort();
  return occupied.port;
}

/** A port of 127.0.0.1 that somebody listens on, until it is disposed of. */
export async function occupiedPort(): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, 'close');
    },
  };
}
