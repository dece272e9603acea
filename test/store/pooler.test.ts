import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { openStore } from '../../src/store/store.ts';
import { type Engine, engines } from '../support/engines.ts';

const postgres = engines.find(({ name }) => name === 'PostgreSQL') as Engine;

/** What a pooler makes of the first message of a connection: its length, the version, and settings by name. */
type Startup = (message: Buffer, client: Socket) => Buffer | null;

/** Something between lkm and a database of its own. */
async function openPooler(startup: Startup) {
  const database = await postgres.createDatabase();
  const target = new URL(database.location);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    sockets.add(near.on('error', () => {}));
    near.once('data', (first) => {
      const message = startup(first, near);
      if (message === null) return;
      const far = connect(Number(target.port), target.hostname).on('error', () => near.destroy());
      sockets.add(far);
      far.write(message);
      near.pipe(far).pipe(near);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
      await database[Symbol.asyncDispose]();
    },
  };
}

/** Drops a setting, as a pooler does that is told to ignore it. */
function without(name: string, message: Buffer): Buffer {
  const words = message.subarray(8).toString('latin1').split('\0');
  const at = words.indexOf(name);
  const body = Buffer.from(words.toSpliced(at, 2).join('\0'), 'latin1');
  const head = Buffer.from(message.subarray(0, 8));
  head.writeInt32BE(body.length + 8);
  return Buffer.concat([head, body]);
}

function refuse(client: Socket): null {
  const fields = Buffer.from('SFATAL\0C08P01\0Munsupported startup parameter: statement_timeout\0\0');
  const head = Buffer.from('E0000');
  head.writeInt32BE(fields.length + 4, 1);
  client.end(Buffer.concat([head, fields]));
  return null;
}

describe('a database behind a pooler', () => {
  it.each<[string, Startup]>([
    ['that refuses settings', (_, client) => refuse(client)],
    ['that ignores them', (message) => without('statement_timeout', message)],
  ])('%s is refused in words', async (_, startup) => {
    await using pooler = await openPooler(startup);
    await expect(openStore(pooler.url)).rejects.toMatchObject({
      name: 'StartupError',
      message: expect.stringMatching(/is behind a connection pooler/),
      hint: expect.stringContaining('the address of PostgreSQL itself'),
    });
  });

  it('that passes everything on is none', async () => {
    await using pooler = await openPooler((message) => message);
    await (await openStore(pooler.url)).close();
  });
});
