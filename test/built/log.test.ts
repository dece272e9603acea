import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFolder } from '../support/engines.ts';

describe('lkm serve', () => {
  it.each([
    ['the reader of its log has stopped reading', ''],
    ['its log disk is full', '2>/dev/full'],
    ['stderr is closed', '2>&-'],
  ])('goes on serving when %s', async (_, redirection) => {
    await using folder = await createFolder();
    const lkm = join(import.meta.dirname, '../../bin/lkm.js');
    const command = `exec ${process.execPath} ${lkm} serve --db ${folder.path}/x.db --port 0 --json --log-format json`;
    // Nobody reads the pipe of its stderr meanwhile.
    const child = spawn('sh', ['-c', `${command} ${redirection}`], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, HOME: folder.path },
    });
    const exited = once(child, 'exit');
    onTestFinished(() => void child.kill('SIGKILL'));
    const { value } = await createInterface(child.stdout)[Symbol.asyncIterator]().next();
    const { url } = JSON.parse(String(value)) as { url: string };
    // Together more lines than a pipe holds.
    for (let index = 0; index < 2_000; index += 1) {
      const response = await fetch(`${url}/nothing-here-${index}`);
      await response.text();
      expect(response.status).toBe(404);
    }
    child.stderr.resume();
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  });
});
