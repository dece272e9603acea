import { describe, expect, it } from 'vitest';
import type { Prompter } from '../../src/cli/prompts/prompt.ts';
import { lkm, NOW, type Surroundings, tempFolder } from './fake-io.ts';
import { PRODUCT, refusal, remote, scriptedService } from './scripted-service.ts';

/** A database of its own with one product, and commands that run on it. */
async function shop() {
  const cwd = tempFolder();
  const env: Record<string, string> = { LKM_DB: 'lkm.db', NO_COLOR: '1' };
  const at = (argv: string[], more: Surroundings = {}) => lkm(argv, { cwd, ...more, env: { ...env, ...more.env } });
  const answer = async (...argv: string[]) => (await at(argv)).stdout.trimEnd();
  const license = async (key: string) => JSON.parse(await answer('keys', 'get', key, '--json')).license;
  env.LKM_PRODUCT = await answer('products', 'create', '--name', 'Engine Pro', '-q', '--create');
  return { cwd, at, answer, license, product: env.LKM_PRODUCT };
}

/** A person who types this. */
const typing = (text: string): Prompter => ({
  confirm: async () => false,
  type: async () => text,
  secret: async () => text,
  choose: async () => text,
  search: async () => text,
});

describe('a key that cannot be used', () => {
  it.each<[what: string, change: string[], now: number, says: string]>([
    ['blocked', ['block', 'KEY'], 0, '  Enable it:  lkm keys unblock KEY\n'],
    ['ended', ['update', 'KEY', '--expires', '1h'], 7_200_000, '  Renew it:  lkm keys renew KEY --for 1y\n'],
  ])('that is %s says what helps', async (_, [verb = '', __, ...more], later, says) => {
    const { at, answer } = await shop();
    const key = await answer('keys', 'create');
    await at(['keys', verb, key, ...more]);
    const { code, stderr } = await at(['keys', 'sign', key, '--host-id', 'pc', '-o', 'a.lic'], { now: NOW + later });
    expect(code).toBe(5);
    expect(stderr).toContain(says);
  });
});

describe('lkm keys create', () => {
  it('prints one key for a reference, however often it is run with --if-absent', async () => {
    const { at, answer } = await shop();
    const argv = ['keys', 'create', '--reference', 'order-1042', '--if-absent'];
    const key = await answer(...argv);
    expect(key).toMatch(/^[0-9A-Z]{5}(-[0-9A-Z]{5}){4}$/);
    expect(await at([...argv, '--max-activations', '3'])).toEqual({
      code: 0,
      stdout: `${key}\n`,
      stderr: 'order-1042 has this key already; nothing was created\n',
    });
    expect(JSON.parse((await at([...argv, '--json'])).stdout)).toMatchObject({ key, idempotencyKey: null });
  });

  it('says what to do about a taken reference without --if-absent', async () => {
    const { at } = await shop();
    await at(['keys', 'create', '--reference', 'order-1042']);
    const { code, stdout, stderr } = await at(['keys', 'create', '--reference', 'order-1042']);
    expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
    expect(stderr).toContain('a key with reference order-1042 already exists');
    expect(stderr).toContain('lkm keys create -P ID --reference R --if-absent');
  });

  it('prints no masked key: it says which token would see it', async () => {
    const taken = refusal(409, 10, 'A key with reference order-1042 already exists');
    const masked = {
      id: 'lic_1',
      key: '*****-*****-*****-*****-85SB5',
      productId: PRODUCT,
      maxActivations: null,
      activations: 0,
    };
    const shown = { ...masked, devices: [], activated: false, expirationDate: null };
    const { fetch } = scriptedService(taken, [200, { data: { license: shown, customer: null }, code: 0 }]);
    const argv = ['keys', 'create', '-P', PRODUCT, '--reference', 'order-1042', '--if-absent'];
    const { code, stdout, stderr } = await lkm(argv, { fetch, env: remote });
    expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
    expect(stderr).toContain(
      'order-1042 has a key already, and this token sees it masked: *****-*****-*****-*****-85SB5',
    );
    expect(stderr).toContain('license:reveal');
  });

  it('sets terms from the first use, and keys get says so', async () => {
    const { at, answer } = await shop();
    const { stdout, stderr } = await at(['keys', 'create', '--expires-after', '1y', '--grace-period', 'P14D']);
    expect(stderr).toBe('created · unlimited activations · lasts P1Y from its first use\n');
    const key = stdout.trimEnd();
    const shown = async () => {
      const { stdout: page } = await at(['keys', 'get', key], { terminal: true });
      return /^expires +(.*)$/m.exec(page)?.[1];
    };
    expect(await shown()).toBe('P1Y after its first use');
    await answer('keys', 'sign', key, '--host-id', 'build-01', '-o', 'a.lic');
    expect(await shown()).toMatch(/^2027-11-21 .* UTC \(in 12 months\), then P14D of grace$/);
  });

  it.each([
    [
      ['--expires', '1y', '--expires-after', '1y'],
      '--expires and --expires-after contradict each other; give one of them',
    ],
    [['--if-absent'], '--if-absent needs --reference'],
    [['--expires-after', '6m'], "--expires-after: '6m' can mean months or minutes: write 6mo or 6min"],
    [['--expires-after', 'soon'], "--expires-after: 'soon' is not a duration such as P1Y, P14D, 1y, 30d or 12h"],
    [['--grace-period', '10000d'], "--grace-period: '10000d' is too long"],
  ])('refuses %j', async (argv, message) => {
    const { at } = await shop();
    const { code, stdout, stderr } = await at(['keys', 'create', ...argv]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });
});

describe('lkm keys update', () => {
  it('changes what is given and shows the key', async () => {
    const { at, answer, license } = await shop();
    const key = await answer('keys', 'create', '--feature', 'beta', '--metadata', 'plan=pro', '--metadata', 'note=x');
    const argv = ['keys', 'update', key, '--max-activations', '5', '--expires', '2030-12-31', '--feature', 'seats=3'];
    const more = [
      '--remove-feature',
      'beta',
      '--metadata',
      'plan=team',
      '--remove-metadata',
      'note',
      '--trial',
      'true',
    ];
    const { code, stdout, stderr } = await at([...argv, ...more], { terminal: true });
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'updated\n' });
    expect(stdout).toContain('activations  0 of 5');
    expect(await license(key)).toMatchObject({
      maxActivations: 5,
      expirationDate: '2030-12-31T23:59:59.000Z',
      metadata: { features: { seats: 3 }, is_trial: true, plan: 'team' },
    });
  });

  it('clears with never, unlimited, none and --allow-any-host', async () => {
    const { at, answer, license } = await shop();
    const customer = await answer('customers', 'create', '--name', 'Ada', '-q');
    const limits = ['--max-activations', '1', '--expires', '1y', '--allow-host', 'a', '--grace-period', '1d'];
    const key = await answer('keys', 'create', '--customer', customer, ...limits);
    const cleared = [
      '--max-activations',
      'unlimited',
      '--expires',
      'never',
      '--allow-any-host',
      '--grace-period',
      'none',
    ];
    expect((await at(['keys', 'update', key, '--customer', 'none', ...cleared])).code).toBe(0);
    expect(await license(key)).toMatchObject({
      maxActivations: null,
      expirationDate: null,
      allowedHosts: null,
      gracePeriod: null,
    });
  });

  it('refuses a limit below what is in use, and takes --in-use', async () => {
    const { at, answer, license } = await shop();
    const key = await answer('keys', 'create', '--max-activations', '3');
    for (const host of ['a', 'b']) await answer('keys', 'sign', key, '--host-id', host, '-o', `${host}.lic`);
    const argv = ['keys', 'update', key, '--max-activations', '1'];
    const refused = await at(argv);
    expect(refused.code).toBe(7);
    expect(refused.stderr).toContain('license is in use: 2 devices');
    expect(refused.stderr).toContain('With --in-use it is done all the same.');
    expect((await at([...argv, '--in-use'])).code).toBe(0);
    expect(await license(key)).toMatchObject({ maxActivations: 1, activations: 2 });
  });

  it('changes a key only as it was seen', async () => {
    const { at, answer, license } = await shop();
    const key = await answer('keys', 'create');
    const { updatedAt } = await license(key);
    const argv = ['keys', 'update', key, '--if-updated-at', updatedAt, '--max-activations'];
    expect((await at([...argv, '2'])).code).toBe(0);
    const stale = await at([...argv, '3']);
    expect(stale.code).toBe(7);
    expect(stale.stderr).toContain('it was changed meanwhile, at ');
  });

  it.each([
    [[], 'nothing to change: give --max-activations, --expires or another of its options'],
    [['--feature', 'a', '--remove-feature', 'a'], '--feature a and --remove-feature a contradict each other'],
    [['--allow-host', 'a', '--allow-any-host'], '--allow-host and --allow-any-host contradict each other'],
    [['--remove-metadata', 'is_trial'], 'is_trial has an option of its own: --trial false'],
    [['--remove-metadata', 'features'], 'features has an option of its own: --remove-feature'],
    [['--trial', 'yes'], "--trial: 'yes' is neither true nor false"],
    [['--if-updated-at', 'now'], "--if-updated-at: 'now' is not an instant"],
  ])('refuses %j', async (argv, message) => {
    const { at, answer } = await shop();
    const { code, stderr } = await at(['keys', 'update', await answer('keys', 'create'), ...argv]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe('lkm keys renew and transfer', () => {
  it('extends the expiry', async () => {
    const { at, answer, license } = await shop();
    const key = await answer('keys', 'create', '--expires', '2027-01-31');
    expect((await at(['keys', 'renew', key, '--for', '1mo'])).stderr).toBe('renewed · expires 2027-02-28 23:59 UTC\n');
    expect((await license(key)).expirationDate).toBe('2027-02-28T23:59:59.000Z');
    expect((await at(['keys', 'renew', key])).stderr).toContain('--for is required');
  });

  it('refuses a key that never expires, and says how to set its expiry', async () => {
    const { at, answer } = await shop();
    const { code, stderr } = await at([
      'keys',
      'renew',
      await answer('keys', 'create', '--expires', 'never'),
      '--for',
      'P1Y',
    ]);
    expect(code).toBe(7);
    expect(stderr).toContain('Set its expiry:  lkm keys update KEY --expires');
  });

  it('gives a key to a new customer, and to nobody', async () => {
    const { at, answer } = await shop();
    const key = await answer('keys', 'create');
    expect((await at(['keys', 'transfer', key, '--new-customer-name', 'Ada'])).stderr).toBe('transferred to Ada\n');
    const owner = async () => JSON.parse(await answer('keys', 'get', key, '--json')).customer;
    expect(await owner()).toMatchObject({ name: 'Ada' });
    expect((await at(['keys', 'transfer', key, '--nobody'])).stderr).toBe('taken from its customer\n');
    expect(await owner()).toBeNull();
    expect((await at(['keys', 'transfer', key])).stderr).toContain('choose who gets it');
  });
});

describe('lkm keys block, unblock and delete', () => {
  it('blocks several keys, naming the end of each, and unblocks them', async () => {
    const { at, answer, license } = await shop();
    const keys = [await answer('keys', 'create'), await answer('keys', 'create')];
    const said = (done: string) => keys.map((key) => `${done} …${key.slice(-5)}\n`).join('');
    expect(await at(['keys', 'block', ...keys, '--note', 'chargeback'])).toEqual({
      code: 0,
      stdout: '',
      stderr: said('blocked'),
    });
    expect((await license(keys[0] ?? '')).vendorDisabled).toBe(true);
    expect((await at(['keys', 'unblock', ...keys])).stderr).toBe(said('unblocked'));
    expect((await license(keys[1] ?? '')).vendorDisabled).toBe(false);
  });

  it('goes on after a key that is refused, and says which', async () => {
    const { at, answer } = await shop();
    const key = await answer('keys', 'create');
    const gone = await answer('keys', 'create');
    await at(['keys', 'delete', gone, '--yes']);
    const { code, stdout } = await at(['keys', 'block', gone, key, '--json']);
    expect(code).toBe(12);
    expect(JSON.parse(stdout)).toMatchObject([
      { key: gone, done: false, error: 'License not found' },
      { key, done: true, error: null },
    ]);
  });

  it('shows what a deletion takes along and asks for the end of the key', async () => {
    const { at, answer } = await shop();
    const key = await answer('keys', 'create', '--new-customer-name', 'Ada');
    await answer('keys', 'sign', key, '--host-id', 'a', '-o', 'a.lic');
    const shown = `  …${key.slice(-5)}  1 device · for Ada\n`;
    const declined = await at(['keys', 'delete', key], { terminal: true, prompter: typing('no') });
    expect(declined.code).toBe(3);
    expect(declined.stderr).toContain(shown);
    const inUse = await at(['keys', 'delete', key], { terminal: true, prompter: typing(key.slice(-5)) });
    expect(inUse.code).toBe(7);
    expect(inUse.stderr).toContain('license is in use: 1 device');
    const deleted = await at(['keys', 'delete', key, '--in-use'], { terminal: true, prompter: typing(key.slice(-5)) });
    expect(deleted.code).toBe(0);
    expect((await at(['keys', 'get', key])).code).toBe(6);
  });

  it('deletes nothing in a script that does not confirm', async () => {
    const { at, answer, license } = await shop();
    const key = await answer('keys', 'create');
    const { code, stderr } = await at(['keys', 'delete', key]);
    expect(code).toBe(3);
    expect(stderr).toContain('--yes');
    expect((await license(key)).key).toBe(key);
  });

  it.each([
    [['block', 'K', 'K'], 'a key is given twice'],
    [['block', 'K', 'L', '--idempotency-key', 'k'], 'one idempotency key stands for one request'],
    [['delete', 'K', 'L', '--if-updated-at', '2026-11-21T10:00:00Z', '--yes'], '--if-updated-at is that of one key'],
  ])('refuses %j', async ([verb = '', ...argv], message) => {
    const { at, answer } = await shop();
    const keys = { K: await answer('keys', 'create'), L: await answer('keys', 'create') };
    const { code, stderr } = await at([
      'keys',
      verb,
      ...argv.map((word) => (word === 'K' || word === 'L' ? keys[word] : word)),
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});
