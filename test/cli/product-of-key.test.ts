import { describe, expect, it } from 'vitest';
import { bulkShop } from './bulk/bulk-shop.ts';

/** A shop with a floating key that two devices use; its commands name no product unless they are asked to. */
async function shop() {
  const whole = await bulkShop();
  const { product, sent } = whole;
  const names: Record<string, string> = {};
  const at = async (line: string, env = {}) => {
    sent.length = 0;
    const words = line.split(' ').map((word) => names[word] ?? word);
    const ran = await whole.at(words, { env: { LKM_PRODUCT: '', ...env } });
    return { ...ran, paths: sent.map(({ path }) => path), keys: sent.map(({ key }) => key) };
  };
  const answer = async (line: string) => (await at(line)).stdout.trim();
  names.KEY = await answer(`keys create -P ${product} --type floating --max-sessions 2`);
  for (const host of ['pc-1', 'pc-2']) await at(`keys activate KEY -P ${product} --host-id ${host}`);
  names.OTHER = await answer('products create --name Other -q');
  return { ...whole, names, at, answer };
}

describe('without a product, the key is enough', () => {
  it.each([
    ['keys activate KEY --host-id pc-3', 'POST /key/activate'],
    ['keys deactivate KEY --host-id pc-1', 'POST /deactivate-key'],
    ['keys deactivate KEY --all-devices --yes', 'POST /deactivate-key'],
    ['keys rebind KEY --host-id pc-1 --new-host-id pc-9', 'POST /key/rebind'],
    ['keys sign KEY --host-id pc-1 --ttl 1d', 'POST /key/sign'],
    ['keys checkout KEY --host-id pc-1', 'POST /key/checkout'],
    ['keys update KEY --max-activations 9', 'PATCH /key'],
    ['keys renew KEY --for 1y', 'POST /key/renew'],
    ['keys transfer KEY --nobody', 'POST /key/transfer'],
    ['keys block KEY', 'POST /key/block'],
    ['keys unblock KEY', 'POST /key/unblock'],
    ['keys delete KEY --in-use --yes', 'DELETE /key'],
  ])('%s', async (line, change) => {
    await using here = await shop();
    const { at, product } = here;
    const dryRun = `${line} --dry-run --json --idempotency-key k1`;
    const asked = await at(dryRun, { LKM_PRODUCT: product });
    expect(await at(dryRun)).toMatchObject({ stdout: asked.stdout, paths: ['GET /key'] });
    const made = await at(line);
    expect(made).toMatchObject({ code: 0, paths: ['GET /key', change] });
    expect(made.keys.map((key) => key === null)).toEqual([true, false]);
  });

  it.each([
    ['keys why KEY --host-id pc-1', ['GET /key', 'GET /key/why']],
    ['keys history KEY', ['GET /key', 'GET /event/list', 'GET /event/list']],
    ['devices list KEY', ['GET /key']],
  ])('%s', async (line, paths) => {
    await using here = await shop();
    expect(await here.at(line)).toMatchObject({ code: 0, stdout: expect.stringMatching(/\S/), paths });
  });

  it('several keys may be of several products', async () => {
    await using here = await shop();
    const { names, at, answer } = here;
    names.ITS = await answer('keys create -P OTHER');
    const { code, stdout } = await at('keys block KEY ITS -q');
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${names.KEY}\n${names.ITS}\n` });
  });
});

describe('what is given counts', () => {
  it('a key of another product is not found, and one that is nowhere is not said to be of one', async () => {
    await using here = await shop();
    const { names, at } = here;
    const other = await at('keys block KEY', { LKM_PRODUCT: names.OTHER });
    expect(other).toMatchObject({ code: 6, paths: ['POST /key/block'] });
    const { stderr } = await at('keys sign ABCDE-ABCDE-ABCDE-ABCDE-ABCDE --host-id a --no-key-check');
    expect(stderr).toContain('error: license not found\n  GET /key answered 404 (code 1).\n');
    expect(stderr).toContain('With -P or LKM_PRODUCT, it must be a key of that product.\n');
  });

  it('a mistake on the command line is found before the service is asked', async () => {
    await using here = await shop();
    for (const line of ['deactivate KEY', 'transfer KEY', 'update KEY', 'sign KEY --host-id ']) {
      expect(await here.at(`keys ${line}`)).toMatchObject({ code: 2, paths: [] });
    }
  });

  it('a token that may not look keys up needs it', async () => {
    await using here = await shop();
    const { at, answer } = here;
    const env = { LKM_TOKEN: await answer('tokens create --kind scoped --scope license:sign --name signer -q') };
    const { code, paths, stderr } = await at('keys sign KEY --host-id pc-1 --ttl 1d', env);
    expect({ code, paths }).toEqual({ code: 2, paths: ['GET /key'] });
    expect(stderr).toContain('error: --product is required: this token may not look up the product of a key\n');
    const LKM_PRODUCT = here.product;
    expect(await at('keys sign KEY --host-id pc-1 --ttl 1d', { ...env, LKM_PRODUCT })).toMatchObject({ code: 0 });
  });
});

describe('a change without an answer', () => {
  it('is repeated with the product that was found', async () => {
    await using here = await shop();
    const { at, meddle, product } = here;
    meddle((request) => (request.method === 'GET' ? null : Response.json({ message: 'x', code: 1 }, { status: 500 })));
    const { code, stderr } = await at('keys block KEY --max-retries 0');
    expect(code).toBe(8);
    expect(stderr).toContain(` --max-retries 0 --product ${product} --idempotency-key `);
  });

  it('deletes a key once, and says so when the command is typed again', async () => {
    await using here = await shop();
    const { at, meddle, through } = here;
    meddle(async (request) => {
      if (request.method !== 'DELETE') return null;
      await through(request);
      throw new TypeError('fetch failed');
    });
    const line = 'keys delete KEY --in-use --yes --max-retries 0';
    const lost = await at(line);
    expect(lost.code).toBe(8);
    meddle(() => null);
    const again = await at(line);
    expect({ code: again.code, last: again.stderr.trim().split('\n').at(-1) }).toEqual({
      code: 0,
      last: expect.stringContaining('an earlier request with this idempotency key did it'),
    });
    expect(again.keys.filter(Boolean)).toEqual(lost.keys.filter(Boolean));
    // Now that the answer is known, the key is not there.
    expect((await at(line)).code).toBe(6);
  });
});
