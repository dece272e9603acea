import { describe, expect, it } from 'vitest';
import { bulkShop } from './bulk/bulk-shop.ts';

/** A shop with a floating key that two devices use; its commands name no product. */
async function shop() {
  const whole = await bulkShop();
  const { at, sent } = whole;
  const key = (await at(['keys', 'create', '--type', 'floating', '--max-sessions', '2'])).stdout.trim();
  for (const host of ['pc-1', 'pc-2']) await at(['keys', 'activate', key, '--host-id', host]);
  sent.length = 0;
  const plain = (argv: readonly string[], env = {}) => at(argv, { env: { LKM_PRODUCT: '', ...env } });
  return { ...whole, key, plain };
}

const paths = (sent: readonly { readonly path: string }[]) => sent.map(({ path }) => path);

describe('without a product, the key is enough', () => {
  it.each<[argv: string[], change: string]>([
    [['activate', 'KEY', '--host-id', 'pc-3'], 'POST /key/activate'],
    [['deactivate', 'KEY', '--host-id', 'pc-1'], 'POST /deactivate-key'],
    [['deactivate', 'KEY', '--all-devices', '--yes'], 'POST /deactivate-key'],
    [['rebind', 'KEY', '--host-id', 'pc-1', '--new-host-id', 'pc-9'], 'POST /key/rebind'],
    [['sign', 'KEY', '--host-id', 'pc-1', '--ttl', '1d'], 'POST /key/sign'],
    [['checkout', 'KEY', '--host-id', 'pc-1'], 'POST /key/checkout'],
    [['update', 'KEY', '--max-activations', '9'], 'PATCH /key'],
    [['renew', 'KEY', '--for', '1y'], 'POST /key/renew'],
    [['transfer', 'KEY', '--nobody'], 'POST /key/transfer'],
    [['block', 'KEY'], 'POST /key/block'],
    [['unblock', 'KEY'], 'POST /key/unblock'],
    [['delete', 'KEY', '--in-use', '--yes'], 'DELETE /key'],
  ])('keys %j', async (words, change) => {
    await using here = await shop();
    const { key, plain, at, sent } = here;
    const argv = ['keys', ...words.map((word) => (word === 'KEY' ? key : word))];
    const asked = (await at([...argv, '--dry-run', '--json', '--idempotency-key', 'k1'])).stdout;
    const found = (await plain([...argv, '--dry-run', '--json', '--idempotency-key', 'k1'])).stdout;
    expect(found).toBe(asked);
    expect(paths(sent)).toEqual(['GET /key']);
    sent.length = 0;
    expect(await plain(argv)).toMatchObject({ code: 0 });
    expect(paths(sent)).toEqual(['GET /key', change]);
    expect(sent.map((request) => request.key === null)).toEqual([true, false]);
  });

  it.each<[argv: string[], requests: string[]]>([
    [
      ['keys', 'why', 'KEY', '--host-id', 'pc-1'],
      ['GET /key', 'GET /key/why'],
    ],
    [
      ['keys', 'history', 'KEY'],
      ['GET /key', 'GET /event/list', 'GET /event/list', 'GET /token'],
    ],
    [['devices', 'list', 'KEY'], ['GET /key']],
  ])('%j', async (words, requests) => {
    await using here = await shop();
    const { key, plain, sent } = here;
    const argv = words.map((word) => (word === 'KEY' ? key : word));
    expect(await plain(argv)).toMatchObject({ code: 0, stdout: expect.stringMatching(/\S/) });
    expect(paths(sent)).toEqual(requests);
  });

  it('several keys may be of several products', async () => {
    await using here = await shop();
    const { key, plain } = here;
    const other = (await plain(['products', 'create', '--name', 'Other', '-q'])).stdout.trim();
    const its = (await plain(['keys', 'create', '-P', other])).stdout.trim();
    expect(await plain(['keys', 'block', key, its, '-q'])).toMatchObject({ code: 0, stdout: `${key}\n${its}\n` });
  });
});

it('at a narrow terminal says what of the devices it has no room for', async () => {
  await using here = await shop();
  const { key, plain, at } = here;
  const narrow = await at(['keys', 'get', key], { terminal: true, columns: 32 });
  expect(narrow.stdout).toContain('\nHOST ID  TAG     ACTIVATED\n');
  expect(narrow.stderr).toBe('no room for ipAddress; --json shows it\n');
  expect((await plain(['keys', 'get', key])).stderr).toBe('');
});

describe('what is given counts', () => {
  it('a key of another product is not found', async () => {
    await using here = await shop();
    const { key, plain, sent } = here;
    const other = (await plain(['products', 'create', '--name', 'Other', '-q'])).stdout.trim();
    sent.length = 0;
    expect((await plain(['keys', 'block', key], { LKM_PRODUCT: other })).code).not.toBe(0);
    expect(paths(sent)).toEqual(['POST /key/block']);
  });

  it('a key that is nowhere is not said to be of another product', async () => {
    await using here = await shop();
    const { plain } = here;
    const { code, stderr } = await plain(['keys', 'sign', 'ABCDE-ABCDE', '--host-id', 'a', '--no-key-check']);
    expect(code).toBe(2);
    expect(stderr).toContain('characters');
    const argv = ['keys', 'sign', 'ABCDE-ABCDE-ABCDE-ABCDE-ABCDE', '--host-id', 'a', '--no-key-check'];
    expect((await plain(argv)).stderr).toBe(
      'error: license not found\n  GET /key answered 404 (code 1).\n' +
        '  Check the key. With -P or LKM_PRODUCT, it must be a key of that product.\n',
    );
  });

  it('a mistake on the command line is found before the service is asked', async () => {
    await using here = await shop();
    const { key, plain, sent } = here;
    for (const argv of [
      ['keys', 'deactivate', key],
      ['keys', 'transfer', key],
      ['keys', 'update', key],
      ['keys', 'sign', key, '--host-id', ''],
    ]) {
      expect((await plain(argv)).code).toBe(2);
    }
    expect(sent).toEqual([]);
  });

  it('a token that may not look keys up needs it', async () => {
    await using here = await shop();
    const { key, plain, sent, product } = here;
    const made = await plain([
      'tokens',
      'create',
      '--kind',
      'scoped',
      '--scope',
      'license:sign',
      '--name',
      'signer',
      '-q',
    ]);
    const env = { LKM_TOKEN: made.stdout.trim() };
    sent.length = 0;
    const argv = ['keys', 'sign', key, '--host-id', 'pc-1', '--ttl', '1d'];
    const { code, stderr } = await plain(argv, env);
    expect({ code, sent: paths(sent) }).toEqual({ code: 2, sent: ['GET /key'] });
    expect(stderr).toBe(
      'error: --product is required: this token may not look up the product of a key\n' +
        '  Give it:  -P, --product ID\n  Or set:   export LKM_PRODUCT=…\n',
    );
    expect(await plain([...argv, '-P', product], env)).toMatchObject({ code: 0 });
  });
});

describe('a change without an answer', () => {
  it('is repeated with the product that was found', async () => {
    await using here = await shop();
    const { key, plain, meddle, product } = here;
    meddle((request) => (request.method === 'GET' ? null : Response.json({ message: 'x', code: 1 }, { status: 500 })));
    const { code, stderr } = await plain(['keys', 'block', key, '--max-retries', '0']);
    expect(code).toBe(8);
    expect(stderr).toContain(` --max-retries 0 --product ${product} --idempotency-key `);
  });

  it('deletes a key once, and says so when the command is typed again', async () => {
    await using here = await shop();
    const { key, plain, meddle, through, sent } = here;
    meddle(async (request) => {
      if (request.method !== 'DELETE') return null;
      await through(request);
      throw new TypeError('fetch failed');
    });
    const argv = ['keys', 'delete', key, '--in-use', '--yes', '--max-retries', '0'];
    expect((await plain(argv)).code).toBe(8);
    meddle(() => null);
    const { code, stderr } = await plain(argv);
    expect({ code, last: stderr.trim().split('\n').at(-1) }).toEqual({
      code: 0,
      last: expect.stringContaining('an earlier request with this idempotency key did it'),
    });
    const deletes = sent.filter(({ path }) => path === 'DELETE /key').map((request) => request.key);
    expect(new Set(deletes).size).toBe(1);
    // Now that the answer is known, the key is not there.
    expect((await plain(argv)).code).toBe(6);
  });
});
