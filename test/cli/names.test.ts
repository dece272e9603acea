import { describe, expect, it } from 'vitest';
import { openShop } from './shop.ts';

/** A shop with some customers, whose names stand in lines for upper-case words. */
async function shopWith(...customers: readonly string[]) {
  const shop = await openShop();
  shop.names.ADA_LTD = 'Ada Ltd';
  const ids: string[] = [];
  for (const name of customers) ids.push(await shop.answer(`customers create --name ${name}`));
  return { ...shop, ids };
}

describe('a name in the place of an id', () => {
  it('names a product, in any case, and a customer', async () => {
    const { answer, json, product, ids } = await shopWith('Acme');
    const key = await answer('keys create -P engine --customer acme');
    const { license, customer } = await json(`keys get ${key}`);
    expect([license.productId, customer.id]).toEqual([product, ids[0]]);
    expect(await json('products get Engine')).toMatchObject({ id: product });
    expect(await json('customers keys Acme')).toMatchObject([{ key }]);
  });

  it('names a token that is not revoked', async () => {
    const { at, answer, json } = await openShop();
    await answer('tokens create --name shop --kind client');
    const [{ id }] = await json('tokens list');
    expect((await at('tokens revoke SHOP')).code).toBe(3);
    expect(await at('tokens revoke shop --yes')).toMatchObject({ code: 0, stderr: `revoked ${id}\n` });
    expect((await at('tokens revoke shop --yes')).stderr).toMatch(/^error: no token is called 'shop'\n/);
    await answer('tokens create --name shop --kind client');
    expect(await json('tokens rotate shop')).toMatchObject({ name: 'shop' });
    const twice = await at('tokens rotate shop');
    expect([twice.code, twice.stderr]).toEqual([2, expect.stringContaining("several tokens are called 'shop'")]);
  });

  it('names a webhook by its URL, and a session by its device or user', async () => {
    const { at, answer, json } = await openShop();
    await answer('webhooks create https://shop.example/hook');
    expect(await json('webhooks get https://shop.example/HOOK')).toMatchObject({ url: 'https://shop.example/hook' });
    const key = await answer('keys create -P engine --type floating --max-sessions 3');
    for (const host of ['pc-1', 'pc-2', 'pc-2']) await at(`keys checkout ${key} --host-id ${host} --user ${host}-user`);
    expect(await at('sessions release pc-1')).toMatchObject({ code: 0 });
    const several = await at('sessions release pc-2-user');
    expect([several.code, several.stderr]).toEqual([
      2,
      expect.stringContaining("several sessions are called 'pc-2-user'"),
    ]);
    const other = await at('sessions release pc-9');
    expect([other.code, other.stderr]).toEqual([6, expect.stringContaining('lkm sessions list')]);
  });

  it('is told what is called in a similar way, and asked for an id where several are called so', async () => {
    const { at, json, ids } = await shopWith('ADA_LTD', 'Ada', 'Ada');
    const nobody = await at('keys list --customer Ad');
    expect([nobody.code, nobody.stderr]).toEqual([
      6,
      expect.stringMatching(
        /^error: no customer is called 'Ad'\n {2}cus_\w+ {2}Ada.*\n(.*\n)+ {2}See them: {2}lkm .*customers list\n$/,
      ),
    ]);
    const several = await at('customers get Ada');
    expect([several.code, several.stderr]).toEqual([
      2,
      expect.stringMatching(
        /^error: several customers are called 'Ada': give the id of one\n( {2}cus_\w+ {2}Ada\n){2}$/,
      ),
    ]);
    expect(await json('customers get ADA_LTD')).toMatchObject({ id: ids[0] });
    expect((await at('keys list -P Nothing')).code).toBe(6);
  });

  it('is looked for among all customers of similar names, so that no other one is deleted', async () => {
    const similar = ['Ada', 'Bob', 'Ada1', 'Ada2', 'Ada3', 'Ada4', 'Ada5', 'Bob1', 'Bob2', 'Bob3', 'Bob4', 'Bob5'];
    const { at, json, ids } = await shopWith(...similar, 'ada', 'Bob');
    expect(await at('customers delete ada --yes')).toMatchObject({ code: 0, stderr: `deleted ${ids[12]}\n` });
    const several = await at('customers delete Bob --yes');
    expect(several.code).toBe(2);
    // Both were made in the same millisecond, so either may be first.
    expect(several.stderr.split('\n').sort()).toEqual(
      [
        '',
        `  ${ids[1]}  Bob`,
        `  ${ids[13]}  Bob`,
        "error: several customers are called 'Bob': give the id of one",
      ].sort(),
    );
    expect(await json('customers list')).toHaveLength(13);
  });

  it('is that of several customers where their names look alike', async () => {
    const { at } = await shopWith('Andr\u00e9', 'Andre\u0301');
    const several = await at('customers delete Andr\u00e9 --yes');
    expect([several.code, several.stderr]).toEqual([
      2,
      expect.stringContaining("several customers are called 'Andr\u00e9'"),
    ]);
  });

  it('limits a token to its product', async () => {
    const { at, json, product } = await shopWith();
    const made = await json('tokens create --kind read-only --name eyes --product engine');
    expect(made.productIds).toEqual([product]);
    expect((await at('tokens create --kind read-only --name eyes --product Nothing')).code).toBe(6);
  });

  it('is kept as the id of its product', async () => {
    const { at, answer, product } = await shopWith();
    await answer('config set product engine');
    expect(await answer('config get product', { env: { LKM_PRODUCT: '' } })).toBe(product);
    expect((await at('config set product Nothing')).code).toBe(6);
  });

  it('may be the slug of a product', async () => {
    const { at, answer, json, product } = await shopWith();
    await answer(`products update ${product} --slug engine-pro`);
    const key = await answer('keys create -P engine-pro');
    expect((await json(`keys get ${key}`)).license.productId).toBe(product);
    expect((await at('products create --name Other --slug engine-pro')).code).toBe(7);
    await answer('products update engine-pro --slug none');
    expect((await at('keys create -P engine-pro')).code).toBe(6);
  });

  it('names a plan, and a narrow list of plans shows what they are and their product by name', async () => {
    const { answer, at } = await shopWith();
    await answer('plans create --name Pro --feature sso');
    const trial = await answer('plans create --name Trial --trial true --lasts 14d');
    const { stdout } = await at('plans list', { terminal: true, columns: 96 });
    expect(stdout).toMatch(/^ID +NAME +PRODUCT +ACTIVE +DEVICES +LASTS +TRIAL +FEATURES\n/);
    expect(stdout).toContain(`\n${trial}  Trial  Engine   yes     unlimited  P14D      yes    –\n`);
    const narrow = await at('plans list', { terminal: true, columns: 80 });
    expect(narrow.stdout).toContain(`\n${trial}  Trial  Engine   unlimited  P14D      –\n`);
    expect((await at('plans get trial', { terminal: true })).stdout).toContain(trial);
    expect((await at('keys trial --plan Pro --host-id pc-7')).stderr).toContain(
      '  The plan must be active and belong to the product; for a trial it needs --trial true.\n  See them:  lkm plans list\n',
    );
  });

  it('may be longer than an id', async () => {
    const { answer, json, names } = await shopWith();
    names.LONG = 'Engine Professional Edition';
    const id = await answer('products create --name LONG');
    const key = await answer('keys create -P LONG');
    expect((await json(`keys get ${key} -P LONG`)).license.productId).toBe(id);
  });
});
