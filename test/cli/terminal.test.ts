import { spawn, spawnSync } from 'node:child_process';
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

describe.runIf(hasScript)('on a real terminal', () => {
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

  it('Ctrl-D at the question ends with 3, and the customer stays', async () => {
    const cwd = tempFolder();
    const id = await customerIn(cwd);
    const { code, screen } = await onTerminal(`customers delete ${id} --db lkm.db`, '\u0004', cwd);
    expect(screen).toContain('the question got no answer');
    expect(screen).toContain('Nothing was sent.');
    expect(code).toBe(3);
    expect((await lkm(['customers', 'list', '-q', '--db', 'lkm.db'], { cwd })).stdout.trim()).toBe(id);
  });

  it('Ctrl-C at the question ends with 130, and the customer stays', async () => {
    const cwd = tempFolder();
    const id = await customerIn(cwd);
    const { code, screen } = await onTerminal(`customers delete ${id} --db lkm.db`, '\u0003', cwd);
    expect(screen).toContain('Nothing was sent.');
    expect(code).toBe(130);
    expect((await lkm(['customers', 'list', '-q', '--db', 'lkm.db'], { cwd })).stdout.trim()).toBe(id);
  });
});
