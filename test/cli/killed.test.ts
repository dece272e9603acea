import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { lkm, tempFolder } from './fake-io.ts';
import { KEY, PRODUCT } from './scripted-service.ts';

const main = join(import.meta.dirname, '../../src/cli/main.ts');

/** The command in a process of its own, which can be killed. */
function start(argv: readonly string[], home: string, env: Readonly<Record<string, string>>): ChildProcess {
  return spawn(process.execPath, [main, ...argv], {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function finish(child: ChildProcess) {
  const [stdout, stderr] = await Promise.all(
    [child.stdout, child.stderr].map((stream) => (stream ? text(stream) : '')),
  );
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return { code: child.exitCode, stdout, stderr };
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** Whether a change without an answer is written down. */
const hasPending = (folder: string): boolean => readdirSync(folder).some((name) => name.endsWith('.json'));

/** A service that answers nothing until it is told to, and keeps the key and the bytes of every request. */
async function silentService() {
  const seen: { key: string | undefined; bytes: string }[] = [];
  let waiting: (() => void) | undefined;
  let answers = false;
  const server = createServer(async (request, response) => {
    const bytes = await text(request);
    seen.push({ key: request.headersDistinct['idempotency-key']?.join(), bytes });
    waiting?.();
    if (answers) response.writeHead(200, { 'content-type': 'application/json' }).end(`{"code":0,"key":"${KEY}"}`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    env: { LKM_BASE_URL: `http://127.0.0.1:${port}`, LKM_TOKEN: 'lkm_admin_secret', LKM_PRODUCT: PRODUCT },
    seen,
    answerFromNow: () => {
      answers = true;
    },
    /** Resolves once `count` requests have come. */
    requests: async (count: number) => {
      while (seen.length < count) {
        await new Promise<void>((resolve) => {
          waiting = resolve;
        });
      }
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe('a command that is killed while it waits for its answer', () => {
  it('sends the same bytes under the same key when it is run again', async () => {
    await using service = await silentService();
    const home = tempFolder();
    const argv = ['keys', 'create', '--expires', '1y', '--new-customer-name', 'Ada Ltd é'];
    const child = start(argv, home, service.env);
    await service.requests(1);
    await kill(child);
    service.answerFromNow();
    const again = await finish(start(argv, home, service.env));
    expect(again).toMatchObject({ code: 0, stdout: `${KEY}\n` });
    expect(again.stderr).toMatch(/^repeating the call of (.* )?\d\d:\d\d UTC that had no answer\n/);
    const [lost, repeated] = service.seen;
    expect(lost?.key).toMatch(/^[0-9a-f-]{36}$/);
    expect(repeated).toEqual(lost);
    expect(hasPending(join(home, '.local/state/lkm/pending'))).toBe(false);
  });

  it('never shares its key with one that runs at the same time', async () => {
    await using service = await silentService();
    const home = tempFolder();
    const killed = start(['keys', 'create'], home, service.env);
    await service.requests(1);
    const running = start(['keys', 'create'], home, service.env);
    await service.requests(2);
    await kill(killed);
    const repeats = [1, 2, 3].map(() => start(['keys', 'create'], home, service.env));
    await service.requests(5);
    const keys = service.seen.map(({ key }) => key);
    expect(keys[1]).not.toBe(keys[0]);
    expect(keys.slice(1).filter((key) => key === keys[0])).toHaveLength(1);
    expect(new Set(keys).size).toBe(4);
    await Promise.all([running, ...repeats].map(kill));
  });
});

it('a command waits for others that write their changes down, as a hundred that begin at once do', async () => {
  await using service = await silentService();
  service.answerFromNow();
  const home = tempFolder();
  const lock = join(import.meta.dirname, '../../src/cli/state/lock.ts');
  const folder = join(home, '.local/state/lkm/pending');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const script = `
    import { takeLock } from ${JSON.stringify(lock)};
    const lock = takeLock(${JSON.stringify(join(folder, 'lock'))});
    process.stdout.write('taken');
    setTimeout(() => lock.release(), 4_500);`;
  const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');
  expect(await finish(start(['keys', 'create', '--expires', '1y'], home, service.env))).toMatchObject({
    code: 0,
    stdout: `${KEY}\n`,
  });
});

describe('a command that is killed', () => {
  const argv = ['products', 'create', '--name', 'Engine Pro', '-q'];

  it.each([250, 450])('after %i ms makes one product in all when it is run again', async (delay) => {
    const home = tempFolder();
    const env = { LKM_DB: 'lkm.db', LKM_STATE_DIR: join(home, 'state') };
    await lkm(['products', 'list', '--create'], { cwd: home, env });
    const child = start(argv, home, env);
    const ended = finish(child);
    await Promise.race([sleep(delay), ended]);
    child.kill('SIGKILL');
    const first = await ended;
    const isDone = first.stdout !== '' && !hasPending(join(home, 'state/pending'));
    const last = isDone ? first : await finish(start(argv, home, env));
    expect(last.stdout).toMatch(/^prod_\w+\n$/);
    expect((await lkm(['products', 'list', '-q'], { cwd: home, env })).stdout).toBe(last.stdout);
  });
});
