import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFolder } from '../support/engines.ts';

describe('lkm serve', () => {
  it('goes on serving when the reader of its log has stopped reading', async () => {
    await using folder = await createFolder();
    const lkm = join(import.meta.dirname, '../../bin/lkm.js');
    const child = spawn(
      process.execPath,
      [lkm, 'serve', '--db', join(folder.path, 'x.db'), '--port', '0', '--json', '--log-format', 'json'],
      { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env.PATH, HOME: folder.path } },
    );
    onTestFinished(() => {
      child.kill('SIGKILL');
    });
    child.stderr.pause();
    const { value } = await createInterface(child.stdout)[Symbol.asyncIterator]().next();
    const { url } = JSON.parse(String(value)) as { url: string };
    // Together more lines than a pipe holds.
    for (let index = 0; index < 2_000; index += 1) {
      const response = await fetch(`${url}/nothing-here-${index}`);
      await response.text();
      expect(response.status).toBe(404);
    }
  });

  it.each([
    ['its log disk is full', '2>/dev/full'],
    ['stderr is closed', '2>&-'],
  ])('goes on serving when %s', async (_, redirection) => {
    await using folder = await createFolder();
    const lkm = join(import.meta.dirname, '../../bin/lkm.js');
    const command = `exec ${process.execPath} ${lkm} serve --db ${folder.path}/x.db --port 0 --json --log-format json`;
    const child = spawn('sh', ['-c', `${command} ${redirection}`], {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { PATH: process.env.PATH, HOME: folder.path },
    });
    const exited = once(child, 'exit');
    onTestFinished(() => {
      child.kill('SIGKILL');
    });
    const { value } = await createInterface(child.stdout)[Symbol.asyncIterator]().next();
    const { url } = JSON.parse(String(value)) as { url: string };
    // Refused without a token, and after ten such requests for a minute.
    for (let index = 0; index < 50; index += 1) expect((await fetch(`${url}/customer`)).status).toBeOneOf([401, 429]);
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  });
});
