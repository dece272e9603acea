import { describe, expect, it } from 'vitest';
import { scripts } from '../../src/cli/completion/scripts.ts';
import { commandEntries, groups } from '../../src/cli/tree.ts';
import { lkm, type Surroundings } from './fake-io.ts';
import { against, customer, listed, remote } from './scripted-service.ts';
import { openShop } from './shop.ts';

/** The words that are offered behind these. */
async function offered(words: readonly string[], surroundings: Surroundings = {}): Promise<string[]> {
  const { code, stdout, stderr } = await lkm(['__complete', ...words], surroundings);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split('\t')[0] ?? '');
}

describe('lkm __complete', () => {
  it('offers every group, command and shortcut', async () => {
    const single = commandEntries.flatMap(({ path, shortcut }) => [
      ...(path.includes(' ') ? [] : [path]),
      ...(shortcut ?? []),
    ]);
    const words = await offered(['']);
    expect(words).toEqual(
      expect.arrayContaining([...groups.map(({ name }) => name), ...single.filter((w) => w.length > 1)]),
    );
  });

  it.each(groups)('offers every command of $name', async ({ name, alias }) => {
    const verbs = commandEntries
      .filter(({ path }) => path.startsWith(`${name} `))
      .map(({ path }) => path.slice(name.length + 1));
    expect(await offered([name, ''])).toEqual(verbs);
    if (alias) expect(await offered([alias, ''])).toEqual(verbs);
  });

  it.each([
    ['keys cr', 'create'],
    ['keys create --max-a', '--max-activations'],
    ['keys create --type ', 'node-locked floating'],
    ['keys create --type=fl', '--type=floating'],
    ['tokens create --scope license:read,audit:', 'license:read,audit:read'],
    ['tokens create --scope=license:read,audit:', '--scope=license:read,audit:read'],
    ['-p shop keys cr', 'create'],
    ['serve --seed --clo', '--clock'],
    ['serve --seed 7 --clo', '--clock'],
    ['--format json auth sw', 'switch'],
    ['--format js', 'json jsonl'],
    ['customers rm --con', '--confirm'],
    ['help exit', 'exit-codes'],
    ['config set max-', 'max-retries max-wait'],
    ['completion z', 'zsh'],
    ['keys create --expires a', ''],
    ['keys create -f ', ':files'],
    ['api ', ''],
    ['keys verify ', ':files'],
    ['products list -o ', ':files'],
    ['nonsense ', ''],
    ['keys create --unknown ', ''],
  ])('goes on from "%s" with "%s"', async (words, expected) => {
    expect((await offered(words.split(' '))).join(' ')).toBe(expected);
  });

  it('offers objects of the service with what they are called', async () => {
    const ada = customer('cus_1', 'Ada \u001b[31mLtd', 'it@ada.example');
    const { stdout, seen } = await against('__complete customers delete cus', [listed([ada])]);
    expect(stdout).toBe('cus_1\tAda \\u{1b}[31mLtd <it@ada.example>\n');
    expect(seen.map(({ path }) => path)).toEqual(['/customer?limit=100']);
  });

  it.each([
    ['keys list --customer it', 'it@ada.example\tcus_1\n'],
    ['keys list --customer Bo', 'Bob\tcus_2\n'],
    ['keys list --customer=Bo', '--customer=Bob\tcus_2\n'],
    ['keys list --customer cus_2', 'cus_2\tBob\n'],
    // Two are called so, and one would be run.
    ['keys list --customer Twin', ''],
    ['keys list --customer Ada', 'Ada Ltd\tcus_1\n'],
    ['keys list --customer $', ''],
    ['customers delete Bo', 'Bob\tcus_2\n'],
  ])('offers a name in the place of an id: %s', async (line, expected) => {
    const all = [
      customer('cus_1', 'Ada Ltd', 'it@ada.example'),
      ...['Bob', 'Twin', 'Twin', '$(x)'].map((name, at) => customer(`cus_${at + 2}`, name, null)),
    ];
    expect((await against(`__complete ${line}`, [listed(all)])).stdout).toBe(expected);
  });

  it('offers keys with their use and the name of their customer', async () => {
    const { at, answer } = await openShop();
    const key = await answer('keys create --max-activations 2 --new-customer-name Ada');
    expect((await at('__complete keys get ')).stdout).toBe(`${key}\t0/2 Ada\n`);
  });

  it('shows no error and asks nothing when the service cannot be asked', async () => {
    expect(await offered(['customers', 'delete', ''])).toEqual([]);
    const env = { ...remote, LKM_TOKEN: '' };
    expect(await offered(['customers', 'delete', ''], { env, terminal: true })).toEqual([]);
  });
});

describe('lkm completion', () => {
  it.each(Object.entries(scripts))('prints the script for %s', async (shell, script) => {
    expect(await lkm(['completion', shell])).toEqual({ code: 0, stdout: script(), stderr: '' });
  });

  it.each([['completion'], ['completion', 'tcsh']])('names the shells it knows: %s %s', async (...argv) => {
    const { code, stderr } = await lkm(argv);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('bash, zsh, fish, powershell') });
  });
});
