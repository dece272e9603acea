import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from './random.ts';

/** The requests for one event that a receiver got. */
export interface Sent {
  readonly ids: Set<string>;
  readonly bodies: Set<string>;
  isAccepted: boolean;
}

/** A receiver of webhooks that fails in all the ways in which receivers fail. */
export interface Receiver {
  readonly url: string;
  readonly sent: ReadonlyMap<number, Sent>;
  /** Accepts everything from now on. */
  recover(): Promise<void>;
  /** Is not there for a moment. */
  vanish(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** What the receiver does with a request that it does not accept. Some do nothing until the sender gives up. */
const misbehaviours: readonly ((response: ServerResponse) => void)[] = [
  (response) => response.writeHead(500).end(),
  () => {},
  (response) => response.socket?.resetAndDestroy(),
  (response) => response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
  (response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write('.'), 20);
    response.once('close', () => clearInterval(timer));
  },
  (response) => {
    response.writeHead(200, { 'content-length': '10' }).write('.');
    setTimeout(() => response.destroy(), 5);
  },
];

/** Opens a receiver that accepts two of three requests. */
export async function openReceiver(random: Random): Promise<Receiver> {
  const sent = new Map<number, Sent>();
  let isWell = false;
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => '');
    if (body === '') return response.destroy();
    const { seq, id }: { readonly seq: number; readonly id: string } = JSON.parse(body);
    const known = sent.get(seq) ?? { ids: new Set(), bodies: new Set(), isAccepted: false };
    sent.set(seq, known);
    known.ids.add(id).add(String(request.headers['webhook-id']));
    known.bodies.add(body);
    const misbehave = isWell ? undefined : misbehaviours[random.below(misbehaviours.length * 3)];
    if (misbehave !== undefined) return misbehave(response);
    known.isAccepted = true;
    response.writeHead(204).end();
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const close = async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => void server.close(() => resolve()));
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    sent,
    async recover() {
      isWell = true;
      if (!server.listening) await listen(port);
    },
    async vanish(ms) {
      await close();
      await sleep(ms);
      await listen(port);
    },
    close,
  };
}
