import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openShop, saying } from './shop.ts';

/** A shop with two keys of one customer and one of nobody, of two products, and a file of all three. */
async function openKeys() {
  const shop = await openShop();
  const { names, cwd, answer } = shop;
  names.ADA = await answer('customers create --name Ada --email ada@mill.example -q');
  names.BOB = await answer('customers create --name Bob -q');
  names.VIEWER = await answer('products create --name Viewer -q');
  names.ONE = await answer('keys create --customer ADA --expires 1y');
  names.TWO = await answer('keys create --customer ADA --expires 1y -P VIEWER');
  names.THREE = await answer('keys create --expires 1y');
  const { ONE, TWO, THREE } = names;
  writeFileSync(join(cwd, 'keys.txt'), `${ONE}\r\n\r\n${TWO}\n${THREE}`);
  writeFileSync(
    join(cwd, 'keys.csv'),
    `licenseKey,note\n${ONE},a\n${TWO},b\n${THREE},c\n`.replaceAll(/,(note|[abc])/g, ''),
  );
  const { product: _, ...rest } = shop;
  const anyProduct = { env: { LKM_PRODUCT: '' } };
  const at: typeof shop.at = (line, more) => shop.at(line, { ...anyProduct, ...more });
  const ask = (line: string) => answer(line, anyProduct);
  const show = async (key: string) => JSON.parse(await ask(`keys get ${key} --json`));
  return { ...rest, at, answer: ask, show, statuses: () => ask('keys list --fields status --format tsv') };
}

describe('a change of keys', () => {
  it.each([
    ['several keys', 'ONE TWO THREE'],
    ['a file of lines', '@keys.txt'],
  ])('is made of %s, whatever their products', async (_, keys) => {
    const { at, show, names } = await openKeys();
    const { code, stderr } = await at(`keys update ${keys} --max-activations 7`);
    expect({ code, lines: stderr.trimEnd().split('\n') }).toEqual({
      code: 0,
      lines: ['ONE', 'TWO', 'THREE'].map((name) => `updated …${names[name]?.slice(-5)}`),
    });
    for (const key of ['ONE', 'TWO', 'THREE']) expect((await show(key)).license.maxActivations).toBe(7);
  });

  it.each([
    ['keys update -f keys.csv --max-activations 7', 'updated'],
    ['keys renew -f keys.csv --for 1y', 'renewed'],
    ['keys transfer -f keys.csv --customer BOB', 'transferred'],
    ['keys block -f keys.csv', 'blocked'],
    ['keys unblock -f keys.csv', 'unblocked'],
    ['keys revoke -f keys.csv --reason leaked --yes', 'revoked'],
    ['keys delete -f keys.csv --yes', 'deleted'],
    ['keys reissue -f keys.csv', 'reissued'],
  ])('is made of each row of a file: %s', async (line, status) => {
    const { at } = await openKeys();
    const { code, stdout, stderr } = await at(`${line} --json`);
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject([{ status }, { status }, { status }]);
  });

  it('shows the new key beside the one that it replaces', async () => {
    const { at, names, show } = await openKeys();
    const [first] = JSON.parse((await at('keys reissue -f keys.csv --json')).stdout);
    expect(first).toMatchObject({ licenseKey: names.ONE, status: 'reissued', key: expect.stringMatching(/^.{29}$/) });
    expect(first.key).not.toBe(names.ONE);
    expect((await show(first.key)).license.key).toBe(first.key);
  });

  it('says once which field of a row the service refuses', async () => {
    const { cwd, at } = await openKeys();
    writeFileSync(join(cwd, 'short.csv'), 'key\nNOSUCH1\n');
    const { code, stdout } = await at('keys block -f short.csv -P engine --fields error');
    expect([code, stdout]).toEqual([12, 'Missing required params: licenseKey\n']);
  });

  it('says which keys of a file the service does not have, and sends nothing', async () => {
    const { cwd, at, statuses } = await openKeys();
    const file = join(cwd, 'keys.csv');
    writeFileSync(file, `${readFileSync(file, 'utf8')}AAAAA-BBBBB-CCCCC-DDDDD-EEEEE1\n`);
    const { code, stderr } = await at('keys block -f keys.csv');
    expect(code).toBe(2);
    expect(stderr).toContain('line 5: licenseKey: the service has no such key');
    expect(await statuses()).toBe('unused\nunused\nunused');
  });

  it.each(['keys revoke ONE TWO --reason leaked', 'keys delete -f keys.csv', 'keys revoke -f keys.csv'])(
    'that cannot be taken back asks once: %s',
    async (line) => {
      const { at, statuses } = await openKeys();
      const many = line.includes('-f') ? '3' : '2';
      expect((await at(line)).code).toBe(3);
      expect((await at(line, { terminal: true, prompter: saying('yes') })).code).toBe(3);
      expect(await statuses()).toBe('unused\nunused\nunused');
      const done = await at(line, { terminal: true, prompter: saying(many) });
      expect({ code: done.code, asked: done.stderr.includes(`${many} keys for ever`) }).toEqual({
        code: 0,
        asked: true,
      });
      expect(await statuses()).not.toBe('unused\nunused\nunused');
    },
  );

  it('gives all keys of one customer to another, once that is confirmed', async () => {
    const { at, answer, show } = await openKeys();
    const line = 'keys transfer --from-customer ada@mill.example --customer BOB';
    expect((await at(line)).code).toBe(3);
    expect((await at(line, { terminal: true, prompter: saying(false) })).code).toBe(3);
    expect(await answer('customers keys BOB -q')).toBe('');
    const done = await at(line, { terminal: true, prompter: saying(true) });
    expect(done.code).toBe(0);
    for (const key of ['ONE', 'TWO']) expect((await show(key)).customer.name).toBe('Bob');
    expect((await show('THREE')).customer).toBeNull();
    expect((await at(`${line} --yes`)).stderr).toContain('Ada has no keys');
    for (const other of ['ONE', '-f keys.csv']) {
      const both = await at(`keys transfer ${other} --from-customer BOB --customer ADA --yes`);
      expect({ code: both.code, stderr: both.stderr }).toEqual({
        code: 2,
        stderr: expect.stringContaining('two lists'),
      });
    }
  });

  it('asks the service for the keys of a customer once, and not for each of them', async () => {
    const { at } = await openKeys();
    const { stderr } = await at('keys transfer --from-customer ADA --customer BOB --yes -v');
    const requests = [...stderr.matchAll(/^(?:GET|POST) \S+/gm)].map(([request]) => request);
    expect(requests).toEqual(['GET /key/list', 'POST /key/transfer', 'POST /key/transfer']);
  });
});
