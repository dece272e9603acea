import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startTestServer } from '../support/server.ts';
import { hasProgram, Terminal } from '../support/terminal.ts';
import { lkm, NOW, person, says, tempFolder } from './fake-io.ts';

const main = join(import.meta.dirname, '../../src/cli/main.ts');

/** A terminal on which a command runs in the accessible mode, in a folder with so many customers, products or tokens. */
async function accessible(words: string, { make = 'customers', count = 1, env = {} }: Shop) {
  const cwd = tempFolder();
  let now = NOW;
  const at = (...argv: string[]) => lkm(argv, { cwd, env: { LKM_DB: 'lkm.db' }, now: now++ });
  for (let made = 1; made <= count; made++) await at(make, 'create', '--name', `${names[make]} ${made}`, ...more[make]);
  writeFileSync(join(cwd, 'line.sh'), `trap : INT\n"${process.execPath}" "${main}" ${words}\necho "exit $?"\n`);
  const { PATH = '' } = process.env;
  const given = { PATH, HOME: cwd, LKM_DB: 'lkm.db', NO_COLOR: '1', LKM_ACCESSIBLE: '1', ...env };
  const terminal = new Terminal('sh line.sh', { cwd, env: given });
  return { at, terminal };
}

interface Shop {
  readonly make?: 'customers' | 'products' | 'tokens';
  readonly count?: number;
  readonly env?: Readonly<Record<string, string>>;
}

const names = { customers: 'Customer', products: 'Engine', tokens: 'Shop' };
const more = { customers: ['--create'], products: ['--create'], tokens: ['--create', '--kind', 'read-only'] };

/** What moves the cursor or draws over a line. */
const moving = expect.not.stringMatching(/[^\P{Cc}\r\n]|\r(?!\n)/u);

describe.runIf(hasProgram('script'))('LKM_ACCESSIBLE', () => {
  it.each(['xterm', 'dumb'])('asks for a choice in numbered lines, on a terminal of type %s', async (TERM) => {
    const { terminal } = await accessible('customers get', { count: 23, env: { TERM } });
    await using _ = terminal;
    const asked = await terminal.until(/a number, or a part of the name: /);
    expect(asked).toMatch(/^which customer\?.*\n1\. Customer 1 .*\n20\. Customer 20 /s);
    expect(terminal.raw).toEqual(moving);
    terminal.type('nobody\n');
    expect(await terminal.until(/name: $/)).toContain('nothing was found');
    terminal.type('23\n');
    expect(await terminal.until(/name: $/)).toMatch(/name\r?\n1\. Customer 23 /);
    terminal.type('1\n');
    expect(await terminal.until(/exit 0/)).toMatch(/name +Customer 23/);
    expect(terminal.raw).toEqual(moving);
  });

  it('says how many choices are not shown', async () => {
    const { terminal } = await accessible('keys create --dry-run', { make: 'products', count: 22 });
    await using _ = terminal;
    expect(await terminal.until(/name: $/)).toMatch(
      /\n20\. Engine 20 .*\n2 more are not shown: type a part of the name/s,
    );
  });

  it.each([
    ['y', /revoked tok_.*exit 0/s],
    ['', /was not confirmed.*exit 3/s],
  ])('takes y for yes, and Enter for no: %j', async (answer, outcome) => {
    const { terminal } = await accessible('tokens revoke', { make: 'tokens', count: 1 });
    await using _ = terminal;
    await terminal.until(/name: $/);
    terminal.type('1\n');
    await terminal.until(/for ever\? \(y\/N\) $/);
    terminal.type(`${answer}\n`);
    await terminal.until(outcome);
  });

  it.each([
    ['Ctrl-C', '\u0003', 130],
    ['Ctrl-D', '\u0004', 3],
  ])('ends a question at %s, on a line of its own', async (_, keys, code) => {
    const { terminal } = await accessible('customers get', {});
    await using __ = terminal;
    await terminal.until(/name: $/);
    terminal.type(keys);
    expect(await terminal.until(/exit \d/)).toMatch(new RegExp(`\nerror: .*exit ${code}`, 's'));
  });

  it.each([
    ['is typed', 'lkm_secret\n', 4],
    ['is not given: Ctrl-C', '\u0003', 130],
    ['is not given: Ctrl-D', '\u0004', 3],
  ])('shows nothing of a token that %s', async (_, keys, code) => {
    const { url } = (await startTestServer()).server;
    const login = `login --base-url ${url} --max-retries 0`;
    const { terminal } = await accessible(login, { count: 0, env: { LKM_DB: '' } });
    await using __ = terminal;
    await terminal.until(/token for http:\/\/127.0.0.1:\d+: \(not shown\) $/);
    terminal.type(keys);
    expect(await terminal.until(/exit \d/)).toMatch(new RegExp(`\nerror: .*exit ${code}`, 's'));
    expect(terminal.raw).toEqual(moving);
    expect(terminal.raw).not.toContain('secret');
  });
});

describe('lkm config set accessible', () => {
  it('is the same for every command to come', async () => {
    const cwd = tempFolder();
    const env = { LKM_DB: 'lkm.db', TERM: 'dumb' };
    const id = (await lkm(['customers', 'create', '--name', 'Ada', '--create'], { cwd, env })).stdout.trim();
    const get = () =>
      lkm(['customers', 'get'], { cwd, env, terminal: true, prompter: person({ search: async () => id }) });
    expect(await get()).toMatchObject({ code: 2, stderr: says('missing required argument') });
    await lkm(['config', 'set', 'accessible', 'on'], { cwd, env });
    expect(await get()).toMatchObject({ code: 0, stdout: says('Ada') });
  });
});
