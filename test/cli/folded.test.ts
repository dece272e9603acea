import { expect, it } from 'vitest';
import { foldCommand, foldLine } from '../../src/cli/output/words.ts';
import { person } from './fake-io.ts';
import { openShop } from './shop.ts';

it('breaks a command between its words, and leaves an option with its value', () => {
  expect(foldCommand(`lkm keys create -P 'Engine Pro' --reference "a b" --if-absent`, 40)).toEqual([
    `lkm keys create -P 'Engine Pro' \\`,
    `  --reference "a b" --if-absent`,
  ]);
});

it('leaves alone what fits, and what is no command', () => {
  for (const line of ['  Enable it:  lkm keys unblock KEY', `  ${'x'.repeat(100)}`]) {
    expect(foldLine(line, 80)).toEqual([line]);
  }
});

it('puts a command that a terminal has no room for below its label', async () => {
  const { at } = await openShop();
  await at('keys create -P Engine --reference a-long-order-number-1042');
  const { stderr } = await at('keys create -P Engine --reference a-long-order-number-1042', { terminal: true });
  expect(stderr).toMatch(
    /\n {2}\S*Print that key:\S*\n {4}lkm keys create -P Engine --reference a-long-order-number-1042 --if-absent\n$/,
  );
});

it('breaks the values of a record between words', async () => {
  const { at, answer } = await openShop();
  await answer('tokens create --role support --name erika -q');
  const { stdout } = await at('tokens show erika', { terminal: true });
  expect(Math.max(...stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
  expect(stdout).toMatch(/license:sign,\n {12}license:reveal/);
});

it('breaks a warning between words, and leads in its first line', async () => {
  const { at } = await openShop();
  const columns = Array.from({ length: 12 }, (_, at) => `strange_${at}`);
  const { stderr } = await at(`keys import -f - --ignore-unknown -n`, {
    terminal: { stderr: true },
    stdin: `key,productId,${columns.join(',')}\nABCD-1234-EFGH,Engine,${columns.join(',')}\n`,
  });
  const told = stderr.split('\n').filter((line) => line.includes('strange_'));
  expect(Math.max(...told.map(({ length }) => length))).toBeLessThanOrEqual(80);
  expect(told.join(' ')).toBe(`warning: columns left out: ${columns.join(', ')}`);
});

it('shows the command of a warning without the lead on a terminal, so that it can be copied', async () => {
  const { at } = await openShop();
  const create = (terminal: boolean) =>
    at('keys create -P Engine --reference a-long-order-number-1042 --max-activations 5 --expires never', {
      stdout: 'EPIPE',
      terminal: { stderr: terminal },
    });
  expect((await create(true)).stderr).toMatch(
    /^warning: the reader of stdout has gone.*:\n {4}lkm keys create .* \\\n {6}--\S+.*\n/m,
  );
  expect((await create(false)).stderr).toMatch(/^warning: the reader .*:\nwarning: {3}lkm keys create .*\n/m);
});

it('breaks what a question is about between words, and keeps its indentation', async () => {
  const { at, answer } = await openShop();
  await answer('tokens create --role support --name erika -q');
  const { stderr } = await at('tokens revoke erika', {
    terminal: true,
    prompter: person({ confirm: async () => false }),
  });
  expect(Math.max(...stderr.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
  expect(stderr).toMatch(/\n {2}scoped: license:read, .*,\n {2}license:.*\n/);
});
