import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Parsed } from './world.ts';

/** A request that a receiver was sent. */
export interface Received {
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly event: Parsed;
}

/** What a receiver answers: a status, a status with headers and body, or whatever it does itself. */
export type Answering =
  | number
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | ((response: ServerResponse, request: IncomingMessage) => void);

/** A program that webhooks are sent to, on a free port of this machine. */
export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly received: Received[];
  /** The numbers of the events, in the order in which they came. */
  readonly seqs: readonly number[];
  /** How it answers from now on; with a list, one after the other, and then 204. */
  answer(how: Answering | readonly Answering[]): void;
}

/** Starts a receiver, which accepts everything until it is told otherwise. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  let answers: Answering[] = [];
  let otherwise: Answering = 204;
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    received.push({ headers, text: body, event: JSON.parse(body) });
    give(answers.shift() ?? otherwise, response, request);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    get seqs() {
      return received.map(({ event }) => event.seq);
    },
    answer(how) {
      answers = Array.isArray(how) ? [...how] : [];
      otherwise = Array.isArray(how) ? 204 : (how as Answering);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function give(how: Answering, response: ServerResponse, request: IncomingMessage): void {
  if (typeof how === 'function') {
    how(response, request);
    return;
  }
  const { status, headers = {}, body = '' } = typeof how === 'number' ? { status: how } : how;
  response.writeHead(status, headers).end(body);
}
