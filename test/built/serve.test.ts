import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished, vi } from 'vitest';
import { findThread } from '../../faults/process.ts';
import { bin as lkm } from '../support/installed.ts';

/** Starts the built server in a home of its own. */
async function startServer(words: readonly string[], { home, env = {} }: { home: string; env?: NodeJS.ProcessEnv }) {
  const line = [lkm, 'serve', '--port', '0', '--json', '--log-format', 'none', ...words];
  const child = spawn(process.execPath, line, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: home, ...env },
    cwd: home,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  const { value: ready } = await createInterface(child.stdout)[Symbol.asyncIterator]().next();
  const { url, event } = JSON.parse(ready ?? '') as { url: string; event: string };
  expect(event).toBe('ready');
  return { child, url, exited };
}

function homeFolder(): string {
  const home = mkdtempSync(join(tmpdir(), 'lkm-test-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  return home;
}

it('the built command, which has just stored its profile, answers what is in flight at SIGTERM', async () => {
  const home = homeFolder();
  const { child, url, exited } = await startServer([], { home });
  const { profiles } = JSON.parse(readFileSync(join(home, '.config/lkm/config.json'), 'utf8'));
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  const head = ['POST /product HTTP/1.1', 'Host: localhost', `Authorization: Bearer ${profiles.local.token}`];
  const body = '{"name":"Engine"}';
  const fields = ['Content-Type: application/json', `Content-Length: ${body.length}`, '', body.slice(0, 5)];
  await new Promise((sent) => socket.write([...head, ...fields].join('\r\n'), sent));
  // A later request has its answer: the server has read the head of the earlier one.
  expect((await fetch(`${url}/ready`)).status).toBe(200);
  child.kill('SIGTERM');
  await untilClosed(url);
  socket.write(body.slice(5));
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1.1 201 /);
  expect(await exited).toEqual([0, null]);
});

it('the built command copies a long log and counts many keys in a thread, which ends with it', {
  timeout: 60_000,
}, async () => {
  const home = homeFolder();
  const db = join(home, 'lkm.db');
  const { child, url, exited } = await startServer(['--db', db], { home });
  const { profiles } = JSON.parse(readFileSync(join(home, '.config/lkm/config.json'), 'utf8'));
  const call = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${profiles.local.token}`, 'content-type': 'application/json' };
    const answer = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    return (await answer.json()) as { data: { id: string } };
  };
  const { data: product } = await call('POST', '/product', { name: 'Engine' });
  // So few at a time that the log is never full after one of them without having been nearly full before.
  let created = 0;
  while (findThread(child.pid ?? 0) === null || created <= 10_000) {
    await call('POST', '/create-key', { productId: product.id, amountKeys: 100 });
    created += 100;
  }
  using reader = new DatabaseSync(db, { readOnly: true });
  const look = () => {
    reader.exec('SELECT 1 FROM sqlite_master');
    return reader.prepare('PRAGMA wal_checkpoint(NOOP)').get();
  };
  await vi.waitFor(() => expect(look()?.checkpointed).toBeGreaterThan(0), 10_000);
  expect(look()?.log).toBeLessThan(16_000);
  expect(await call('GET', '/key/list?page=1')).toMatchObject({ meta: { total: created } });
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});

/** Waits until a server takes no connections any more. */
const untilClosed = (url: string) =>
  vi.waitUntil(() =>
    fetch(url)
      .catch(() => true)
      .then((answer) => answer === true),
  );

/** A look-up of a name that no name server answers: like `getaddrinfo`, it has a thread that nothing can end. */
const hangingLookups = (pipe: string) => `
import dns from 'node:dns';
import { open } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const { lookup } = dns;
dns.lookup = (name, options, callback) => {
  if (name !== 'slow.example') return lookup(name, options, callback);
  console.error('looking up ' + name);
  open('${pipe}', 'r', callback);
};
syncBuiltinESMExports();
`;

it.each([
  ['once', 'what was asked has ended'],
  ['twice', 'a request has not ended'],
])(
  'the built command ends when it is told %s, where %s and a name is still looked up',
  async (times) => {
    const home = homeFolder();
    spawnSync('mkfifo', [join(home, 'pipe')]);
    writeFileSync(join(home, 'preload.mjs'), hangingLookups(join(home, 'pipe')));
    const env = { NODE_OPTIONS: `--import=${join(home, 'preload.mjs')}` };
    const { child, url, exited } = await startServer(['--allow-private-webhooks', '--drain', '3600'], { home, env });
    const run = (...words: string[]) =>
      spawnSync(process.execPath, [lkm, '-p', 'local', ...words], { env: { PATH: process.env.PATH, HOME: home } });
    expect(run('webhooks', 'create', '--url', 'http://slow.example/')).toMatchObject({ status: 0 });
    expect(run('customers', 'create', '--name', 'Ada')).toMatchObject({ status: 0 });
    await createInterface(child.stderr)[Symbol.asyncIterator]().next();
    if (times === 'twice') {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      onTestFinished(() => void socket.destroy());
      await new Promise((sent) => socket.on('error', () => {}).write('GET /health HTTP/1.1\r\n', sent));
      child.kill('SIGTERM');
      await untilClosed(url);
    }
    child.kill('SIGTERM');
    const [code, signal] = await exited;
    expect({ code, signal }).toEqual({ code: null, signal: 'SIGTERM' });
  },
  20_000,
);
