import { expect, it } from 'vitest';
import { lkm } from './fake-io.ts';

const stderrOf = async (line: string): Promise<string> => (await lkm(line.split(' '))).stderr;

it.each([
  ['sign', 'lkm keys sign'],
  ['backup', 'lkm db backup'],
  ['status', 'lkm auth status or lkm db status'],
  ['create key', 'lkm keys create'],
  ['rm keys', 'lkm keys delete'],
  ['--json get customer', 'lkm customers get'],
])("'%s' may mean %s", async (line, meant) => {
  expect(await stderrOf(line)).toContain(`. Did you mean ${meant}?`);
});

it.each(['list', 'create', 'constructor', 'keys toString', 'jobs create'])(
  "'%s' may mean nothing or too much, and nothing is suggested",
  async (line) => {
    expect(await stderrOf(line)).toMatch(/unknown command '\w+'\.?\n/);
  },
);

it.each([
  ['--max 3', '--max-activations or --max-sessions'],
  ['--activations 3', '--max-activations'],
  ['--email a@b.example', '--new-customer-email'],
  ['--productId p', '--product'],
  ['--customer-id c', '--customer'],
  ['--expiryDate 2027-01-01', '--expires'],
  ['--features sso', '--feature'],
])("'keys create %s' may mean %s", async (option, meant) => {
  expect(await stderrOf(`keys create ${option}`)).toContain(`. Did you mean ${meant}?\n`);
});

it.each(['--no-file', '--constructor', '--__proto__', '--sort'])(
  "'keys create %s' means none of its options",
  async (option) => {
    expect(await stderrOf(`keys create ${option}`)).toContain(`unknown option '${option}'\n`);
  },
);

it.each([
  ['customers create Ada --email a@b.example', '--name Ada'],
  ['keys sign KEY build-01', '--host-id build-01'],
  ['keys import shop.csv', '-f shop.csv'],
  ['login https://keys.example', '--base-url https://keys.example'],
  ['serve shop.db', 'lkm serve --db shop.db'],
  ['serve postgres://u:p@db.example/lkm', 'lkm serve --db postgres://u@db.example/lkm'],
])("the word too many of '%s' may be for %s", async (line, option) => {
  expect(await stderrOf(line)).toMatch(new RegExp(`\\n {2}Perhaps: +${option}\\n`));
});

it.each(['keys sign KEY a b', 'customers create --name Ada more', 'keys create 5'])(
  "nothing is said of the words too many of '%s'",
  async (line) => {
    expect(await stderrOf(line)).not.toContain('Perhaps');
  },
);

it.each([
  ['keys activate 00000-00000-00000-00000-00000 build-01', "unexpected argument 'build-01'"],
  ['keys sign a b c', "unexpected arguments 'b', 'c'"],
  ['keys sign KEY 00000-00000-00000-00000-00000', "unexpected argument '…00000'"],
  ['keys create 00000-00000-00000-00000-00000', "unexpected argument '…00000'"],
  ['keys sign KEY ACME-2019-0042-F3D9-77AB-10CE', "unexpected argument '…-10CE'"],
])("'%s' repeats no key", async (line, message) => {
  expect(await stderrOf(line)).toMatch(new RegExp(`^error: ${message}\\n`));
  expect(await stderrOf(line)).not.toMatch(/00000-00000|ACME/);
});
