import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { hasProgram, Terminal } from '../support/terminal.ts';
import { lkm, person, tempFolder } from './fake-io.ts';
import { customer, listed, refusal, remote, scriptedService } from './scripted-service.ts';

/** A shop with a product, two customers and a key of each; `at` runs a command in it. */
async function shop() {
  const cwd = tempFolder();
  const surroundings = { cwd, env: { LKM_DB: 'lkm.db' } };
  const at = (...argv: string[]) => lkm(argv, surroundings);
  const made = async (...argv: string[]) => (await at(...argv, '--create', '-q')).stdout.trim();
  const product = await made('products', 'create', '--name', 'Engine');
  const [ada, bob] = [
    await made('customers', 'create', '--name', 'Ada Ltd'),
    await made('customers', 'create', '--name', 'Bob'),
  ];
  const adas = await made('keys', 'create', '-P', product, '--customer', ada);
  const bobs = await made('keys', 'create', '-P', product, '--customer', bob, '--max-activations', '2');
  return { cwd, surroundings, at, made, product, ada, bob, adas, bobs };
}

/** A person who types a text and takes the first choice, and what they were shown. */
function typing(text: string) {
  const shown: string[] = [];
  const prompter = person({
    search: async (question, find) => {
      const [first] = await find(text, new AbortController().signal);
      shown.push(question, first?.name ?? 'nothing');
      return first?.value ?? '';
    },
  });
  return { prompter, shown };
}

describe('at a terminal', () => {
  it.each<[argv: string[], text: string, shown: RegExp]>([
    [['customers', 'get'], 'ada', /^Ada Ltd {2}cus_/],
    [['customers', 'keys'], 'ada', /^Ada Ltd {2}cus_/],
    [['products', 'get'], 'eng', /^Engine {2}prod_/],
    [['products', 'versions'], '', /^Engine {2}prod_/],
    [['keys', 'get'], 'bob', /^\S+ {2}Bob {2}0\/2 {2}expires in 1 month$/],
    [['tokens', 'revoke', '--yes'], 'dash', /^dash {2}read-only {2}tok_/],
  ])('%j asks for what is missing', async (argv, text, expected) => {
    const { surroundings, made } = await shop();
    await made('tokens', 'create', '--kind', 'read-only', '--name', 'dash');
    const { prompter, shown } = typing(text);
    const { code, stderr } = await lkm(argv, { ...surroundings, terminal: true, prompter });
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    expect(shown[1]).toMatch(expected);
  });

  it('a device is found among those of the key', async () => {
    const { surroundings, at, bobs } = await shop();
    for (const host of ['desk', 'laptop'])
      await at('keys', 'activate', bobs, '--host-id', host, '--tag', `Bob's ${host}`);
    const { prompter, shown } = typing('lap');
    const freed = await lkm(['keys', 'deactivate', bobs, '--dry-run'], { ...surroundings, terminal: true, prompter });
    expect(freed).toMatchObject({ code: 0, stdout: expect.stringContaining('"hostId": "laptop"') });
    expect(shown).toEqual(['which device?', "laptop  Bob's laptop  activated just now"]);
    const moved = await lkm(['keys', 'rebind', bobs, '--new-host-id', 'new'], {
      ...{ ...surroundings, terminal: true },
      prompter: typing('desk').prompter,
    });
    expect(moved).toMatchObject({ code: 0, stderr: expect.stringContaining('moved the slot of desk to new') });
  });

  it('a choice takes one line of the terminal', async () => {
    const { surroundings, made, ada } = await shop();
    await made('customers', 'create', '--name', '長い名前の株式会社', '--email', `${'x'.repeat(40)}@example.com`);
    const drawn: string[] = [];
    const prompter = person({
      search: async (_, find) => {
        for (const { name } of await find('', new AbortController().signal)) drawn.push(name);
        return ada;
      },
    });
    await lkm(['customers', 'get'], { ...surroundings, terminal: true, columns: 60, prompter });
    expect(drawn.map((name) => stringWidth(name)).every((width) => width <= 58)).toBe(true);
    expect(drawn.map((name) => name.split('  ')[0]).toSorted()).toEqual(['Ada Ltd', 'Bob', '長い名前の株式会社']);
  });

  it('what could not be asked is asked again', async () => {
    const found = listed([customer('cus_1', 'Ada Ltd')]);
    const { fetch, seen } = scriptedService(found, refusal(503, 1, 'Service unavailable'), found, found);
    const prompter = person({
      search: async (_, find) => {
        const { signal } = new AbortController();
        await expect(find('ada', signal)).rejects.toThrow('Service unavailable');
        return (await find('ada', signal))[0]?.value ?? '';
      },
    });
    await lkm(['customers', 'get', '--max-retries', '0'], { fetch, env: remote, terminal: true, prompter });
    const texts = seen.map(({ path }) => new URLSearchParams(path.split('?')[1]).get('text'));
    expect(texts).toEqual([null, 'ada', 'ada', null]);
  });

  it('a list that has nothing to pick is no question', async () => {
    const { surroundings, bobs } = await shop();
    for (const [argv, says] of [
      [['sessions', 'release'], "missing required argument 'ID'"],
      [['keys', 'deactivate', bobs], 'this key has no device: none was activated, or all were freed'],
    ] as const) {
      const { code, stderr } = await lkm(argv, { ...surroundings, terminal: true });
      expect([code, stderr]).toEqual([2, expect.stringContaining(says)]);
    }
  });
});

it('elsewhere nothing is asked', async () => {
  for (const argv of [
    ['keys', 'get'],
    ['customers', 'get'],
    ['tokens', 'revoke'],
    ['keys', 'delete', '-P', 'prod_1'],
  ]) {
    const { code, stdout, stderr } = await lkm(argv, { terminal: { stdout: true, stderr: true } });
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining('missing required argument')]);
  }
});

describe('completion', () => {
  it('offers keys of the product that was typed, and none that is masked', async () => {
    const { surroundings, made, product, adas, bobs } = await shop();
    const other = await made('products', 'create', '--name', 'Other');
    const offered = async (env: Record<string, string>, ...words: string[]) =>
      (await lkm(['__complete', ...words], { ...surroundings, env: { ...surroundings.env, ...env } })).stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => line.split('\t')[0]);
    expect((await offered({}, 'keys', 'get', '-P', product, '')).sort()).toEqual([adas, bobs].sort());
    expect(await offered({}, 'keys', 'get', '-P', other, '')).toEqual([]);
    expect(await offered({}, 'keys', 'get', adas.slice(0, 8))).toEqual([adas]);
    const token = await made('tokens', 'create', '--kind', 'read-only', '--name', 'dash');
    writeFileSync(join(surroundings.cwd, 'token'), token, { mode: 0o600 });
    expect(await offered({}, '--token-file', 'token', 'keys', 'get', '')).toEqual([]);
  });
});

describe.runIf(hasProgram('script'))('on a real terminal', () => {
  it('a key is found while a name is typed', async () => {
    const { cwd, bobs } = await shop();
    const main = join(import.meta.dirname, '../../src/cli/main.ts');
    const env = { PATH: process.env.PATH ?? '', HOME: cwd, LKM_DB: 'lkm.db' };
    await using terminal = new Terminal(`"${process.execPath}" "${main}" keys get`, { cwd, env });
    await terminal.until(/which key\?.*Ada Ltd/s);
    terminal.type('bob');
    // Return counts once the list stands still.
    await sleep(2_000);
    terminal.type('\r');
    const shown = await terminal.until(/customer id.*created/s);
    expect(shown).toContain(bobs);
    expect(shown).toMatch(/activations +0 of 2/);
  });
});
