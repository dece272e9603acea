import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** Serves on a free port of this machine until the test ends; resolves to `127.0.0.1:<port>`. */
export async function listen(server: Server | SecureServer): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The same for one listener; resolves to its base URL. */
export const serve = async (listener: RequestListener): Promise<string> =>
  `http://${await listen(createServer(listener))}`;

/** An address without a server. */
export async function unusedAddress(): Promise<string> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}`;
}
