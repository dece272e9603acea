import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** One message of the PostgreSQL protocol. */
export interface Message {
  /** Who sends it. */
  readonly from: 'server' | 'postgres';
  /** Its type byte: `Q` query, `S` sync, `C` command complete. */
  readonly type: string;
  /** The text of a query, the tag of a completed command; else empty. */
  readonly text: string;
  readonly bytes: Buffer;
}

/** One connection through the relay. */
export interface Link {
  /** Cuts it on both sides, at once. */
  cut(): void;
}

/** Decides what becomes of a message: passed on when nothing, or bytes in its place, or nothing at all. */
export type Rule = (message: Message, link: Link) => undefined | Buffer | Promise<undefined | Buffer>;

/** Stands between a server and PostgreSQL, and sees each message. */
export interface Relay {
  /** The database's address by way of the relay. */
  readonly db: string;
  /** What becomes of messages from now on; null passes all. */
  rule: Rule | null;
  close(): Promise<void>;
}

/** Starts a relay to the database at `db`. */
export async function openRelay(db: string): Promise<Relay> {
  const target = new URL(db);
  const sockets = new Set<Socket>();
  const relay: { rule: Rule | null } = { rule: null };

  const server = createServer((near) => {
    const far = connect(Number(target.port || 5432), target.hostname);
    const link: Link = {
      cut: () => {
        near.destroy();
        far.destroy();
      },
    };
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => link.cut());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    pump(near, far, 'server', link);
    pump(far, near, 'postgres', link);
  });

  function pump(source: Socket, sink: Socket, from: Message['from'], link: Link): void {
    const split = splitter(from);
    let order = Promise.resolve();
    source.on('data', (chunk: Buffer) => {
      for (const message of split(chunk)) {
        order = order.then(async () => {
          const instead = message.type === '' ? undefined : await relay.rule?.(message, link);
          if (!sink.destroyed) sink.write(instead ?? message.bytes);
        });
      }
    });
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = new URL(db);
  address.hostname = '127.0.0.1';
  address.port = String((server.address() as AddressInfo).port);
  return Object.assign(relay, {
    db: address.href,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  });
}

/** Splits a stream into messages. What the server sends first has no type byte. */
function splitter(from: Message['from']): (chunk: Buffer) => Message[] {
  let rest = Buffer.alloc(0);
  let greeted = from === 'postgres';
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    const messages: Message[] = [];
    for (;;) {
      const start = greeted ? 1 : 0;
      if (rest.length < start + 4) return messages;
      const end = start + rest.readInt32BE(start);
      if (rest.length < end) return messages;
      const bytes = rest.subarray(0, end);
      const type = greeted ? bytes.toString('latin1', 0, 1) : '';
      const hasText = type === (from === 'server' ? 'Q' : 'C');
      messages.push({ from, type, text: hasText ? bytes.toString('utf8', 5, end - 1) : '', bytes });
      rest = rest.subarray(end);
      greeted = true;
    }
  };
}

/** A simple query, as it is on the wire. */
export function query(text: string): Buffer {
  const body = Buffer.from(`${text}\0`);
  const head = Buffer.alloc(5);
  head.write('Q', 'latin1');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/**
 * Calls `act` before the N-th message of one side in each transaction that begins from now on, whoever's it is: those of
 * the jobs run beside those of requests. `BEGIN` is the first of the server's. Messages that end a turn are counted:
 * queries and syncs of the server, ready-for-query of PostgreSQL.
 */
export function atTurn(from: Message['from'], turn: number, act: (link: Link) => void | Promise<void>): Rule {
  const seen = new Map<Link, number>();
  const ends = from === 'server' ? ['Q', 'S'] : ['Z'];
  return async (message, link) => {
    if (message.from === 'server' && message.text === 'BEGIN') seen.set(link, 0);
    const before = seen.get(link);
    if (before === undefined || message.from !== from || !ends.includes(message.type)) return undefined;
    seen.set(link, before + 1);
    if (before + 1 === turn) await act(link);
    return undefined;
  };
}
