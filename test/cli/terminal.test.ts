import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lkm, tempFolder } from './fake-io.ts';

const main = join(import.meta.dirname, '../../src/cli/main.ts');
const hasScript = spawnSync('script', ['--version']).status === 0;

/** Runs a command line on a terminal of its own and types `keys` at its question. */
function onTerminal(commandLine: string, keys: string, cwd: string): Promise<{ code: number | null; screen: string }> {
  const child = spawn('script', ['-qec', `"${process.execPath}" "${main}" ${commandLine}`, '/dev/null'], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, TERM: 'xterm' },
  });
  let screen = '';
  child.stdout.on('data', (data) => {
    const before = screen;
    screen += data;
    if (!before.includes('to confirm:') && screen.includes('to confirm:')) child.stdin.write(keys);
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, screen })));
}

/** A service that is not ready twice and then lists no customers, on a port of its own. */
async function restarting(): Promise<{ url: string; close: () => void }> {
  let requests = 0;
  const server = createServer((_, response) => {
    requests += 1;
    const isReady = requests > 2;
    response.writeHead(isReady ? 200 : 503, { 'content-type': 'application/json', 'retry-after': '1' });
    const list = { action: 'customers.list', status: true, data: [], code: 0 };
    response.end(JSON.stringify(isReady ? list : { message: 'Service unavailable', code: 1 }));
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

describe.runIf(hasScript)('on a real terminal', () => {
  it('says what is waited for and how long, and takes the line away', async () => {
    const cwd = tempFolder();
    const { url, close } = await restarting();
    writeFileSync(join(cwd, 'token'), 'lkm_admin_1', { mode: 0o600 });
    const { code, screen } = await onTerminal(`customers list --token-file token --base-url ${url}`, '', cwd);
    close();
    expect(code).toBe(0);
    const line = 'waiting for the service, which answered 503; next attempt in 1 s';
    expect(screen.split(line), screen).toHaveLength(3);
    expect(screen).toContain(`${line}\r\u001b[K`);
    expect(screen.slice(screen.lastIndexOf('\u001b[K'))).toContain('no customers yet');
  });

  const customerIn = async (cwd: string): Promise<string> =>
    (
      await lkm(['customers', 'create', '--name', 'Ada Ltd', '-q', '--db', 'lkm.db', '--create'], { cwd })
    ).stdout.trim();

  it('a customer is deleted once its id is typed', async () => {
    const cwd = tempFolder();
    const id = await customerIn(cwd);
    const { code, screen } = await onTerminal(`customers delete ${id} --db lkm.db`, `${id}\r`, cwd);
    expect(screen).toContain(`deleted ${id}`);
    expect(code).toBe(0);
  });

  it.each([
    ['Ctrl-D', '\u0004', 3],
    ['Ctrl-C', '\u0003', 130],
  ])('%s at the question ends it, and the customer stays', async (_, keys, exitCode) => {
    const cwd = tempFolder();
    const id = await customerIn(cwd);
    const { code, screen } = await onTerminal(`customers delete ${id} --db lkm.db`, keys, cwd);
    expect(screen).toContain('Nothing was sent.');
    expect(code).toBe(exitCode);
    expect((await lkm(['customers', 'list', '-q', '--db', 'lkm.db'], { cwd })).stdout.trim()).toBe(id);
  });
});
