import { expect, it } from 'vitest';
import { lkm, tempFolder } from './fake-io.ts';

const told =
  'an earlier request with this idempotency key did it; this is its answer again, and the service changed nothing now\n';

/** A database with a product, a customer, a token and a floating key, and commands that run on it. */
async function shop() {
  const cwd = tempFolder();
  const env: Record<string, string> = { LKM_DB: 'lkm.db' };
  const at = (...argv: string[]) => lkm(argv, { cwd, env });
  const answer = async (...argv: string[]) => (await at(...argv)).stdout.trimEnd();
  const product = await answer('products', 'create', '--name', 'Engine Pro', '--create');
  env.LKM_PRODUCT = product;
  const customer = await answer('customers', 'create', '--name', 'Ada Ltd');
  const token = await answer('tokens', 'create', '--kind', 'client', '--name', 'app', '--fields', 'id');
  const key = await answer('keys', 'create', '--expires', '2027-12-31');
  const floating = await answer('keys', 'create', '--type', 'floating', '--max-sessions', '2');
  await at('keys', 'sign', key, '--host-id', 'build-01', '-o', 'first.lic');
  return { at, product, customer, token, key, floating };
}

/** What is said of the licence file of a device that is freed. */
const fileLeft =
  'warning: a licence file for build-01 still counts until its end: 2027-12-31 23:59 UTC (in 13 months)\n' +
  'only software that reads the list of lkm revocations export refuses it\n';

type Shop = Awaited<ReturnType<typeof shop>>;

/** What a command says of a change that it made, and of the same change when an earlier request had made it. */
const changes: readonly [
  command: string,
  argv: (shop: Shop) => readonly string[],
  made: (shop: Shop) => string,
  replayed: (shop: Shop) => string,
][] = [
  [
    'keys create',
    () => ['keys', 'create', '--expires', '2027-12-31'],
    () => 'created · unlimited activations · expires 2027-12-31 23:59 UTC\n',
    () => `already created · unlimited activations · expires 2027-12-31 23:59 UTC\n${told}`,
  ],
  [
    'keys create without --expires',
    () => ['keys', 'create'],
    () => 'created · unlimited activations\nno --expires given: the service sets one month, to 2026-12-21 12:00 UTC\n',
    () => `already created · unlimited activations\n${told}`,
  ],
  [
    'keys sign',
    ({ key }) => ['keys', 'sign', key, '--host-id', 'build-01', '-o', 'a.lic', '--force'],
    () => 'wrote a.lic · for build-01\n',
    () => `already signed · wrote a.lic · for build-01\n${told}`,
  ],
  [
    'keys sign to stdout',
    ({ key }) => ['keys', 'sign', key, '--host-id', 'build-01'],
    () => 'signed · for build-01\n',
    () => `already signed · for build-01\n${told}`,
  ],
  [
    'keys checkout',
    ({ floating }) => ['keys', 'checkout', floating],
    () => 'leased\n',
    () => `already leased\n${told}`,
  ],
  [
    'keys activate',
    ({ key }) => ['keys', 'activate', key, '--host-id', 'pc-7'],
    () => 'activated pc-7 · 2 (unlimited) slots taken\n',
    () => `already activated pc-7 · 2 (unlimited) slots taken\n${told}`,
  ],
  [
    'keys rebind',
    ({ key }) => ['keys', 'rebind', key, '--host-id', 'build-01', '--new-host-id', 'pc-7'],
    () => `moved the slot of build-01 to pc-7\n${fileLeft}`,
    () => `already moved the slot of build-01 to pc-7\n${told}${fileLeft}`,
  ],
  [
    'keys deactivate',
    ({ key }) => ['keys', 'deactivate', key, '--host-id', 'build-01'],
    () => `freed build-01\n${fileLeft}`,
    () => `already freed build-01\n${told}${fileLeft}`,
  ],
  [
    'keys deactivate --all-devices',
    ({ key }) => ['keys', 'deactivate', key, '--all-devices', '-y'],
    () => `freed all devices\n${fileLeft}`,
    () => `already freed all devices\n${told}${fileLeft}`,
  ],
  [
    'products create',
    () => ['products', 'create', '--name', 'Editor'],
    () => 'created Editor\n',
    () => `already created Editor\n${told}`,
  ],
  [
    'products update',
    ({ product }) => ['products', 'update', product, '--name', 'Editor'],
    ({ product }) => `updated ${product}\n`,
    ({ product }) => `already updated ${product}\n${told}`,
  ],
  [
    'customers create',
    () => ['customers', 'create', '--name', 'Bob'],
    () => 'created Bob\n',
    () => `already created Bob\n${told}`,
  ],
  [
    'customers delete',
    ({ customer }) => ['customers', 'delete', customer, '-y'],
    ({ customer }) => `deleted ${customer}\n`,
    ({ customer }) => `already deleted ${customer}\n${told}`,
  ],
  [
    'signing-keys rotate',
    () => ['signing-keys', 'rotate', '-y'],
    () => expect.stringMatching(/^[\w-]{43} signs licence files now\ngive software that verifies the new keys: .*\n$/),
    () => expect.stringMatching(/^already [\w-]{43} signs licence files now\n/),
  ],
  [
    'tokens revoke',
    ({ token }) => ['tokens', 'revoke', token, '-y'],
    ({ token }) => `revoked ${token}\n`,
    ({ token }) => `already revoked ${token}\n${told}`,
  ],
];

it.each(changes)('a replayed %s does not claim that it was done now', async (_command, argv, made, replayed) => {
  const at = await shop();
  const line = [...argv(at), '--idempotency-key', 'order-1001'];
  const first = await at.at(...line);
  const second = await at.at(...line);
  expect(first).toMatchObject({ code: 0, stderr: made(at) });
  expect(second).toEqual({ code: 0, stdout: first.stdout, stderr: replayed(at) });
});

it('a replayed tokens create does not either', async () => {
  const { at } = await shop();
  const line = ['tokens', 'create', '--kind', 'client', '--name', 'app', '--idempotency-key', 'order-1001'];
  const first = await at(...line);
  const second = await at(...line);
  expect(first.stderr).toMatch(
    /^created tok_\w+ · client · expires [-\d: ]+ UTC\nkeep it now: it is not shown again\n$/,
  );
  const [made = '', ...hints] = first.stderr.split(/(?<=\n)/);
  expect(second).toEqual({ code: 0, stdout: first.stdout, stderr: `already ${made}${told}${hints.join('')}` });
});
