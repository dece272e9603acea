import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Random } from './random.ts';

/** What a receiver was sent, by the number of the event. */
export interface Sent {
  readonly ids: Set<string>;
  readonly bodies: Set<string>;
  /** How often it was sent. */
  attempts: number;
  /** How often it was accepted. */
  accepted: number;
}

/** A program that webhooks are sent to, and that does everything wrong that such programs do. */
export interface Receiver {
  readonly url: string;
  readonly sent: ReadonlyMap<number, Sent>;
  /** How often it did what with a request. */
  readonly done: ReadonlyMap<string, number>;
  /** Accepts everything from now on. */
  recover(): Promise<void>;
  /** Is not there for a moment. */
  vanish(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** What it does with a request that it does not accept. */
const behaviours: readonly (readonly [name: string, (response: ServerResponse) => void])[] = [
  ['answered 500', (response) => response.writeHead(500).end()],
  ['hung', () => {}],
  ['reset', (response) => response.socket?.resetAndDestroy()],
  ['redirected', (response) => response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end()],
  [
    'dripped', // until the sender has enough of it
    (response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('.'), 20);
      response.once('close', () => clearInterval(timer));
    },
  ],
  [
    'died in its response',
    (response) => {
      response.writeHead(200, { 'content-length': '10' }).write('.');
      setTimeout(() => response.destroy(), 5);
    },
  ],
];

/** Opens a receiver that accepts two of three requests. */
export async function openReceiver(random: Random): Promise<Receiver> {
  const sent = new Map<number, Sent>();
  const done = new Map<string, number>();
  const count = (what: string) => done.set(what, (done.get(what) ?? 0) + 1);
  let isWell = false;
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => '');
    if (body === '') return response.destroy();
    const { seq, id }: { readonly seq: number; readonly id: string } = JSON.parse(body);
    const known = sent.get(seq) ?? { ids: new Set(), bodies: new Set(), attempts: 0, accepted: 0 };
    sent.set(seq, known);
    known.ids.add(id).add(String(request.headers['webhook-id']));
    known.bodies.add(body);
    known.attempts += 1;
    const [name, fail] = (isWell ? undefined : behaviours[random.below(behaviours.length * 3)]) ?? ['accepted', null];
    count(name);
    if (fail !== null) return fail(response);
    known.accepted += 1;
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
    done,
    async recover() {
      isWell = true;
      if (!server.listening) await listen(port);
    },
    async vanish(ms) {
      await close();
      await new Promise((resolve) => setTimeout(resolve, ms));
      await listen(port);
    },
    close,
  };
}
