import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';

it('the built command serves a new database until SIGTERM, and ends with 0', async () => {
  const home = mkdtempSync(join(tmpdir(), 'lkm-test-'));
  const lkm = join(import.meta.dirname, '../../bin/lkm.js');
  const child = spawn(process.execPath, [lkm, 'serve', '--port', '0', '--json', '--log-format', 'none'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, HOME: home },
    cwd: home,
  });
  const exited = once(child, 'exit');
  const { value: line } = await createInterface(child.stdout)[Symbol.asyncIterator]().next();
  const { url, event } = JSON.parse(line ?? '') as { url: string; event: string };
  expect(event).toBe('ready');
  expect((await fetch(`${url}/ready`)).status).toBe(200);
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
  rmSync(home, { recursive: true });
});
