import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { hasProgram, Terminal } from '../support/terminal.ts';
import { lkm, person } from './fake-io.ts';
import { against, customer, listed, refusal } from './scripted-service.ts';
import { openShop } from './shop.ts';

/** A shop with two customers and a key of each, the last of them with two slots: `ADAS` and `BOBS`. */
async function filled() {
  const shop = await openShop();
  const { names, answer } = shop;
  names.ADA = await answer('customers create --name Ada -q');
  names.BOB = await answer('customers create --name Bob -q');
  names.ADAS = await answer('keys create --customer ADA -q');
  names.BOBS = await answer('keys create --customer BOB --max-activations 2 -q');
  return shop;
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
  it.each<[line: string, text: string, shown: RegExp]>([
    ['customers get', 'ada', /^Ada {2}cus_/],
    ['customers keys', 'ada', /^Ada {2}cus_/],
    ['products get', 'eng', /^Engine {2}prod_/],
    ['products versions', '', /^Engine {2}prod_/],
    ['keys get', 'bob', /^\S+ {2}Bob {2}0\/2 {2}expires in 1 month$/],
    ['tokens revoke --yes', 'dash', /^dash {2}read-only {2}tok_/],
  ])('%s asks for what is missing', async (line, text, expected) => {
    const { at, answer } = await filled();
    await answer('tokens create --kind read-only --name dash');
    const { prompter, shown } = typing(text);
    const { code, stderr } = await at(line, { terminal: true, prompter, env: { LKM_PRODUCT: '' } });
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    expect(shown[1]).toMatch(expected);
  });

  it('keys are shown with their customers, without a request for each', async () => {
    const { at } = await filled();
    const { prompter, shown } = typing('');
    const { stderr } = await at('keys get -v', { terminal: true, prompter });
    // Both keys may be of one millisecond: either may come first.
    expect(shown[1]).toMatch(/ {2}(Ada|Bob) {2}/);
    expect(stderr.match(/^GET \S+/gm)).toEqual(['GET /key/list', 'GET /key/list', 'GET /key']);
  });

  it('a device is found among those of the key', async () => {
    const { at, answer } = await filled();
    for (const host of ['desk', 'laptop']) await answer(`keys activate BOBS --host-id ${host} --tag Bobs-${host}`);
    const { prompter, shown } = typing('lap');
    const freed = await at('keys deactivate BOBS --dry-run', { terminal: true, prompter });
    expect(freed).toMatchObject({ code: 0, stdout: expect.stringContaining('"hostId": "laptop"') });
    expect(shown).toEqual(['which device?', 'laptop  Bobs-laptop  activated just now']);
  });

  it('a choice takes one line of the terminal', async () => {
    const { names, at, answer } = await filled();
    await answer(`customers create --name 長い名前の株式会社 --email ${'x'.repeat(40)}@example.com`);
    const drawn: string[] = [];
    const prompter = person({
      search: async (_, find) => {
        for (const { name } of await find('', new AbortController().signal)) drawn.push(name);
        return names.ADA ?? '';
      },
    });
    await at('customers get', { terminal: true, columns: 60, prompter });
    expect(drawn.map((name) => stringWidth(name)).every((width) => width <= 58)).toBe(true);
    expect(drawn.map((name) => name.split('  ')[0]).toSorted()).toEqual(['Ada', 'Bob', '長い名前の株式会社']);
  });

  it('what could not be asked is asked again', async () => {
    const found = listed([customer('cus_1', 'Ada Ltd')]);
    const answers = [found, refusal(503, 1, 'Service unavailable'), found, found];
    const prompter = person({
      search: async (_, find) => {
        const { signal } = new AbortController();
        await expect(find('ada', signal)).rejects.toThrow('Service unavailable');
        return (await find('ada', signal))[0]?.value ?? '';
      },
    });
    const { seen } = await against('customers get --max-retries 0', answers, { terminal: true, prompter });
    const texts = seen.map(({ path }) => new URLSearchParams(path.split('?')[1]).get('text'));
    expect(texts).toEqual([null, 'ada', 'ada', null]);
  });

  it('a part of a name is asked about, and so is the device of a key that is given by its end', async () => {
    const { names, at, answer } = await filled();
    const asked: string[] = [];
    const prompter = person({
      search: async (question, find) => {
        asked.push(question);
        return (await find('', new AbortController().signal))[0]?.value ?? '';
      },
    });
    const shown = await at('customers get Ad', { terminal: true, prompter });
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining(`${names.ADA}`) });
    const key = await answer('keys create --customer ADA -q');
    await at(`keys activate ${key} --host-id pc-1`);
    expect(await at(`keys deactivate ${key.slice(-5)}`, { terminal: true, prompter })).toMatchObject({ code: 0 });
    expect(asked).toEqual(["no customer is called 'Ad': which is meant?", 'which device?']);
    expect(await at('customers get Ad')).toMatchObject({ code: 6 });
  });

  it('a list that has nothing to pick is no question', async () => {
    const { at } = await filled();
    for (const [line, says] of [
      ['sessions release', "missing required argument 'ID|HOST|USER'"],
      ['keys deactivate BOBS', 'this key has no device: none was activated, or all were freed'],
    ] as const) {
      expect(await at(line, { terminal: true })).toMatchObject({ code: 2, stderr: expect.stringContaining(says) });
    }
  });
});

it.each(['keys get', 'customers get', 'tokens revoke', 'keys delete -P prod_1'])(
  'elsewhere nothing is asked: %s',
  async (line) => {
    const { code, stdout, stderr } = await lkm(line.split(' '), { terminal: { stdout: true, stderr: true } });
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining('missing required argument')]);
  },
);

it('completion offers a product behind those that a list of them has already', async () => {
  const { product, names, at, answer } = await filled();
  names.OTHER = await answer('products create --name Other');
  const { stdout } = await at(
    `__complete tokens create --kind client --product ${product},${names.OTHER.slice(0, 29)}`,
  );
  expect(stdout).toBe(`${product},${names.OTHER}\tOther\n`);
});

it('completion offers keys of the product that was typed, and none that is masked', async () => {
  const { cwd, names, at, answer } = await filled();
  names.OTHER = await answer('products create --name Other');
  writeFileSync(join(cwd, 'token'), await answer('tokens create --kind read-only --name dash'), { mode: 0o600 });
  const { ADAS = '', BOBS = '' } = names;
  for (const [line, keys] of [
    ['keys get ', [ADAS, BOBS].sort()],
    ['keys get -P OTHER ', []],
    [`keys get ${ADAS.slice(0, 8)}`, [ADAS]],
    ['--token-file token keys get ', []],
  ] as const) {
    const { stdout } = await at(`__complete ${line}`);
    const offered = stdout.split('\n').filter(Boolean);
    expect(offered.map((one) => one.split('\t')[0]).sort()).toEqual(keys);
  }
});

describe.runIf(hasProgram('script'))('on a real terminal', () => {
  it('a key is found while a name is typed', async () => {
    const { cwd, names } = await filled();
    const main = join(import.meta.dirname, '../../src/cli/main.ts');
    const env = { PATH: process.env.PATH ?? '', HOME: cwd, LKM_DB: 'lkm.db' };
    await using terminal = new Terminal(`"${process.execPath}" "${main}" keys get`, { cwd, env });
    await terminal.until(/which key\?.*Ada/s);
    terminal.type('bob');
    // Return counts once the list stands still.
    await terminal.until(/customer bob\s+❯[^\n]*Bob[^\n]*\n\r?\n/);
    terminal.type('\r');
    const shown = await terminal.until(/customer id.*created/s);
    expect(shown).toContain(names.BOBS);
    expect(shown).toMatch(/activations +0 of 2/);
  });
});
