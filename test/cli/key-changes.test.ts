import { describe, expect, it } from 'vitest';
import { NOW, says } from './fake-io.ts';
import { against, PRODUCT } from './scripted-service.ts';
import { openShop, saying } from './shop.ts';

/** A shop with keys that stand for `KEY` and `OTHER`, the first of these terms. */
async function withKeys(terms = '') {
  const shop = await openShop();
  const key = await shop.answer(`keys create ${terms}`.trim());
  const other = await shop.answer('keys create');
  Object.assign(shop.names, { KEY: key, OTHER: other });
  return { ...shop, key, other };
}

describe('a key that cannot be used says what helps', () => {
  it.each<[change: string, later: number, hint: string]>([
    ['keys block KEY', 0, '  Enable it:  lkm keys unblock KEY\n'],
    ['keys update KEY --expires 1h', 7_200_000, '  Renew it:  lkm keys renew KEY --for 1y\n'],
  ])('after %s', async (change, later, hint) => {
    const { at, answer } = await withKeys();
    await answer(change);
    const ran = await at('keys sign KEY --host-id pc -o a.lic', { now: NOW + later });
    expect(ran).toMatchObject({ code: 5, stderr: says(hint) });
  });
});

describe('lkm keys create', () => {
  const create = 'keys create --reference order-1042';

  it('prints one key for a reference, however often it is run with --if-absent', async () => {
    const { at, json } = await openShop();
    const { stdout } = await at(`${create} --if-absent`);
    expect(await at(`${create} --if-absent --max-activations 3`)).toEqual({
      code: 0,
      stdout,
      stderr:
        'order-1042 has this key already; nothing was created\n' +
        'warning: The key of this reference differs in maxActivations\n',
    });
    expect((await at(`${create} --if-absent --fields reference`)).stdout).toBe('order-1042\n');
    expect((await at('keys create --reference order-8 --fields reference')).stdout).toBe('order-8\n');
    expect(await json(`${create} --if-absent`)).toMatchObject({ key: stdout.trim(), existing: true });
    const refused = await at(create);
    expect(refused).toMatchObject({
      code: 7,
      stdout: '',
      stderr: expect.stringMatching(/lkm keys create -P prod_\w+ --reference order-1042 --if-absent\n/),
    });
  });

  it('says of a reference that a key of another product has it', async () => {
    const { at, answer, names } = await openShop();
    await answer(create);
    names.VIEWER = await answer('products create --name Viewer');
    const refused = await at(`${create} --if-absent -P VIEWER`);
    expect(refused).toMatchObject({ code: 7, stdout: '', stderr: says('It is a key of another product') });
  });

  it('sets terms from the first use, and keys get says so', async () => {
    const { at, answer, names } = await openShop();
    const { stdout, stderr } = await at('keys create --expires-after 1y --grace-period P14D');
    expect(stderr).toBe('created · unlimited activations · lasts P1Y from its first use\n');
    names.KEY = stdout.trim();
    const shown = async () => /^expires +(.*)$/m.exec((await at('keys get KEY', { terminal: true })).stdout)?.[1];
    expect(await shown()).toBe('P1Y after its first use');
    await answer('keys sign KEY --host-id build-01 -o a.lic');
    expect(await shown()).toMatch(/^2027-11-21 .* UTC \(in 12 months\), then P14D of grace$/);
  });
});

describe('lkm keys update', () => {
  it('changes what is given, merges metadata by name, and shows the key', async () => {
    const { at, license } = await withKeys('--feature beta --metadata plan=pro --metadata note=x');
    const metadata = '--feature seats=3 --remove-feature beta --metadata plan=team --remove-metadata note --trial true';
    const ran = await at(`keys update KEY --max-activations 5 --expires 2030-12-31 ${metadata}`, { terminal: true });
    expect(ran).toEqual({ code: 0, stdout: says('activations  0 of 5'), stderr: 'updated\n' });
    expect(await license()).toMatchObject({
      maxActivations: 5,
      expirationDate: '2030-12-31T23:59:59.000Z',
      metadata: { features: { seats: 3 }, is_trial: true, plan: 'team' },
    });
  });

  it('clears with never, unlimited, none and --allow-any-host', async () => {
    const { answer, license, json } = await withKeys(
      '--new-customer-name Ada --max-activations 1 --expires 1y --allow-host a --grace-period 1d',
    );
    const limits = '--max-activations unlimited --expires never --grace-period none --allow-any-host';
    await answer(`keys update KEY --customer none ${limits}`);
    const cleared = { maxActivations: null, expirationDate: null, allowedHosts: null, gracePeriod: null };
    expect(await license()).toMatchObject(cleared);
    expect((await json('keys get KEY')).customer).toBeNull();
  });

  it('refuses a limit below what is in use, and takes --in-use', async () => {
    const { at, answer, license } = await withKeys('--max-activations 3');
    for (const host of ['a', 'b']) await answer(`keys activate KEY --host-id ${host}`);
    const refused = await at('keys update KEY --max-activations 1');
    expect(refused).toMatchObject({ code: 7, stderr: says('--in-use makes the change nevertheless.') });
    await answer('keys update KEY --max-activations 1 --in-use');
    expect(await license()).toMatchObject({ maxActivations: 1, activations: 2 });
  });
});

describe('lkm keys renew and transfer', () => {
  it('extends the expiry, which there must be', async () => {
    const { at, license } = await withKeys('--expires 2027-01-31');
    expect((await at('keys renew KEY --for 1mo')).stderr).toBe('renewed · expires 2027-02-28 23:59 UTC\n');
    expect((await license()).expirationDate).toBe('2027-02-28T23:59:59.000Z');
    expect((await at('keys renew KEY 1mo', { terminal: true })).stdout).toMatch(/^product +Engine \(prod_\w+\)$/m);
    await at('keys update KEY --expires never');
    const refused = await at('keys renew KEY --for P1Y');
    expect(refused).toMatchObject({ code: 7, stderr: says('Set its expiry:  lkm keys update KEY --expires') });
  });

  it('gives a key to a new customer, and to nobody', async () => {
    const { at, json } = await withKeys();
    expect((await at('keys transfer KEY --new-customer-name Ada')).stderr).toBe('transferred to Ada\n');
    expect((await json('keys get KEY')).customer).toMatchObject({ name: 'Ada' });
    expect((await at('keys transfer KEY --nobody')).stderr).toBe('taken from its customer\n');
    expect((await json('keys get KEY')).customer).toBeNull();
  });
});

it('the e-mail address of a customer stands for its id, for one key and for many, in any case', async () => {
  const { answer, json } = await withKeys();
  const ada = await answer('customers create --name Ada --email it@ada.example -q');
  const customerOf = async () => (await json('keys get KEY')).customer?.id;
  for (const change of ['transfer KEY --customer it@ada.example', 'update KEY --customer IT@Ada.example']) {
    await answer(`keys ${change}`);
    expect(await customerOf()).toBe(ada);
    await answer('keys transfer KEY --nobody');
  }
  const create = 'keys create --customer it@ada.example --expires never --idempotency-key k';
  expect(await answer(create)).toBe(await answer(create));
  await answer('keys create --customer it@ada.example --count 2');
  expect(await json('keys list --customer it@ada.example')).toHaveLength(3);
  expect(await answer('customers update it@ada.example --name Ada2 --fields id,name')).toBe(`${ada}\tAda2`);
});

describe('lkm keys block, unblock and delete', () => {
  it('blocks several keys, naming the end of each, and unblocks them', async () => {
    const { at, license, key, other } = await withKeys();
    const said = (done: string) => [key, other].map((one) => `${done} …${one.slice(-5)}\n`).join('');
    const blocked = await at('keys block KEY OTHER --note chargeback');
    expect(blocked).toEqual({ code: 0, stdout: '', stderr: said('blocked') });
    expect((await license()).vendorDisabled).toBe(true);
    await at('keys unblock OTHER');
    const again = [key, other].map((one) => `…${one.slice(-5)}`);
    expect((await at('keys block KEY')).stderr).toBe(`${again[0]} was blocked already\n`);
    expect((await at('keys unblock KEY OTHER')).stderr).toBe(`unblocked ${again[0]}\n${again[1]} was not blocked\n`);
    expect((await license()).vendorDisabled).toBe(false);
  });

  it('goes on after a key that is refused, and says which', async () => {
    const { at, answer, key, other } = await withKeys();
    await answer('keys delete OTHER --yes');
    const { code, stdout } = await at('keys block OTHER KEY --json');
    expect(code).toBe(12);
    expect(JSON.parse(stdout)).toMatchObject([
      { key: other, done: false, error: 'License not found' },
      { key, done: true, error: null },
    ]);
  });

  it('shows what a deletion takes along and asks for the end of the key', async () => {
    const { at, answer, key } = await withKeys('--new-customer-name Ada');
    await answer('keys activate KEY --host-id a');
    const typing = (text: string) => ({ terminal: true, prompter: saying(text) });
    expect(await at('keys delete KEY')).toMatchObject({ code: 3, stderr: says('--yes') });
    const declined = await at('keys delete KEY', typing('no'));
    expect(declined).toMatchObject({ code: 3, stderr: says(`  …${key.slice(-5)}  1 device · for Ada\n`) });
    const inUse = await at('keys delete KEY', typing(key.slice(-5)));
    expect(inUse).toMatchObject({ code: 7, stderr: says('license is in use: 1 device') });
    expect((await at('keys delete KEY --in-use', typing(key.slice(-5)))).code).toBe(0);
    expect((await at('keys get KEY')).code).toBe(6);
  });
});

it.each([
  ['create --expires 1y --expires-after 1y', '--expires-after and --expires cannot be combined'],
  ['create --if-absent', '--if-absent needs --reference'],
  ['create --expires-after soon', "--expires-after: 'soon' is not a duration such as P1Y, P14D, 1y, 30d or 12h"],
  ['create --grace-period 10000d', "--grace-period: '10000d' is too long"],
  ['create --max-sessions 3', '--max-sessions goes with --type floating'],
  ['update KEY', 'name what to change, such as --max-activations 10'],
  ['update KEY --feature a --remove-feature a', '--feature and --remove-feature contradict each other'],
  ['update KEY --allow-host a --allow-any-host', '--allow-host and --allow-any-host contradict each other'],
  ['update KEY --remove-metadata is_trial', 'is_trial has an option of its own: --trial false'],
  ['update KEY --remove-metadata features', 'features has an option of its own: --remove-feature'],
  ['update KEY --trial yes', "--trial: 'yes' is neither true nor false"],
  ['update KEY --if-updated-at now', "--if-updated-at: 'now' is not an instant"],
  ['renew KEY', '--for is required'],
  ['transfer KEY', 'one of --customer and --new-customer-name is required'],
  ['transfer KEY --nobody --customer cus_1', '--customer and --nobody contradict each other'],
  ['block KEY KEY', 'a key is given twice'],
  ['block KEY OTHER --idempotency-key k', '--idempotency-key is for one change: give one key with it'],
  ['delete KEY OTHER --if-updated-at 2026-11-21T10:00:00Z --yes', '--if-updated-at is for one change'],
])('keys %s is refused before anything is sent', async (line, message) => {
  const keys: Record<string, string> = { KEY: 'ACME-2019-0042-F3D9-77AB-10CE', OTHER: 'ACME-2019-0042-F3D9-77AB-10CF' };
  const product = line.startsWith('create') ? ` -P ${PRODUCT}` : '';
  const words = `keys ${line}${product}`.split(' ').map((word) => keys[word] ?? word);
  const { seen, ...ran } = await against(words, []);
  expect(ran).toEqual({ code: 2, stdout: '', stderr: says(message) });
  expect(seen).toEqual([]);
});
