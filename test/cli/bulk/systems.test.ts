import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systems } from '../../../src/cli/bulk/reading/presets/systems.ts';
import { bulkShop } from './bulk-shop.ts';

const at = '2025-05-25T10:26:49.000Z';

/** What the keys of `examples/moving` become: for each system one that has much, and one that has little. */
const expectedKeys: Readonly<Record<(typeof systems)[number], readonly object[]>> = {
  lemonsqueezy: [
    {
      ...{ maxActivations: 3, expirationDate: '2027-09-30T10:26:49.000Z', createdAt: at, vendorDisabled: false },
      metadata: { oldId: '7', orderId: '91', orderItemId: '92' },
      ...{ customer: 'ada@a.example', devices: [['i-1', 'PC']], product: '55' },
    },
    { maxActivations: null, expirationDate: null, vendorDisabled: true, customer: 'ada@a.example', devices: [] },
  ],
  keygen: [
    {
      ...{ maxActivations: 2, expirationDate: '2027-09-05T22:53:37.000Z', customer: 'ada@a.example', product: 'p1' },
      ...{ metadata: { n: 1, oldId: 'a1', name: 'Order 42' }, devices: [['4d:Eq', 'ci-1']] },
    },
    { maxActivations: null, expirationDate: null, vendorDisabled: true, customer: null, devices: [] },
  ],
  cryptolens: [
    {
      ...{ maxActivations: 2, expirationDate: '2027-09-29T10:26:49.000Z', createdAt: at, product: '3349' },
      metadata: { features: { F1: true, F3: true }, notes: 'a note', oldId: '4', company: 'Ada Ltd' },
      ...{ customer: 'ada@a.example', customerName: 'Ada Ltd', devices: [['mid-1', 'No tag']] },
    },
    { maxActivations: null, expirationDate: null, vendorDisabled: true, customer: null, devices: [] },
  ],
  licensespring: [
    { customerName: 'Ada Lind', metadata: { is_trial: true, orderId: 'o-1' }, product: 'PRO', devices: [] },
    {
      ...{ customerName: 'Ek, Ltd', metadata: { is_trial: false, contact: 'Bo Ek' } },
      ...{ maxActivations: null, expirationDate: null },
    },
  ],
  'license-manager': [
    { maxActivations: 3, expirationDate: '2027-05-01T10:00:00.000Z', expiresAfter: null, product: 'Server' },
    { maxActivations: null, expirationDate: null, expiresAfter: 'P30D', customerName: 'gus@isle.example' },
  ],
  polar: [
    { maxActivations: 3, vendorDisabled: false, devices: [['dee-mac', 'No tag']], product: 'pro' },
    { maxActivations: null, vendorDisabled: true, customerName: 'eli@g.example', devices: [] },
  ],
  dodo: [
    {
      ...{ maxActivations: 5, expirationDate: '2027-01-01T00:00:00.000Z', devices: [['lki_1', 'Laptop']] },
      customer: null,
    },
    { maxActivations: null, vendorDisabled: true, metadata: { paymentId: 'pay_2', oldId: 'lic_2' } },
  ],
  gumroad: [
    {
      ...{ createdAt: '2025-05-25T00:00:00.000Z', customer: 'ada@a.example', vendorDisabled: false },
      product: 'Engine Plus',
    },
    { customer: 'bo@b.example', customerName: 'bo@b.example', vendorDisabled: true, metadata: { quantity: '2' } },
  ],
};

const folder = join(import.meta.dirname, '../../../examples/moving');
const allFiles = readdirSync(folder);

/** The files of a system in `examples/moving`. */
function filesOf(system: string) {
  const [file = '', devices] = allFiles
    .filter((name) => name.startsWith(`${system}.`) || name.startsWith(`${system}-devices`))
    .toReversed();
  return { file: join(folder, file), devices: devices === undefined ? [] : ['--devices', join(folder, devices)] };
}

describe.each(systems)('a file of %s', (system) => {
  const { file, devices } = filesOf(system);

  it('moves in with its name alone, and is then the same as the file', async () => {
    await using shop = await bulkShop();
    const none = { env: { LKM_PRODUCT: '' } };
    const argv = ['-f', file, '--from', system, ...devices];
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
    expect(there).toMatchObject(expectedKeys[system]);

    const compare = ['keys', 'compare', file, '--from', system, ...devices];
    expect(await shop.at([...compare, '--both'], none)).toMatchObject({ code: 0, stdout: '' });
    await shop.at(['keys', 'update', '-P', there[1].productId, keys[1], '--max-activations', '9']);
    const { code, stdout } = await shop.at([...compare, '--format', 'csv'], none);
    expect([code, stdout]).toEqual([1, `key,field,file,service\n${keys[1]},maxActivations,,9\n`]);
  });

  it('is recognised by its columns', async () => {
    await using shop = await bulkShop();
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
    const { file, devices } = filesOf(system);
    return await shop.at(['keys', 'import', '-f', file, '--from', system, ...devices, '-n', ...more]);
  };

  it('is what is left out, and what cannot be kept, with numbers', async () => {
    expect((await dryRun('lemonsqueezy')).stderr.split('\n')).toEqual([
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
    const { file } = filesOf('polar');
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

  it('takes the product of a row by its name, and asks for nothing but the keys', async () => {
    await using shop = await bulkShop();
    shop.write('keys.csv', 'key,product\nOWN-KEY-OF-1,Engine Pro\nOWN-KEY-OF-2,Engine Pro\n');
    await shop.at(['keys', 'import', '-f', 'keys.csv', '-y']);
    shop.write('old.csv', 'key,product\nOWN-KEY-OF-1,engine pro\nOWN-KEY-OF-2,Viewer\n');
    shop.sent.length = 0;
    const { stdout } = await shop.at(['keys', 'compare', 'old.csv', '--format', 'tsv']);
    expect(stdout).toBe(`OWN-KEY-OF-2\tproduct\tViewer\t${shop.product}\n`);
    expect(shop.sent.map(({ path }) => path)).toEqual(['GET /key', 'GET /key']);
  });
});

describe('rows that cannot move', () => {
  const importOf = async (system: (typeof systems)[number], name: string, text: string, devices?: string) => {
    await using shop = await bulkShop();
    shop.write(name, text);
    shop.write('devices.json', devices ?? '[]');
    const joined = devices === undefined ? [] : ['--devices', 'devices.json'];
    const { code, stderr } = await shop.at(['keys', 'import', '-f', name, '--from', system, ...joined, '-y']);
    const listed = await shop.at(['keys', 'list', '--json'], { env: { LKM_PRODUCT: '' } });
    return { code, lines: stderr.trimEnd().split('\n'), keys: JSON.parse(listed.stdout) };
  };

  it('are counted: sales without a key, and keys that are too long', async () => {
    const { code, lines } = await importOf(
      'gumroad',
      'sales.csv',
      'purchase_id,item_name,email,License Key,Fully refunded\n1,Pro,a@a.example,,\n2,Pro,b@b.example,KEY-OF-THE-SECOND,TRUE\n' +
        `3,Pro,c@c.example,${'x'.repeat(257)},\n`,
    );
    expect([code, ...lines]).toEqual([
      0,
      'warning: read as a file of gumroad',
      'warning: 1 row without a key left out',
      'warning: 1 row with a key of more than 256 characters left out',
      'imported 1 of 1 key',
    ]);
  });

  it('are told when there is no other', async () => {
    const { code, lines } = await importOf('polar', 'x.csv', 'a,b\n1,2\n');
    expect([code, lines[0], lines[1]]).toEqual([
      2,
      'error: x.csv has 1 problem; nothing was sent',
      '  it has no rows that can be read',
    ]);
  });

  it('do not stop keys with more devices than slots, and devices with long names', async () => {
    const key = {
      id: 1,
      business_id: 'b',
      product_id: 'p',
      payment_id: 'y',
      key: 'DODO-KEY-OF-ONE',
      activations_limit: 1,
    };
    const devices = ['a', 'b', 'x'.repeat(65)].map((id) => ({ id, license_key_id: 1, name: 'n'.repeat(70) }));
    const { code, lines, keys } = await importOf(
      'dodo',
      'keys.json',
      JSON.stringify({ page: 1, license_keys: [key] }),
      JSON.stringify({ instances: devices }),
    );
    expect([code, ...lines]).toEqual([
      0,
      'warning: read as a file of dodo',
      'warning: not kept: ids of more than 64 characters (1 device)',
      'warning: 1 key with more devices than slots taken as they are',
      'warning: columns left out: business_id',
      'imported 1 of 1 key',
    ]);
    expect(keys).toMatchObject([{ maxActivations: 1, activations: 2 }]);
  });
});

describe('devices that a page includes', () => {
  const license = (id: string, more: object = {}) => ({
    ...{
      id,
      type: 'licenses',
      attributes: { key: `KEY-OF-THE-${id}`, suspended: false, maxMachines: 3, protected: false },
    },
    relationships: { product: { data: { type: 'products', id: 'p1' } }, ...more },
  });
  const machine = (id: string, more: object = {}) => ({
    ...{
      id,
      type: 'machines',
      attributes: { fingerprint: `host-${id}`, name: `PC ${id}`, created: '2025-05-25T10:26:49Z' },
    },
    relationships: more,
  });
  const key = (id: number) => ({
    ...{ id, type: 'license-keys' },
    attributes: { key: `KEY-OF-THE-${id}`, product_id: 5, order_item_id: 6, activation_limit: 3, instances_count: 1 },
  });
  const instance = (id: number, keyId: number) => ({
    ...{ id, type: 'license-key-instances' },
    attributes: { license_key_id: keyId, identifier: `host-${id}`, name: `PC ${id}`, created_at: null },
  });
  const linked = (type: string, id: string) => ({ data: { type, id } });

  it.each([
    [
      'keygen',
      'that say whose they are',
      {
        data: [license('1'), license('2')],
        included: [
          machine('a', { license: linked('licenses', '2'), owner: linked('users', '1') }),
          machine('b', { license: linked('licenses', '1') }),
          machine('c', { license: linked('licenses', '1') }),
          machine('d', { license: linked('licenses', '9') }),
        ],
      },
      [['host-b', 'host-c'], ['host-a']],
    ],
    [
      'keygen',
      'that the keys name',
      {
        data: [
          license('1', { machines: { data: [linked('machines', 'b').data, linked('machines', 'x').data] } }),
          license('2', { machines: { links: { related: '/v1/licenses/2/machines' } } }),
        ],
        included: [machine('a'), machine('b')],
      },
      [['host-b'], []],
    ],
    [
      'lemonsqueezy',
      'with the id of the key',
      { data: [key(1), key(2)], included: [instance(7, 2), instance(8, 1)] },
      [['host-8'], ['host-7']],
    ],
  ] as const)('of %s, %s, are those of the keys', async (system, _how, page, hosts) => {
    await using shop = await bulkShop();
    shop.write('keys.json', JSON.stringify(page));
    const argv = ['-f', 'keys.json', '--from', system];
    expect((await shop.at(['keys', 'import', ...argv, '-y'])).stderr).toContain('imported 2 of 2 keys\n');
    for (const [at, expected] of hosts.entries()) {
      const { stdout } = await shop.at(['keys', 'get', `KEY-OF-THE-${at + 1}`, '--json'], { env: { LKM_PRODUCT: '' } });
      const { license } = JSON.parse(stdout);
      expect(license.devices.map(({ hostId }: Record<string, string>) => hostId).sort()).toEqual(expected);
    }
    expect((await shop.at(['keys', 'compare', 'keys.json', '--from', system])).code).toBe(0);
  });
});
