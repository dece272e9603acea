import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { says } from './fake-io.ts';
import { openShop } from './shop.ts';

async function fill() {
  const shop = await openShop();
  const { names, answer } = shop;
  names.ADA = await answer('customers create --name Müller --email it@mill.example -q');
  names.KEY = await answer('keys create --customer ADA --reference ORDER-77 --max-activations 5');
  names.OTHER = await answer('keys create --metadata order=A-1042');
  await answer('keys activate KEY --host-id laptop-4711 --tag Workshop');
  return shop;
}

let shop: Awaited<ReturnType<typeof fill>>;
beforeAll(async () => {
  shop = await fill();
});

const endOf = (name: string): string => String(shop.names[name]).slice(-5);

describe('lkm find', () => {
  it.each([
    ['find muell', 'ADA'],
    ['find MULL', 'ADA'],
    ['find @mill', 'ADA'],
    ['find KEY', 'KEY'],
    ['find order-77', 'KEY'],
    ['find 4711', 'KEY'],
    ['find orkshop', 'KEY'],
    ['find A-1042', 'OTHER'],
  ])('%s finds %s', async (line, name) => {
    const { code, stdout } = await shop.at(`${line} -q`);
    expect([code, stdout]).toEqual([0, `${shop.names[name]}\n`]);
  });

  it.each([
    ['without its separators', (key: string) => key.replaceAll('-', '')],
    ['with spaces for them', (key: string) => key.replaceAll('-', ' ')],
    ['with long dashes, in lower case', (key: string) => key.replaceAll('-', '–').toLowerCase()],
  ])('finds a key as it was written down: %s', async (_, written) => {
    const { KEY = '' } = shop.names;
    shop.names.WRITTEN = written(KEY);
    expect(await shop.at('find WRITTEN -q')).toMatchObject({ code: 0, stdout: `${KEY}\n` });
  });

  it('says on a terminal what it is, by what it was found, and how to see it', async () => {
    const { stdout } = await shop.at('find order-77', { terminal: true });
    expect(stdout).toBe(
      `key       ${shop.names.KEY}  reference ORDER-77\n` +
        `          Engine, Müller, it@mill.example\n` +
        `          lkm keys get ${shop.names.KEY}\n`,
    );
    expect((await shop.at('find mill', { terminal: true })).stdout).toBe(
      `customer  Müller, it@mill.example\n          lkm customers get ${shop.names.ADA}\n`,
    );
  });

  it('says so when nothing fits, and that there are more', async () => {
    const none = await shop.at('find zzz');
    expect([none.code, none.stdout, none.stderr]).toEqual([0, '', expect.stringContaining('nothing fits')]);
    await shop.at('customers create --name Müllerin');
    const more = await shop.at('find müll --limit 1 --json');
    expect(JSON.parse(more.stdout)).toHaveLength(1);
  });
});

describe('a key that is given by its end', () => {
  it.each(['', '…', '...', '*****-*****-*****-*****-'])('is looked up, as %s shows it', async (mask) => {
    const { code, stdout } = await shop.at(`keys get ${mask}${endOf('KEY').toLowerCase()} --fields key`);
    expect([code, stdout]).toEqual([0, `${shop.names.KEY}\n`]);
  });

  it('is looked up for a change, and among several keys', async () => {
    const { code, stdout } = await shop.at(`keys block …${endOf('KEY')} OTHER -q`);
    expect([code, stdout]).toEqual([0, `${shop.names.KEY}\n${shop.names.OTHER}\n`]);
    await shop.answer(`keys unblock KEY OTHER`);
  });

  it('is looked up where the key was replaced', async () => {
    const earlier = await shop.answer('keys create');
    shop.names.EARLIER = earlier;
    const key = await shop.answer('keys reissue EARLIER --overlap 0s');
    const end = earlier.slice(-5);
    const shown = await shop.at(`keys get …${end} --fields key`);
    expect([shown.code, shown.stdout]).toEqual([0, `${key}\n`]);
    const found = await shop.at(`find ${end} -q`);
    expect([found.code, found.stdout]).toEqual([0, `${key}\n`]);
  });

  it('ends with 6 where no key has it', async () => {
    const { code, stderr } = await shop.at('keys get …ZZZZZ');
    expect([code, stderr]).toEqual([6, says('no key ends with …ZZZZZ')]);
  });

  it('has to be given whole where several have it', async () => {
    writeFileSync(join(shop.cwd, 'keys.csv'), 'key\nAAAA-BBBB-CCCC-DDDD-EEEE-XYZ42\nFFFF-BBBB-CCCC-DDDD-EEEE-XYZ42\n');
    await shop.answer('keys import -f keys.csv -y');
    const { code, stderr } = await shop.at('keys revoke XYZ42 -y');
    expect([code, stderr]).toEqual([2, says('several keys end with …XYZ42: give the whole key of one')]);
    // The log of a job must have no whole key.
    expect(stderr).not.toMatch(/BBBB/);
    expect(stderr).toMatch(/See them: {2}lkm .*find '?…XYZ42'?\n/);
    expect((await shop.at('find …XYZ42 --fields key')).stdout.split('\n').sort()).toEqual([
      '',
      'AAAA-BBBB-CCCC-DDDD-EEEE-XYZ42',
      'FFFF-BBBB-CCCC-DDDD-EEEE-XYZ42',
    ]);
  });

  it('has to be given whole to a token that sees keys masked', async () => {
    const file = join(shop.cwd, 'masked.token');
    writeFileSync(file, await shop.answer('tokens create --name reader --kind read-only'), { mode: 0o600 });
    const { code, stderr } = await shop.at(`keys get …${endOf('KEY')} --token-file masked.token`);
    expect([code, stderr]).toEqual([2, says('this token is shown keys masked, and a masked key names no licence')]);
    const found = await shop.at(`find ORDER-77 --token-file masked.token --fields key,command`);
    expect(found.stdout).toBe(`*****-*****-*****-*****-${endOf('KEY')}\tlkm keys get ${endOf('KEY')}\n`);
  });
});
