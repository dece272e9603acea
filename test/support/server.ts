import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { type ServeOptions, startServer } from '../../src/server/index.ts';
import { createFolder } from './engines.ts';
import { type Answer, readAnswer } from './world.ts';

/** A server on a free port of this machine, with a database of its own. */
export type TestServer = Awaited<ReturnType<typeof startTestServer>>;

type LogLine = Readonly<Record<string, unknown>>;

/** Starts a server as `lkm serve` does, which stops when the test ends. */
export async function startTestServer(options: Partial<ServeOptions> = {}) {
  const folder = await createFolder();
  const log: LogLine[] = [];
  const grown = new EventEmitter();
  const server = await startServer({
    db: join(folder.path, 'lkm.db'),
    host: '127.0.0.1',
    port: 0,
    logFormat: 'json',
    logTo: {
      write: (lines) => {
        for (const line of lines.trimEnd().split('\n')) log.push(JSON.parse(line));
        grown.emit('line');
      },
    },
    ...options,
  });
  const adminToken = server.created?.adminToken ?? '';
  let closed: Promise<void> | undefined;
  return {
    server: {
      ...server,
      close: () => {
        closed ??= server.close();
        return closed;
      },
    },
    adminToken,
    /** Resolves with the first line of its log that has these fields, or the one after so many, as soon as it is there. */
    logged: async (fields: LogLine, skip = 0): Promise<LogLine> => {
      const isIt = (line: LogLine) => Object.entries(fields).every(([name, value]) => line[name] === value);
      for (;;) {
        const found = log.filter(isIt)[skip];
        if (found !== undefined) return found;
        await once(grown, 'line');
      }
    },
    call: async (method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer> =>
      readAnswer(
        await fetch(server.url + path, {
          method,
          headers: { Authorization: `Bearer ${adminToken}`, 'Content-Type': 'application/json', ...headers },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        }),
      ),
    [Symbol.asyncDispose]: async () => {
      closed ??= server.close();
      await closed;
      await folder[Symbol.asyncDispose]();
    },
  };
}
