import { connect, type Socket } from 'node:net';

/** Connects to a port of this machine; on the connection a test writes bytes as no HTTP client would. */
export function openConnection(port: number) {
  const socket: Socket = connect(port, '127.0.0.1');
  let received = '';
  const waiting: (() => void)[] = [];
  let ended = false;
  const wake = () => {
    for (const look of waiting.splice(0)) look();
  };
  socket.setEncoding('utf8');
  socket.on('data', (text: string) => {
    received += text;
    wake();
  });
  // A reset is an end like any other here.
  socket.on('error', () => {});
  socket.on('close', () => {
    ended = true;
    wake();
  });

  async function when(isSo: () => boolean): Promise<string> {
    while (!isSo()) {
      if (ended) throw new Error(`the connection ended after ${JSON.stringify(received)}`);
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    return received;
  }

  return {
    send: (...lines: readonly string[]) => {
      socket.write(lines.join('\r\n'));
    },
    /** Resolves with all that has come so far as soon as the pattern is in it. */
    until: (pattern: RegExp) => when(() => pattern.test(received)),
    /** Resolves with all that has come, once the other side has closed. */
    end: () => when(() => ended),
    [Symbol.dispose]: () => socket.destroy(),
  };
}

/** Sends one request head, and whatever follows it, on a connection of its own; resolves with all that comes back. */
export async function exchange(port: number, head: readonly string[], body = ''): Promise<string> {
  using connection = openConnection(port);
  connection.send(...head, 'Connection: close', '', body);
  return await connection.end();
}

/** The head of a request whose body is waited for, so that a test knows when the server has begun with it. */
export const postHead = (token: string, length: number): string[] => [
  'POST /customer HTTP/1.1',
  'Host: localhost',
  `Authorization: Bearer ${token}`,
  'Content-Type: application/json',
  `Content-Length: ${length}`,
  'Expect: 100-continue',
];

/** The status of a response as it came. */
export const statusOf = (text: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]);
