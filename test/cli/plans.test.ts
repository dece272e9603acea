import { describe, expect, it } from 'vitest';
import { NOW, says } from './fake-io.ts';
import { openShop, saying } from './shop.ts';

const FORM = /^([0-9A-Z]{5}-){4}[0-9A-Z]{5}$/;

/** A shop with the plan Pro, for a year and three devices. */
async function withPlan() {
  const shop = await openShop();
  const id = await shop.answer(
    'plans create --name Pro --max-activations 3 --lasts 1y --feature sso --feature seats=5',
  );
  return { ...shop, id };
}

describe('lkm plans', () => {
  it('are created, listed, shown by name and changed', async () => {
    const { at, answer, json, id, product } = await withPlan();
    expect(id).toMatch(/^plan_/);
    expect((await at('plans list', { terminal: true })).stdout.split('\n').map((line) => line.trimEnd())).toEqual([
      expect.stringMatching(/^ID +NAME +.*DEVICES +LASTS +.*FEATURES/),
      expect.stringMatching(new RegExp(`^${id} +Pro .* 3 +P1Y .* sso, seats=5`)),
      '',
    ]);
    expect(await json('plans get pro')).toMatchObject({ id, productId: product, duration: 'P1Y', maxActivations: 3 });
    await answer('plans update Pro --lasts forever --max-activations unlimited --remove-feature seats --feature beta');
    const changed = { duration: null, maxActivations: null, features: { sso: true, beta: true } };
    expect(await json(`plans get ${id}`)).toMatchObject(changed);
    await answer('plans update Pro --inactive');
    expect(await at('keys create --plan Pro')).toMatchObject({ code: 6, stdout: '' });
  });

  it('need a term where they are for trials, which is said before anything is sent', async () => {
    const { at } = await openShop();
    const ran = await at('plans create --name Trial --trial true');
    expect(ran).toMatchObject({ code: 2, stdout: '', stderr: says('--lasts') });
    expect(ran.stderr).not.toContain('answered');
  });

  it('say what a key is issued with, unless its options do', async () => {
    const { at, json, names, id } = await withPlan();
    const { stdout, stderr } = await at('keys create --plan Pro');
    expect(stderr).toBe('created · by its plan\n');
    names.KEY = stdout.trim();
    const { license } = await json('keys get KEY');
    expect(license).toMatchObject({ planId: id, maxActivations: 3, expirationDate: '2027-11-21T23:59:59.000Z' });
    names.KEY = await (await at('keys create --plan Pro --max-activations 9 --expires never')).stdout.trim();
    expect((await json('keys get KEY')).license).toMatchObject({ maxActivations: 9, expirationDate: null });
    await at('keys update KEY --plan none');
    expect((await json('keys get KEY')).license).toMatchObject({ planId: null, metadata: { features: {} } });
    await at('keys update KEY --plan Pro');
    expect(JSON.parse((await at('keys list --plan Pro --json')).stdout)).toHaveLength(2);
  });

  it('say on a terminal what a key has of its plan, and who has it', async () => {
    const { at, answer } = await withPlan();
    const customer = await answer('customers create --name Ada -q');
    const terminal = { stderr: true };
    const { stderr } = await at(`keys create --plan Pro --customer ${customer}`, { terminal });
    expect(stderr).toBe('created · 3 activations · expires 2027-11-21 23:59 UTC · for Ada\n');
    await answer('plans update Pro --from-first-use true');
    const waiting = await at('keys create --plan Pro', { terminal });
    expect(waiting.stderr).toBe('created · 3 activations · lasts P1Y from its first use\n');
    expect((await at('keys create --plan Pro -q', { terminal })).stderr).toBe('');
  });

  it('look a key up only where a person reads of it, and issue it also where the look-up is refused', async () => {
    const { at, answer, id } = await withPlan();
    const terminal = { stderr: true };
    const lookUps = async (line: string, more = {}) =>
      (await at(`${line} -v`, more)).stderr.match(/^GET \/key /gm) ?? [];
    expect(await lookUps(`keys create --plan ${id}`, { terminal })).toHaveLength(1);
    expect(await lookUps(`keys create --plan ${id}`)).toEqual([]);
    expect(await lookUps(`keys create --plan ${id} --count 2`, { terminal })).toEqual([]);
    await answer('tokens create --name issuer --kind scoped --scope license:write -o issuer.txt');
    const { code, stdout, stderr } = await at(`keys create --plan ${id} --token-file issuer.txt`, { terminal });
    expect({ code, lines: stdout.split('\n').length, stderr }).toEqual({
      code: 0,
      lines: 2,
      stderr: 'created · by its plan\n',
    });
  });

  it('issue in bulk, by the option or by a column', async () => {
    const { answer, json, id } = await withPlan();
    await answer('keys create --plan Pro --count 3 -o keys.csv');
    expect(await json('keys list --plan Pro')).toHaveLength(3);
    const stdin = { text: `reference,planId\norder-1,${id}\n` };
    await answer('keys create -f - --format csv', { stdin: stdin.text });
    expect(await json('keys list --plan Pro')).toHaveLength(4);
  });

  it('name the plans that there are when none is called so', async () => {
    const { at } = await withPlan();
    const ran = await at('keys create --plan Basic');
    expect(ran).toMatchObject({ code: 6, stdout: '', stderr: says("no plan is called 'Basic'") });
    expect(ran.stderr).toContain('Pro');
  });
});

describe('the option --trial', () => {
  it('takes no value, true or false, with every command alike', async () => {
    const { answer, json } = await openShop();
    const plan = await answer('plans create Trial --trial --lasts 14d');
    const isTrial = async () => (await json(`plans get ${plan}`)).isTrial;
    expect(await isTrial()).toBe(true);
    await answer(`plans update ${plan} --trial false`);
    expect(await isTrial()).toBe(false);
    const key = await answer('keys create --trial --expires 14d');
    await answer('keys create --trial false');
    expect(await answer('keys list --trial -q')).toBe(key);
    await answer(`keys update ${key} --trial=false`);
    expect(await answer('keys list --trial -q')).toBe('');
  });

  it('ends a key as a plan, a trial and a renewal do: with the day', async () => {
    const { answer, json } = await openShop();
    await answer('plans create Trial --trial --lasts 14d');
    const made = [
      await answer('keys create --expires 14d'),
      await answer('keys create --plan Trial'),
      await answer('keys trial --plan Trial --host-id pc-1'),
      await answer('keys create --expires-after 14d'),
      await answer('keys create'),
    ];
    await answer(`keys activate ${made[3]} --host-id pc-1`);
    await answer(`keys renew ${made[4]} 14d --from now`);
    const ends = await Promise.all(made.map(async (key) => (await json(`keys get ${key}`)).license.expirationDate));
    expect(new Set(ends)).toEqual(new Set(['2026-12-05T23:59:59.000Z']));
  });
});

describe('lkm keys trial', () => {
  it('prints the key of the one trial that a device has', async () => {
    const { at, answer, json, names } = await openShop();
    await answer('plans create --name Trial --trial true --lasts 14d');
    const line = 'keys trial --plan Trial --host-id pc-7';
    const { stdout, stderr } = await at(line);
    expect(stdout.trim()).toMatch(FORM);
    expect(stderr).toBe('trial started on pc-7 · expires 2026-12-05 23:59 UTC\n');
    expect(await at(line)).toMatchObject({ stdout, stderr: says('trial running on pc-7') });
    names.KEY = stdout.trim();
    expect((await json('keys get KEY')).license).toMatchObject({ activations: 1, allowedHosts: ['pc-7'] });
    expect(await at(line, { now: NOW + 15 * 86_400_000 })).toMatchObject({ code: 7, stdout: '' });
  });
});

describe('lkm keys reissue', () => {
  it('prints the new key, and says until when the old one works', async () => {
    const { at, answer, names } = await openShop();
    names.KEY = await answer('keys create');
    const { stdout, stderr } = await at('keys reissue KEY --overlap 12h');
    names.NEW = stdout.trim();
    expect([names.NEW, stderr]).toEqual([
      expect.stringMatching(FORM),
      'reissued · the old key works until 2026-11-22 00:00 UTC\n',
    ]);
    expect(await at('keys activate KEY --host-id a')).toMatchObject({ code: 0 });
    const later = { now: NOW + 43_200_000 };
    expect(await at('keys activate KEY --host-id b', later)).toMatchObject({ code: 6 });
    expect(await at('keys activate NEW --host-id b', later)).toMatchObject({ code: 0 });
    expect(await answer('keys history NEW')).toContain('license.reissued');
  });
});

describe('lkm keys revoke', () => {
  it('asks first, ends a key for ever, and shows why', async () => {
    const { at, answer, names } = await openShop();
    const key = await answer('keys create');
    names.KEY = key;
    const line = 'keys revoke KEY --reason refunded';
    expect(await at(line)).toMatchObject({ code: 3, stdout: '', stderr: says('--yes') });
    const terminal = { terminal: true };
    const ran = await at(line, { ...terminal, prompter: saying(key.slice(-5)) });
    expect(ran).toMatchObject({ code: 0, stderr: says(`revoked …${key.slice(-5)}`) });
    expect((await at('keys get KEY', terminal)).stdout).toMatch(/^status +revoked: refunded$/m);
    expect(await answer('keys list --status revoked -q')).toBe(key);
    for (const change of ['unblock KEY', 'update KEY --max-activations 3', 'reissue KEY', 'renew KEY --for 1y'])
      expect(await at(`keys ${change}`)).toMatchObject({ code: 5, stdout: '' });
  });
});

describe('lkm keys activate --component', () => {
  it('sends hashes, never what they are made of, and says which device it is', async () => {
    const { at, answer, names, json } = await openShop();
    names.KEY = await answer('keys create --fingerprint-match 2');
    const parts = '--component cpu=BFEB --component disk=S3Z9';
    await answer(`keys activate KEY --host-id old-name ${parts} --component board=X1`);
    const { stderr } = await at(`keys activate KEY --host-id new-name ${parts} --component board=X2`);
    expect(stderr).toContain('activated old-name · new-name is old-name by its components');
    expect((await json('keys get KEY')).license.activations).toBe(1);
    const dry = await answer(`keys activate KEY --host-id c ${parts} --dry-run --json`);
    expect(dry).toMatch(/"cpu": ?"[0-9a-f]{64}"/);
    expect(dry).not.toContain('BFEB');
    const twice = 'keys activate KEY --host-id c --component cpu=1 --component cpu=2';
    expect(await at(twice)).toMatchObject({ code: 2, stderr: says('a component is given twice') });
    expect(await at('keys activate KEY --host-id c --component cpu')).toMatchObject({
      code: 2,
      stderr: says('NAME=VALUE'),
    });
  });
});
