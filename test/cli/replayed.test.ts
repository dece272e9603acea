import { expect, it } from 'vitest';
import { openShop } from './shop.ts';

const told =
  'an earlier request with this idempotency key did it; this is its answer again, and the service changed nothing now\n';

/** A shop with a customer, a token and two keys, one of them signed for a device; each has a word in a line. */
async function filled() {
  const shop = await openShop();
  const { names, answer } = shop;
  names.PRODUCT = shop.product;
  names.CUSTOMER = await answer('customers create --name Ada');
  names.TOKEN = await answer('tokens create --kind client --name app --fields id');
  names.KEY = await answer('keys create --expires 2027-12-31');
  names.FLOATING = await answer('keys create --type floating --max-sessions 2');
  await answer('keys sign KEY --host-id build-01 -o first.lic');
  return shop;
}

const created = 'created · unlimited activations';
const fileLeft =
  'warning: a licence file for build-01 still counts until it expires: 2027-12-31 23:59 UTC (in 13 months)\n' +
  'only software that reads the list of lkm revocations export refuses it\n';

/** What a command says of a change that it made: the first line, which a replay says was done already, and the rest. */
it.each<[line: string, done: string, firstTime?: string, always?: string]>([
  ['keys create --expires 2027-12-31', `${created} · expires 2027-12-31 23:59 UTC`],
  ['keys create', created, 'no --expires given: the service sets one month, to 2026-12-21 12:00 UTC\n'],
  ['keys sign KEY --host-id build-01', 'signed · for build-01'],
  ['keys checkout FLOATING', 'leased'],
  ['keys activate KEY --host-id pc-7', 'activated pc-7 · 2 (unlimited) slots taken'],
  ['keys rebind KEY --host-id build-01 --new-host-id pc-7', 'moved the slot of build-01 to pc-7', '', fileLeft],
  ['keys deactivate KEY --host-id build-01', 'freed build-01', '', fileLeft],
  ['keys deactivate KEY --all-devices -y', 'freed all devices', '', fileLeft],
  ['products create --name Editor', 'created Editor'],
  ['products update PRODUCT --name Editor', 'updated PRODUCT'],
  ['customers create --name Bob', 'created Bob'],
  ['customers delete CUSTOMER -y', 'deleted CUSTOMER'],
  ['tokens revoke TOKEN -y', 'revoked TOKEN'],
])('a replayed change does not claim that it was done now: %s', async (line, done, firstTime = '', always = '') => {
  const { at, names } = await filled();
  const said = done.replace(/[A-Z]{5,}/, (word) => names[word] ?? word);
  const first = await at(`${line} --idempotency-key order-1001`);
  expect(first).toMatchObject({ code: 0, stderr: `${said}\n${firstTime}${always}` });
  const replayed = { code: 0, stdout: first.stdout, stderr: `already ${said}\n${told}${always}` };
  expect(await at(`${line} --idempotency-key order-1001`)).toEqual(replayed);
});

it.each([
  ['keys sign KEY --host-id build-01 -o a.lic --force', /^(wrote a\.lic · for build-01)\n$/, 'already signed · '],
  ['signing-keys rotate -y', /^([\w-]{43} signs licence files now)\ngive software that verifies the new keys: /],
  ['tokens create --kind client --name app', /^(created tok_\w+ · client · expires [-\d: ]+ UTC)\nkeep it now: /],
])('nor does %s', async (line, pattern, already = 'already ') => {
  const { at } = await filled();
  const { stdout, stderr } = await at(`${line} --idempotency-key order-1001`);
  expect(stderr).toMatch(pattern);
  const rest = stderr.slice(stderr.indexOf('\n') + 1);
  const second = await at(`${line} --idempotency-key order-1001`);
  expect(second).toMatchObject({ code: 0, stdout });
  expect(second.stderr).toMatch(`${already}${pattern.exec(stderr)?.[1]}\n${told}`);
  if (line.startsWith('tokens')) expect(second.stderr.endsWith(rest)).toBe(true);
});
