import { describe, expect, it } from 'vitest';
import { systems } from '../../../src/cli/bulk/presets/systems.ts';
import { bulkShop } from './bulk-shop.ts';

const csv = (...lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
const at = '2025-05-25T10:26:49.000000Z';
const created = '2025-05-25T10:26:49.000Z';

/** A file of each system with a key that has much and one that has little, in the forms that the systems write. */
const files: Readonly<
  Record<(typeof systems)[number], { file: string; text: string; devices?: string; keys: object[] }>
> = {
  lemonsqueezy: {
    file: 'keys.json',
    text: JSON.stringify({
      meta: { page: { total: 3 } },
      data: [
        {
          type: 'license-keys',
          id: '7',
          attributes: {
            ...{ order_id: 91, order_item_id: 92, product_id: 55, user_name: 'Ada', user_email: 'ada@a.example' },
            ...{ key: '3f0c9a54-5d1e-4c0b-9b64-7a2f0d6c1e88', activation_limit: 3, instances_count: 1, disabled: 0 },
            ...{ status: 'active', expires_at: '2027-09-30T10:26:49.000000Z', created_at: at, test_mode: false },
          },
        },
        {
          type: 'license-keys',
          id: '8',
          attributes: {
            ...{ order_id: 93, order_item_id: 94, product_id: 55, user_name: 'Ada', user_email: 'ADA@a.example' },
            ...{ key: '77b0e6f2-3c59-41f7-a1de-90c4b8d25a17', activation_limit: null, instances_count: 0, disabled: 1 },
            ...{ status: 'disabled', expires_at: null, created_at: at, test_mode: false },
          },
        },
        {
          type: 'license-keys',
          id: '9',
          attributes: {
            ...{ order_id: 95, order_item_id: 96, product_id: 55, user_name: 'T', user_email: 't@a.example' },
            ...{ key: 'test-key-in-test-mode-0001', activation_limit: 1, instances_count: 0, disabled: 0 },
            ...{ status: 'active', expires_at: null, created_at: at, test_mode: true },
          },
        },
      ],
    }),
    devices: JSON.stringify({
      data: [
        {
          type: 'license-key-instances',
          id: '1',
          attributes: { license_key_id: 7, identifier: 'i-1', name: 'PC', created_at: at },
        },
        {
          type: 'license-key-instances',
          id: '2',
          attributes: { license_key_id: 9, identifier: 'i-2', name: 'T', created_at: at },
        },
        {
          type: 'license-key-instances',
          id: '3',
          attributes: { license_key_id: 404, identifier: 'i-3', name: 'X', created_at: at },
        },
      ],
    }),
    keys: [
      {
        ...{ maxActivations: 3, expirationDate: '2027-09-30T10:26:49.000Z', createdAt: created, vendorDisabled: false },
        metadata: { oldId: '7', orderId: '91', orderItemId: '92' },
        ...{ customer: 'ada@a.example', devices: [['i-1', 'PC']], product: '55' },
      },
      { maxActivations: null, expirationDate: null, vendorDisabled: true, customer: 'ada@a.example', devices: [] },
    ],
  },
  keygen: {
    file: 'licenses.json',
    text: JSON.stringify(
      {
        data: [
          {
            id: 'a1',
            type: 'licenses',
            attributes: {
              ...{
                name: 'Order 42',
                key: 'C1B6DE-39A6E3-DE1529-V3',
                expiry: '2027-09-05T22:53:37.000Z',
                status: 'ACTIVE',
              },
              ...{
                suspended: false,
                scheme: 'ED25519_SIGN',
                protected: true,
                maxMachines: 2,
                metadata: { n: 1 },
                created: at,
              },
            },
            relationships: {
              product: { data: { type: 'products', id: 'p1' } },
              owner: { data: { type: 'users', id: 'u1' } },
              group: { data: null },
            },
          },
          {
            id: 'a2',
            type: 'licenses',
            attributes: {
              ...{ name: null, key: '5D2E9F-0C11AA-77B3C4-V3', expiry: null, status: 'SUSPENDED', suspended: true },
              ...{ scheme: null, protected: false, maxMachines: null, metadata: {}, created: at },
            },
            relationships: { product: { data: { type: 'products', id: 'p1' } } },
          },
        ],
        included: [
          { id: 'u1', type: 'users', attributes: { email: 'ada@a.example', firstName: 'Ada', lastName: 'Lind' } },
        ],
      },
      null,
      2,
    ),
    devices: JSON.stringify({
      data: [
        {
          id: 'm1',
          type: 'machines',
          attributes: { fingerprint: '4d:Eq', name: null, hostname: 'ci-1', ip: '203.0.113.9', created: at },
          relationships: { license: { data: { type: 'licenses', id: 'a1' } } },
        },
      ],
    }),
    keys: [
      {
        ...{ maxActivations: 2, expirationDate: '2027-09-05T22:53:37.000Z', customer: 'ada@a.example', product: 'p1' },
        ...{ metadata: { n: 1, oldId: 'a1', name: 'Order 42' }, devices: [['4d:Eq', 'ci-1']] },
      },
      { maxActivations: null, expirationDate: null, vendorDisabled: true, customer: null, devices: [] },
    ],
  },
  cryptolens: {
    file: 'keys.json',
    text: JSON.stringify({
      result: 0,
      licenseKeys: [
        {
          ...{
            ProductId: 3349,
            ID: 4,
            Key: 'GEBNC-WZZJD-VJIHG-GCMVD',
            Created: 1748168809,
            Expires: 1822213609000,
            F1: true,
          },
          ...{
            F2: false,
            F3: true,
            Notes: 'a note',
            Block: false,
            GlobalId: 10,
            MaxNoOfMachines: 2,
            TrialActivation: false,
          },
          Customer: { Id: 1, Name: null, Email: 'ada@a.example', CompanyName: 'Ada Ltd' },
          ActivatedMachines: [
            { Mid: 'mid-1', IP: '203.0.113.9', Time: 1748168810 },
            { Mid: 'mid-1', IP: '203.0.113.10', Time: 1748168811 },
          ],
        },
        {
          ...{
            ProductId: 3349,
            ID: 5,
            Key: 'AAAAA-BBBBB-CCCCC-DDDDD',
            Created: 1748168809,
            Expires: 253402300799,
            F1: false,
          },
          ...{
            Block: true,
            GlobalId: 11,
            MaxNoOfMachines: 0,
            TrialActivation: true,
            Customer: null,
            ActivatedMachines: [],
          },
        },
      ],
    }),
    keys: [
      {
        ...{ maxActivations: 2, expirationDate: '2027-09-29T10:26:49.000Z', createdAt: created, product: '3349' },
        metadata: { features: { F1: true, F3: true }, notes: 'a note', oldId: '4', company: 'Ada Ltd' },
        ...{ customer: 'ada@a.example', customerName: 'Ada Ltd', devices: [['mid-1', 'No tag']] },
      },
      { maxActivations: null, expirationDate: null, vendorDisabled: true, customer: null, devices: [] },
    ],
  },
  licensespring: {
    file: 'orders.csv',
    text: csv(
      'license__license_key,product__short_code,customer__email,customer__first_name,customer__last_name,customer__company_name,order__store_id,order__is_test,order__is_trial',
      'GPB6-BHJ2-2D8T-8ZP6,PRO,ada@a.example,Ada,Lind,,o-1,False,True',
      'XPB6-BHJ2-2D8T-8ZP7,PRO,bo@b.example,Bo,Ek,"Ek, Ltd",o-2,False,False',
      'TEST-BHJ2-2D8T-8ZP8,PRO,bo@b.example,Bo,Ek,,o-3,True,False',
    ),
    keys: [
      { customerName: 'Ada Lind', metadata: { is_trial: true, orderId: 'o-1' }, product: 'PRO', devices: [] },
      {
        customerName: 'Ek, Ltd',
        metadata: { is_trial: false, contact: 'Bo Ek' },
        maxActivations: null,
        expirationDate: null,
      },
    ],
  },
  'license-manager': {
    file: 'export.csv',
    text: csv(
      'id,order_num,product_id,product_name,user_id,user_name,user_email,license_key,expires_at,valid_for,times_activated,times_activated_max,created_at',
      '12,1001,55,Server,7,Fay,fay@hill.example,ABCD-1234-EFGH,"2027-05-01 10:00:00",365,1,3,"2024-05-01 10:20:30"',
      '13,1002,55,Server,8,,gus@isle.example,SHORT7,0000-00-00 00:00:00,30,0,0,"2024-06-01 10:20:30"',
    ),
    keys: [
      { maxActivations: 3, expirationDate: '2027-05-01T10:00:00.000Z', expiresAfter: null, product: 'Server' },
      { maxActivations: null, expirationDate: null, expiresAfter: 'P30D', customerName: 'gus@isle.example' },
    ],
  },
  polar: {
    file: 'keys.json',
    text: JSON.stringify({
      items: [
        {
          ...{
            id: 'b1',
            created_at: at,
            customer: { id: 'c1', email: 'dee@f.example', name: 'Dee' },
            benefit_id: 'pro',
          },
          ...{
            key: 'TESTING-AF2D4A62',
            display_key: '****-4A62',
            status: 'granted',
            limit_activations: 3,
            limit_usage: 10,
          },
          ...{
            expires_at: '2027-08-16T20:48:12.110000Z',
            activations: [{ id: 'x', label: 'dee-mac', created_at: at }],
          },
        },
        {
          ...{
            id: 'b2',
            created_at: at,
            customer: { id: 'c2', email: 'eli@g.example', name: null },
            benefit_id: 'pro',
          },
          ...{ key: 'TESTING-0BD411C9', display_key: '****-11C9', status: 'revoked', limit_activations: null },
          ...{ limit_usage: null, expires_at: null, activations: [] },
        },
      ],
      pagination: { total_count: 2, max_page: 1 },
    }),
    keys: [
      { maxActivations: 3, vendorDisabled: false, devices: [['dee-mac', 'No tag']], product: 'pro' },
      { maxActivations: null, vendorDisabled: true, customerName: 'eli@g.example', devices: [] },
    ],
  },
  dodo: {
    file: 'keys.json',
    text: JSON.stringify({
      items: [
        {
          ...{
            id: 'lic_1',
            business_id: 'b',
            customer_id: 'c',
            product_id: 'pdt_1',
            payment_id: 'pay_1',
            key: 'DODO-1111-2222',
          },
          ...{
            status: 'active',
            instances_count: 1,
            activations_limit: 5,
            expires_at: '2027-01-01T00:00:00Z',
            created_at: at,
          },
        },
        {
          ...{
            id: 'lic_2',
            business_id: 'b',
            customer_id: 'c',
            product_id: 'pdt_1',
            payment_id: 'pay_2',
            key: 'DODO-3333-4444',
          },
          ...{ status: 'disabled', instances_count: 0, activations_limit: null, expires_at: null, created_at: at },
        },
      ],
    }),
    devices: JSON.stringify({ items: [{ id: 'lki_1', license_key_id: 'lic_1', name: 'Laptop', created_at: at }] }),
    keys: [
      { maxActivations: 5, expirationDate: '2027-01-01T00:00:00.000Z', devices: [['lki_1', 'Laptop']], customer: null },
      { maxActivations: null, vendorDisabled: true, metadata: { paymentId: 'pay_2', oldId: 'lic_2' } },
    ],
  },
  gumroad: {
    file: 'sales.csv',
    text: csv(
      'Purchase ID,Item Name,Buyer Name,Purchase Email,Buyer Email,Purchase Date,License Key,Fully Refunded?,Disputed?,Quantity',
      'p1,Engine Plus,Ada,ada@a.example,,2025-05-25,85DB562A-C11D4B06-A2335A6B-8C079166,0,0,1',
      'p2,Engine Plus,,x@x.example,bo@b.example,2025-05-26,95DB562A-C11D4B06-A2335A6B-8C079166,1,0,2',
    ),
    keys: [
      {
        createdAt: '2025-05-25T00:00:00.000Z',
        customer: 'ada@a.example',
        vendorDisabled: false,
        product: 'Engine Plus',
      },
      { customer: 'bo@b.example', customerName: 'bo@b.example', vendorDisabled: true, metadata: { quantity: '2' } },
    ],
  },
};

describe.each(systems)('a file of %s', (system) => {
  const { file, text, devices, keys: expected } = files[system];
  const joined = devices === undefined ? [] : ['--devices', 'devices.json'];

  it('moves in with its name alone, and is then the same as the file', async () => {
    await using shop = await bulkShop();
    shop.write(file, text);
    if (devices !== undefined) shop.write('devices.json', devices);
    const none = { env: { LKM_PRODUCT: '' } };
    const argv = ['-f', file, '--from', system, ...joined];
    const planned = await shop.at(['keys', 'import', ...argv, '-n'], none);
    expect(planned).toMatchObject({ code: 0, stderr: expect.stringContaining(`read as a file of ${system}\n`) });
    const imported = await shop.at(['keys', 'import', ...argv, '-y', '--format', 'jsonl'], none);
    expect(imported.code).toBe(0);
    const rows = imported.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const keyOf = (row: Record<string, string>) => row.key ?? row.Key ?? row['License Key'] ?? row.license_key;
    const keys = rows.map((row) => keyOf(row) ?? row.license__license_key);
    const products = new Map(
      (await shop.json('products', 'list')).map((one: Record<string, string>) => [one.id, one.name]),
    );
    const there = await Promise.all(
      keys.map(async (key) => {
        const { license, customer } = JSON.parse((await shop.at(['keys', 'get', key, '--json'], none)).stdout);
        const hosts = license.devices.map((device: Record<string, string>) => [device.hostId, device.deviceTag]);
        const product = products.get(license.productId);
        return { ...license, customer: customer?.email ?? null, customerName: customer?.name, devices: hosts, product };
      }),
    );
    expect(there).toMatchObject(expected);

    const compare = ['keys', 'compare', file, '--from', system, ...joined];
    expect(await shop.at([...compare, '--both'], none)).toMatchObject({ code: 0, stdout: '' });
    await shop.at(['keys', 'update', '-P', there[1].productId, keys[1], '--max-activations', '9']);
    const { code, stdout } = await shop.at([...compare, '--format', 'csv'], none);
    expect([code, stdout]).toEqual([1, `key,field,file,service\n${keys[1]},maxActivations,,9\n`]);
  });

  it('is recognised by its columns', async () => {
    await using shop = await bulkShop();
    shop.write(file, text);
    const unnamed = await shop.at(['keys', 'import', '-f', file, '-n']);
    expect(unnamed.stderr).toContain(`this looks like a file of ${system}: --from ${system}`);
    const other = systems.find((one) => one !== system) ?? '';
    const wrong = await shop.at(['keys', 'import', '-f', file, '--from', other, '-n']);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining(`--from ${system}`) });
  });
});

describe('what is said of a file of another system', () => {
  const dryRun = async (system: (typeof systems)[number], ...more: string[]) => {
    await using shop = await bulkShop();
    const { file, text, devices = '' } = files[system];
    shop.write(file, text);
    shop.write('devices.json', devices);
    return await shop.at(['keys', 'import', '-f', file, '--from', system, '-n', ...more]);
  };

  it('is what is left out, and what cannot be kept, with numbers', async () => {
    expect((await dryRun('lemonsqueezy', '--devices', 'devices.json')).stderr.split('\n')).toEqual([
      'warning: read as a file of lemonsqueezy',
      'warning: 1 test key left out; --test-keys takes it in',
      'warning: columns left out: instances_count',
      'warning: 1 device of keys that are not in the file left out',
      'nothing was sent',
      '',
    ]);
    expect((await dryRun('lemonsqueezy', '--test-keys')).stdout).toContain('3 rows, no problems');
    expect((await dryRun('polar')).stderr).toContain('warning: not kept: limits of uses (1 key)\n');
    expect((await dryRun('keygen')).stderr).toContain('warning: not kept: keys that the other system has signed');
  });

  it('is that short keys can be guessed', async () => {
    expect((await dryRun('license-manager')).stderr).toContain(
      'warning: 1 key has fewer than 12 characters and can be guessed: 36^6 are possible',
    );
    expect((await dryRun('polar')).stderr).not.toContain('guessed');
  });
});

describe('pages of an API', () => {
  const page = (...numbers: number[]) => ({
    items: numbers.map((n) => ({ key: `PAGE-KEY-OF-${n}`, maxActivations: n })),
  });
  const rowsOf = async (...names: string[]) => {
    await using shop = await bulkShop();
    shop.write('a.json', JSON.stringify(page(1, 2)));
    shop.write('b.json', JSON.stringify(page(3), null, 2));
    shop.write('both.json', `${JSON.stringify(page(1, 2), null, 2)}\n${JSON.stringify(page(3), null, 2)}\n`);
    shop.write('list.json', JSON.stringify([page(1, 2), page(3)]));
    shop.write('lines.jsonl', `${JSON.stringify(page(1, 2))}\n${JSON.stringify(page(3))}\n`);
    shop.write('again.json', JSON.stringify({ data: page(2) }));
    const { code, stdout, stderr } = await shop.at(['keys', 'import', ...names.flatMap((name) => ['-f', name]), '-y']);
    return [
      code,
      stdout
        .split('\n')
        .map((line) => line.split('\t')[0])
        .join(' ')
        .trim(),
      stderr,
    ];
  };

  it.each([[['a.json', 'b.json']], [['both.json']], [['list.json']], [['lines.jsonl']]])(
    'in %j are read one after the other',
    async (names) => {
      expect(await rowsOf(...names)).toEqual([
        0,
        'PAGE-KEY-OF-1 PAGE-KEY-OF-2 PAGE-KEY-OF-3',
        'imported 3 of 3 keys\n',
      ]);
    },
  );

  it('are told apart by the names of their files', async () => {
    const [code, , stderr] = await rowsOf('a.json', 'again.json');
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('again.json line 1: key: the same as in a.json line 2'),
    ]);
  });
});

describe('--product-map', () => {
  it('puts the products of the service in place of old ids', async () => {
    await using shop = await bulkShop();
    const { file, text } = files.polar;
    shop.write(file, text);
    shop.write('own.csv', 'key,product\nOWN-KEY-OF-1,old\n');
    for (const argv of [
      ['-f', file, '--from', 'polar'],
      ['-f', 'own.csv'],
    ]) {
      const map = ['--product-map', `pro=${shop.product}`, '--product-map', 'old=Engine Pro'];
      expect((await shop.at(['keys', 'import', ...argv, ...map, '-y'])).code).toBe(0);
    }
    expect(await shop.keys()).toHaveLength(3);
    expect(await shop.json('products', 'list')).toHaveLength(1);
  });
});

describe('a file of devices', () => {
  it('is joined to a file of no known system by the keys', async () => {
    await using shop = await bulkShop();
    shop.write('keys.csv', 'key\nOWN-KEY-OF-1\nOWN-KEY-OF-2\n');
    shop.write('devices.csv', 'licenseKey,hostId,tag,ip\nOWN-KEY-OF-1,pc-1,PC,203.0.113.9\nOWN-KEY-OF-1,pc-2,,\n');
    const argv = ['-f', 'keys.csv', '--devices', 'devices.csv'];
    expect((await shop.at(['keys', 'import', ...argv, '-y'])).stderr).toBe('imported 2 of 2 keys\n');
    const { license } = await shop.json('keys', 'get', 'OWN-KEY-OF-1');
    expect(license.devices.map(({ hostId, deviceTag }: Record<string, string>) => [hostId, deviceTag]).sort()).toEqual([
      ['pc-1', 'PC'],
      ['pc-2', 'No tag'],
    ]);
  });
});

describe('lkm keys compare', () => {
  it('shows each difference of a key, and what is on one side alone', async () => {
    await using shop = await bulkShop();
    const header = 'key,maxActivations,expires,customerEmail,devices,blocked\n';
    shop.write('keys.csv', `${header}OWN-KEY-OF-1,2,2027-01-01,ada@a.example,pc-1 pc-2,no\nOWN-KEY-OF-2,,never,,,no\n`);
    await shop.at(['keys', 'import', '-f', 'keys.csv', '-y']);
    shop.write(
      'old.csv',
      `${header}OWN-KEY-OF-1,3,2027-01-02,bo@a.example,pc-2 pc-1 pc-3,yes\nOWN-KEY-OF-3,,never,,,no\n`,
    );
    const { code, stdout, stderr } = await shop.at(['keys', 'compare', 'old.csv', '--both', '--format', 'tsv']);
    expect([code, stdout.trimEnd().split('\n'), stderr]).toEqual([
      1,
      [
        'OWN-KEY-OF-1\tmaxActivations\t3\t2',
        'OWN-KEY-OF-1\texpirationDate\t2027-01-02T23:59:59.000Z\t2027-01-01T23:59:59.000Z',
        'OWN-KEY-OF-1\tstate\tblocked\tusable',
        'OWN-KEY-OF-1\tcustomer\tbo@a.example\tada@a.example',
        'OWN-KEY-OF-1\tdevices\tpc-1, pc-2, pc-3\tpc-1, pc-2',
        'OWN-KEY-OF-3\tkey\tis there\tis missing',
        'OWN-KEY-OF-2\tkey\tis missing\tis there',
      ],
      'warning: 2 keys compared: 3 differ\n',
    ]);
    expect(await shop.at(['keys', 'compare', 'keys.csv', '--both'])).toEqual({
      code: 0,
      stdout: '',
      stderr: '2 keys compared: all are the same\n',
    });
  });
});
