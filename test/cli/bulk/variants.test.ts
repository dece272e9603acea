import { describe, expect, it } from 'vitest';
import type { SystemName } from '../../../src/cli/bulk/reading/presets/systems.ts';
import { bulkShop } from './bulk-shop.ts';

/** Imports a file of a system and compares it; gives the keys, the customers and what the dry run has said. */
async function move(system: SystemName, name: string, content: string | object, devices: readonly object[] = []) {
  await using shop = await bulkShop();
  const none = { env: { LKM_PRODUCT: '' } };
  shop.write(name, typeof content === 'string' ? content : JSON.stringify(content));
  shop.write('devices.json', JSON.stringify(devices));
  const argv = ['--from', system, ...(devices.length === 0 ? [] : ['--devices', 'devices.json'])];
  const { stderr } = await shop.at(['keys', 'import', '-f', name, ...argv, '-n'], none);
  const { stdout } = await shop.at(['keys', 'import', '-f', name, ...argv, '-y', '-q'], none);
  const keys = await Promise.all(
    stdout
      .trim()
      .split('\n')
      .map(async (key) => JSON.parse((await shop.at(['keys', 'get', key, '--json'], none)).stdout).license),
  );
  expect((await shop.at(['keys', 'compare', name, ...argv], none)).code).toBe(0);
  return { keys, customers: await shop.json('customers', 'list'), said: stderr.split('\n') };
}

const header =
  'id,product_id,user_id,user_name,user_email,license_key,expires_at,valid_for,times_activated_max,created_at\n';

describe('a file of another system', () => {
  it('may say in words of databases and spreadsheets that a cell has no value', async () => {
    const rows = ['NULL', '\\N', 'N/A', '-', 'null'].map((no, at) =>
      [at, 5, no, no, no, `KEY-OF-ROW-${at}`, no, no, no, '2023-05-01 10:00:00'].join(),
    );
    const { keys, customers } = await move('license-manager', 'keys.csv', header + rows.join('\n'));
    expect(customers).toEqual([]);
    for (const key of keys)
      expect(key).toMatchObject({ maxActivations: null, expirationDate: null, expiresAfter: null });
    expect(keys).toHaveLength(5);
  });

  it('may have customers called Null', async () => {
    const row = '1,5,7,Null,null@a.example,KEY-OF-ROW-1,,,1,2023-05-01 10:00:00';
    expect((await move('license-manager', 'keys.csv', header + row)).customers).toMatchObject([{ name: 'Null' }]);
  });

  it('may write whole numbers with a point, and yes in several ways', async () => {
    const row = '1,5,,,,KEY-OF-ROW-1,,,3.0,2023-05-01 10:00:00';
    expect((await move('license-manager', 'keys.csv', header + row)).keys).toMatchObject([{ maxActivations: 3 }]);
    const sales = ['Y', 'TRUE', 'yes', '1', 'N', '0', ''].map((word, at) => `${at},App,KEY-OF-SALE-${at},${word}`);
    const { keys } = await move(
      'gumroad',
      'sales.csv',
      `purchase_id,item name,LICENSE KEY,refunded\n${sales.join('\n')}`,
    );
    expect(keys.map(({ vendorDisabled }) => vendorDisabled)).toEqual([true, true, true, true, false, false, false]);
  });

  it('may have a key on two pages, which is then read once', async () => {
    const key = (id: number, usage = 0) => ({ id, key: `KEY-OF-PAGE-${id}`, product_id: 'p', usage });
    const { keys, said } = await move('dodo', 'pages.json', [
      { items: [key(1), key(2)] },
      { items: [key(2, 1), key(3)] },
    ]);
    expect(keys).toHaveLength(3);
    expect(said).toContain('warning: 1 row that repeats an earlier one left out');
  });

  it.each([
    ['a page inside of a result', { result: { items: [{ key: 'KEY-IN-A-WRAP', product_id: 'p' }] }, ok: true }],
    ['a page inside of data', { success: true, data: { page: 1, data: [{ key: 'KEY-IN-A-WRAP', product_id: 'p' }] } }],
    ['keys that are wrapped one by one', [{ license_key: { key: 'KEY-IN-A-WRAP', product_id: 'p' } }]],
    ['a key alone', { data: { key: 'KEY-IN-A-WRAP', product_id: 'p' } }],
  ])('may be %s', async (_what, content) => {
    expect((await move('dodo', 'keys.json', content)).keys).toMatchObject([{ key: 'KEY-IN-A-WRAP' }]);
  });

  it('may have customers without an address, who are told apart by their ids', async () => {
    const key = (id: number, Customer: object | null) => ({ ID: id, ProductId: 9, Key: `KEY-OF-THE-${id}`, Customer });
    const licenseKeys = [
      key(1, { Id: 7, Name: 'Ada Ltd', Email: null }),
      key(2, { Id: 7, Name: 'Ada Ltd', Email: null }),
      key(3, { Id: 8, Name: 'Ada Ltd', Email: '' }),
      key(4, null),
    ];
    const { customers } = await move('cryptolens', 'keys.json', { licenseKeys });
    expect(customers.map(({ id, name }: Record<string, string>) => [id, name])).toEqual([
      ['cryptolens-7', 'Ada Ltd'],
      ['cryptolens-8', 'Ada Ltd'],
    ]);
  });

  it('may have devices without a name, without an id, and more than the key has slots', async () => {
    const key = { id: 'k1', key: 'KEY-OF-DEVICES', benefit_id: 'b', status: 'granted', limit_activations: 1 };
    const activations = [{ id: 'a1', label: 'mac' }, { id: 'a2', label: null }, { label: '' }];
    const { keys, said } = await move('polar', 'keys.json', { items: [{ ...key, activations }] });
    expect(keys[0].devices.map(({ hostId }: Record<string, string>) => hostId).sort()).toEqual(['a2', 'mac']);
    expect(said).toContain('warning: not kept: devices without an id (1 device)');
    expect(said).toContain('warning: 1 key with more devices than slots taken as they are');
  });

  it('loses nothing where a column is an empty list as text', async () => {
    const { said } = await move('cryptolens', 'keys.csv', 'ID,ProductId,Key,DataObjects\n1,9,KEY-OF-A-TABLE,[]\n');
    expect(said.filter((line) => line.includes('not kept'))).toEqual([]);
  });
});
