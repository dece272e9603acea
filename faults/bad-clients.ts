import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { selfSigned } from '../test/support/certificates.ts';
import type { Random } from './random.ts';

/** Connections that keep none of the rules of conduct. */
export interface BadClients {
  /** Waits until the server has closed all that read nothing; resolves to the number of those that it has not. */
  unclosed(timeoutMs: number): Promise<number>;
  destroy(): void;
}

/** Of each kind: pipelines and never reads, sends half a request, sends nothing. */
const UNREAD = 32;
const HALF_SENT = 24;
const SILENT = 24;

/** Requests that a connection sends at once: as many as are read, and more than that. */
const PIPELINED = 60;
const MORE_THAN_READ = 200;

/** How often a connection that reads nothing writes something, by which it notices that it was closed. */
const POKE_MS = 100;

/** The description is one piece of some 700 kB, and few of it are given to one address; a list is read piece by piece. */
const ONE_PIECE = '/openapi.json';
const LONG_LIST = '/customer';

/** Opens them on a server of this machine; resolves once all have sent what they will send. */
export async function openBadClients(url: string, token: string, random: Random): Promise<BadClients> {
  const { port, protocol } = new URL(url);
  const sockets = new Set<Socket>();
  const unread = new Set<Socket>();

  async function open(isTls: boolean): Promise<Socket> {
    const address = { port: Number(port), host: '127.0.0.1' };
    const socket = isTls ? connectTls({ ...address, ca: selfSigned.cert }) : connect(address);
    sockets.add(socket);
    socket.on('error', () => {}); // being closed is what they wait for
    socket.once('close', () => {
      sockets.delete(socket);
      unread.delete(socket);
    });
    await once(socket, isTls ? 'secureConnect' : 'connect');
    return socket;
  }

  async function readNothing(): Promise<void> {
    const socket = (await open(protocol === 'https:')).pause();
    unread.add(socket);
    const count = random.below(6) === 0 ? MORE_THAN_READ : PIPELINED;
    const get = (path: string) => `${head('GET', path, token)}\r\n`;
    socket.write(get(ONE_PIECE) + get(LONG_LIST).repeat(count));
    const poke = setInterval(() => socket.write('\r\n'), POKE_MS);
    socket.once('close', () => clearInterval(poke));
  }

  async function sendHalf(): Promise<void> {
    const socket = await open(protocol === 'https:');
    const whole = `${head('POST', '/product', token)}Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{"name":"`;
    socket.write(whole.slice(0, random.between(1, whole.length)));
  }

  const kinds = [
    ...Array.from({ length: UNREAD }, () => readNothing),
    ...Array.from({ length: HALF_SENT }, () => sendHalf),
    // Over TLS not even the handshake.
    ...Array.from({ length: SILENT }, () => () => open(false)),
  ];
  await Promise.all(kinds.map((kind) => kind()));
  return {
    async unclosed(timeoutMs) {
      const deadline = performance.now() + timeoutMs;
      while (unread.size > 0 && performance.now() < deadline) await sleep(POKE_MS);
      return unread.size;
    },
    destroy() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

const head = (method: string, path: string, token: string): string =>
  `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n`;
