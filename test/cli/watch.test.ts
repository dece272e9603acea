import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasProgram, Terminal } from '../support/terminal.ts';
import { lkm, NOW, tempFolder } from './fake-io.ts';

const main = join(import.meta.dirname, '../../src/cli/main.ts');
const command = (words: string): string => `"${process.execPath}" "${main}" ${words}`;

/** A folder with a database that has so many customers, and a terminal in it. */
async function shop(customers: number) {
  const cwd = tempFolder();
  let now = NOW;
  // A millisecond between them: lists are in the order in which customers were made.
  const at = (...argv: string[]) => lkm(argv, { cwd, env: { LKM_DB: 'lkm.db' }, now: now++ });
  for (let made = 1; made <= customers; made++)
    await at('customers', 'create', '--name', `Customer ${made}`, '--create');
  const line = (words: string): string => {
    writeFileSync(join(cwd, 'line.sh'), `trap : INT\n${command(words)}\necho "exit $?"\n`);
    return 'line.sh';
  };
  const open = (words: string, env: Record<string, string> = {}) =>
    new Terminal(`sh ${line(words)}`, {
      cwd,
      env: { PATH: process.env.PATH ?? '', HOME: cwd, LKM_DB: 'lkm.db', ...env },
    });
  return { cwd, at, open };
}

let made: ReturnType<typeof shop> | undefined;

/** A database with more customers than the terminal has lines, for all tests that only read. */
function long(): ReturnType<typeof shop> {
  made ??= shop(45);
  return made;
}

describe.runIf(hasProgram('script'))('--watch', () => {
  it('shows a list again in place, with what others have changed, and ends with 0 at ctrl-c', async () => {
    const { at, open } = await shop(1);
    await using terminal = open('customers list --watch');
    await terminal.until(/every 2 s · ctrl-c ends.*Customer 1/s);
    expect(terminal.raw).toContain('\u001b[?1049h');
    await at('customers', 'create', '--name', 'Customer 2');
    await terminal.until(/Customer 2/);
    terminal.type('\u0003');
    const shown = await terminal.until(/exit 0/);
    expect(terminal.raw).toContain('\u001b[?25h\u001b[?1049l');
    expect(shown).toMatch(/ID +NAME.*Customer 1.*Customer 2.*exit 0/s);
  });

  it('cuts a list at the height of the terminal, and says how much more there is', async () => {
    const { open } = await long();
    await using terminal = open('customers list --watch');
    await terminal.until(/… 9 more lines/);
    terminal.type('\u0003');
    await terminal.until(/Customer 45.*exit 0/s);
  });

  it.each([
    ['the format is another', '--json', true, 'xterm'],
    ['the result is to be quiet', '-q', true, 'xterm'],
    ['the terminal cannot be drawn on', '--watch', true, 'dumb'],
    ['stdout is a pipe', '--watch', false, 'xterm'],
  ])('is refused where %s', async (_, option, terminal, TERM) => {
    const { code, stderr } = await lkm(['customers', 'list', '--watch', option], { terminal, env: { TERM } });
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('--watch needs a terminal') });
  });
});
