import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exportKeys } from '../../../src/cli/bulk/export-keys.ts';
import { clientOfCall } from '../../../src/client/client.ts';
import { apiError } from '../../../src/contract/errors.ts';
import { bulkShop, unauthorized } from './bulk-shop.ts';

type Shop = Awaited<ReturnType<typeof bulkShop>>;

/** What an export writes, as text. */
async function exported(shop: Shop, ...more: string[]): Promise<string> {
  const { code, stdout, stderr } = await shop.at(['keys', 'export', ...more]);
  expect({ code, stderr: stderr.replace(/\d+ keys?/, 'N keys') }).toEqual({
    code: 0,
    stderr: more.some((word) => word.startsWith('json')) ? '' : 'exported N keys\n',
  });
  return stdout;
}

/** Keys with all that a key can have. */
async function filled(shop: Shop): Promise<void> {
  await shop.json('products', 'add-version', shop.product, '2.1');
  const { versions } = await shop.json('products', 'get', shop.product);
  const create = async (...argv: string[]) => (await shop.at(['keys', 'create', ...argv])).stdout.trim();
  await create('--expires', 'never');
  const first = await create(
    ...['--max-activations', '3', '--trial', '--reference', '+49 30 1234', '--grace-period', 'P14D'],
    ...['--new-customer-name', '=HYPERLINK("http://x")', '--new-customer-email', 'it@ada.example'],
    ...['plan=pro', 'formula=-1+1', "quoted='=x", 'comma=a, "b"'].flatMap((entry) => ['--metadata', entry]),
    ...['--feature', 'sso', '--feature', 'seats=5'],
    ...['--allow-host', 'build-01', '--allow-host', 'build 02'],
  );
  const second = await create('--type', 'floating', '--max-sessions', '4', '--expires-after', 'P1Y');
  const third = await create('--new-customer-name', 'Zoë ohne Adresse', '--expires', '2026-12-31');
  for (const host of ['build-01', 'build 02']) {
    await shop.at(['keys', 'activate', first, '--host-id', host, '--device-tag', `Tag, of ${host}`]);
  }
  await shop.at(['keys', 'activate', second, '--host-id', '@host']);
  await shop.at(['keys', 'update', third, '--version-id', versions[0].id, '--self-reset', 'true']);
  await shop.at(['keys', 'block', third]);
  const fourth = await create('--fingerprint-match', '3');
  await shop.at(['keys', 'revoke', fourth, '--reason', 'none', '--yes']);
  await shop.at(['customers', 'update', (await shop.json('customers', 'list', '--text', 'Zoë'))[0].id, '--inactive']);
}

/** Numbers and empty texts, and names that mean something else. */
const oddMetadata = [
  { plan: 'pro', count: 5, flag: true, empty: '', ' odd ': 'x' },
  { __proto__x: 'p', 'a=b': '1', key: 'k' },
];

describe('lkm keys export and lkm keys import', () => {
  it.each(['csv', 'json', 'jsonl'])('give the same bytes again from an empty database, as %s', async (format) => {
    await using shop = await bulkShop();
    await filled(shop);
    for (const metadata of oddMetadata) {
      const body = { reference: JSON.stringify(metadata).slice(0, 20), metadata };
      shop.write('odd.jsonl', `${JSON.stringify(body)}\n`);
      await shop.at(['keys', 'create', '-f', 'odd.jsonl']);
    }
    const before = await exported(shop, '--format', format);
    await using other = await bulkShop();
    other.write(`keys.${format}`, before);
    const { code, stderr } = await other.at(['keys', 'import', '-f', `keys.${format}`, '-y', '--create-products']);
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringMatching(/^imported 7 of 7 keys\n/) });
    expect(await exported(other, '--format', format)).toBe(before);
    const key = JSON.parse((await other.at(['keys', 'list', '-P', shop.product, '--text', '+49', '--json'])).stdout)[0]
      .key;
    const of = async (one: Shop) => {
      const { license, customer } = JSON.parse(
        (await one.at(['keys', 'get', key, '-P', shop.product, '--json'])).stdout,
      );
      const devices = license.devices.map(({ id: _, ...device }: { id: string }) => device);
      return { ...license, devices, updatedAt: null, version: null, versionId: null, productName: null, customer };
    };
    expect(await of(other)).toEqual(await of(shop));
  });

  it('makes the products that are left when it is run again', async () => {
    await using shop = await bulkShop();
    const [one, two] = ['prod_of_an_old_system_01', 'prod_of_an_old_system_02'];
    const key = (number: number) => `ACME-000${number}-2019-AAAA-BBBB`;
    shop.write('keys.csv', `key,productId,version\n${key(1)},${one},1.0\n${key(2)},${two},2.0\n${key(3)},${two},3.0\n`);
    const run = () => shop.at(['keys', 'import', '-f', 'keys.csv', '-y', '--create-products']);
    const made = () => shop.sent.filter(({ path }) => path.startsWith('POST /product')).length;
    for (const last of [1, 3]) {
      const before = made();
      shop.meddle((request) => (request.method === 'POST' && made() - before > last ? unauthorized() : null));
      expect((await run()).code).toBe(4);
    }
    shop.meddle(() => null);
    expect(await run()).toMatchObject({ code: 0, stderr: expect.stringContaining('imported 3 of 3 keys') });
    const { versions } = await shop.json('products', 'get', two);
    expect(versions).toHaveLength(2);
  });

  it('write cells that a spreadsheet does not run', async () => {
    await using shop = await bulkShop();
    await filled(shop);
    const csv = await exported(shop);
    expect(csv).toContain(`"'=HYPERLINK(""http://x"")"`);
    expect(csv).toContain(",'-1+1,");
    expect(csv).toContain(",''=x");
    expect(csv).toContain(",'+49 30 1234,");
  });

  it('writes a file of its owner, part by part', async () => {
    await using shop = await bulkShop();
    await shop.at(['keys', 'create', '--count', '450']);
    expect((await shop.at(['keys', 'export', '-o', 'keys.csv'])).stderr).toBe('exported 450 keys\n');
    const lines = readFileSync(join(shop.cwd, 'keys.csv'), 'utf8').trimEnd().split('\n');
    expect(lines).toHaveLength(451);
    expect((await shop.at(['keys', 'export', '-o', 'keys.csv'])).code).toBe(13);
    await shop.at(['keys', 'export', '-o', 'keys.json']);
    expect(JSON.parse(readFileSync(join(shop.cwd, 'keys.json'), 'utf8'))).toHaveLength(450);
  });

  it('writes what can be read when a part is full, and when nothing is left of one', async () => {
    await using shop = await bulkShop();
    await shop.at(['keys', 'create', '--count', '32']);
    expect(JSON.parse(await exported(shop, '--format', 'json'))).toHaveLength(32);
    const items = Array.from({ length: 48 }, (_, at) => ({
      ...{ key: `KEY-${at}`, productId: 'prod_1', activations: at < 16 ? 1 : 0, features: {} },
    }));
    const gone = apiError('licenseNotFound');
    const client = clientOfCall(async ({ path }) => {
      if (path === '/key') throw gone;
      return { items, meta: { next: null } };
    });
    const textOf = async (form: 'csv' | 'json') => {
      const chunks = exportKeys(client, { productId: undefined, customerId: undefined, form }, async () => {});
      return (await Array.fromAsync(chunks)).join('');
    };
    expect(JSON.parse(await textOf('json'))).toHaveLength(32);
    expect((await textOf('csv')).trimEnd().split('\n')).toHaveLength(33);
  });

  it('exports nothing for a token that sees keys masked', async () => {
    await using shop = await bulkShop();
    await shop.at(['keys', 'create']);
    const { token } = await shop.json('tokens', 'create', '--kind', 'read-only', '--name', 'r');
    const { code, stderr } = await shop.at(['keys', 'export', '-o', 'keys.csv'], { env: { LKM_TOKEN: token } });
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('sees keys masked') });
    for (const format of ['csv', 'json', 'jsonl']) {
      const printed = await shop.at(['keys', 'export', '--format', format], { env: { LKM_TOKEN: token } });
      expect([printed.code, printed.stdout]).toEqual([2, '']);
    }
  });

  it('takes no key with stars of its own for a masked one', async () => {
    await using shop = await bulkShop();
    const key = '*****-ABCDEFGHIJ***MNOPQRSTUV';
    shop.write('keys.csv', `key\n${key}\n`);
    expect((await shop.at(['keys', 'import', '-f', 'keys.csv', '--yes'])).code).toBe(0);
    const exported = await shop.at(['keys', 'export'], { env: { GITHUB_ACTIONS: 'true' } });
    expect(exported).toMatchObject({ code: 0, stdout: expect.stringContaining(key) });
    expect(exported.stderr).toContain(`::add-mask::${key}\n`);
  });

  it('takes in the keys of another system', async () => {
    await using shop = await bulkShop();
    shop.write(
      'old.csv',
      'Serial;Seats;Ends;Mail;Machines;Since\nACME-0001-2019-AAAA-BBBB;3;2020-12-31;a@b.example;pc-1 pc-2;2019-05-04\nACME-0002-2019-AAAA-BBBB;;;a@b.example;;\n',
    );
    const map =
      'Serial=key Seats=maxActivations Ends=expires Mail=customerEmail Machines=devices Since=createdAt'.split(' ');
    const argv = ['keys', 'import', '-f', 'old.csv', '-y', ...map.flatMap((one) => ['--map', one])];
    expect((await shop.at(argv)).stderr).toMatch(/^imported 2 of 2 keys/m);
    expect(await shop.json('customers', 'list')).toHaveLength(1);
    const { license } = await shop.json('keys', 'get', 'ACME-0001-2019-AAAA-BBBB');
    expect(license).toMatchObject({
      maxActivations: 3,
      activations: 2,
      expirationDate: '2020-12-31T23:59:59.000Z',
      createdAt: '2019-05-04T00:00:00.000Z',
    });
    expect((await shop.at(argv)).stderr).toContain('nothing was imported now');
  });

  it.each([
    ['createdAt', '2031-01-01T00:00:00Z', "createdAt: '2031-01-01T00:00:00Z' is in the future"],
    ['revokedAt', '2031-01-01T00:00:00Z', "revokedAt: '2031-01-01T00:00:00Z' is in the future"],
    ['renewalDay', '31', 'renewalDay does not fit expirationDate'],
    [
      'devices',
      '"[{""hostId"":""a"",""activationTime"":""2031-01-01T00:00:00Z""}]"',
      'devices has a time of activation',
    ],
    ['id', 'lic_01jd7q2h0t5v9k3f8s6w4e1m7x', 'id was not made at createdAt'],
    ['devices', 'a b c', 'devices: 3 for 2 slots; --in-use takes them'],
  ])('tells what the service would refuse before anything is sent: %s %s', async (column, value, problem) => {
    await using shop = await bulkShop();
    const columns = column === 'createdAt' ? column : `createdAt,${column}`;
    const cells = column === 'createdAt' ? value : `2026-01-31T00:00:00Z,${value}`;
    const key = 'ACME-0001-2019-AAAA-BBBB';
    shop.write('keys.csv', `key,maxActivations,expirationDate,${columns}\n${key},2,2027-01-15T00:00:00Z,${cells}\n`);
    for (const more of [['--dry-run'], ['-y']]) {
      const { code, stderr } = await shop.at(['keys', 'import', '-f', 'keys.csv', ...more]);
      expect({ code, sent: shop.sent }).toEqual({ code: 2, sent: [] });
      expect(stderr).toContain(`  line 2: ${problem}`);
    }
  });

  it('asks before it imports, and sends nothing where it cannot ask', async () => {
    await using shop = await bulkShop();
    shop.write('keys.csv', 'key\nACME-0001-2019-AAAA-BBBB\n');
    const { code, stderr } = await shop.at(['keys', 'import', '-f', 'keys.csv']);
    expect({ code, stderr, sent: shop.sent }).toEqual({
      code: 3,
      stderr: expect.stringContaining('importing 1 key needs confirmation, and nothing can be asked'),
      sent: [],
    });
    const questions: string[] = [];
    const prompter = {
      confirm: async (question: string) => questions.push(question) > 0,
      type: async () => '',
      secret: async () => '',
      choose: async () => '',
      search: async () => '',
    };
    expect((await shop.at(['keys', 'import', '-f', 'keys.csv'], { terminal: true, prompter })).code).toBe(0);
    expect(questions).toEqual(['import 1 key?']);
  });

  it('refuses keys that are there already, or passes over them', async () => {
    await using shop = await bulkShop();
    const key = (await shop.at(['keys', 'create'])).stdout.trim();
    shop.write('keys.csv', `key\n${key}\nACME-0001-2019-AAAA-BBBB\n`);
    const argv = ['keys', 'import', '-f', 'keys.csv', '-y', '--format', 'csv', '--fields'];
    const refused = await shop.at([...argv, 'status,error']);
    expect(refused).toMatchObject({ code: 12, stdout: 'status,error\nfailed,This key exists already\nimported,\n' });
    const passed = await shop.at([...argv, 'status', '--if-absent']);
    expect(passed).toMatchObject({ code: 0, stdout: 'status\nexists\nimported\n' });
  });

  it('pass over no key that was revoked here and deleted', async () => {
    await using shop = await bulkShop();
    shop.write('keys.csv', 'key\nACME-0001-2019-AAAA-BBBB\n');
    await shop.at(['keys', 'import', '-f', 'keys.csv', '-y']);
    for (const command of ['revoke', 'delete']) {
      expect((await shop.at(['keys', command, 'ACME-0001-2019-AAAA-BBBB', '--yes'])).code).toBe(0);
    }
    shop.write('again.csv', 'key,reference\nACME-0001-2019-AAAA-BBBB,order-1\n');
    const argv = ['keys', 'import', '-f', 'again.csv', '-y', '--if-absent', '--format', 'csv', '--fields', 'error'];
    const stdout = 'error\nThis key was revoked: it is never given again\n';
    expect(await shop.at(argv)).toMatchObject({ code: 12, stdout });
  });
});

describe('changes of many keys', () => {
  it('updates, renews and blocks each key of a file, each once', async () => {
    await using shop = await bulkShop();
    const rows = await shop.json('keys', 'create', '--count', '3', '--expires', '2026-12-31');
    const keys = rows.map(({ key }: { key: string }) => key);
    shop.write('changes.csv', `key,maxActivations,metadata.plan\n${keys[0]},7,pro\n${keys[1]},unlimited,\n`);
    expect((await shop.at(['keys', 'update', '-f', 'changes.csv'])).stderr).toMatch(/^updated 2 of 2 keys/);
    shop.write('keys.csv', `key\n${keys.join('\n').toLowerCase()}\n`);
    for (let run = 0; run < 2; run++) {
      const renewed = await shop.json('keys', 'renew', '-f', 'keys.csv', '--for', '1y');
      expect(renewed[0]).toMatchObject({ status: 'renewed', expirationDate: '2027-12-31T23:59:59.000Z' });
    }
    expect((await shop.at(['keys', 'block', '-f', 'keys.csv', '--note', 'stolen'])).stderr).toMatch(
      /^blocked 3 of 3 keys/,
    );
    expect((await shop.json('keys', 'get', keys[0])).license).toMatchObject({
      maxActivations: 7,
      metadata: { plan: 'pro' },
      expirationDate: '2027-12-31T23:59:59.000Z',
      vendorDisabled: true,
    });
  });

  it('reads the columns of a file for create also for update', async () => {
    await using shop = await bulkShop();
    shop.write('new.csv', 'usesPerKey,expiryDate,isTrial,features.sso,feature.seats\n2,2027-01-31,true,true,5\n');
    const [{ key }] = await shop.json('keys', 'create', '-f', 'new.csv');
    shop.write(
      'changes.csv',
      `key,usesPerKey,expiryDate,isTrial,features.sso,feature.seats\n${key},3,2028-01-31,false,false,7\n`,
    );
    expect((await shop.at(['keys', 'update', '-f', 'changes.csv'])).stderr).toMatch(/^updated 1 of 1 key/);
    expect((await shop.json('keys', 'get', key)).license).toMatchObject({
      maxActivations: 3,
      expirationDate: '2028-01-31T23:59:59.000Z',
      metadata: { is_trial: false, features: { sso: false, seats: 7 } },
    });
  });

  it.each([
    [['keys', 'renew', 'ACME-0001-2019-AAAA-BBBB'], '--for is required'],
    [['keys', 'renew', '--for', '1y'], "missing required argument 'KEY'"],
    [['keys', 'update', '--max-activations', '2'], "missing required argument 'KEY'"],
    [['keys', 'block'], "missing required argument 'KEY'"],
    [
      ['keys', 'block', 'ACME-0001-2019-AAAA-BBBB', '-f', 'x.csv'],
      'KEY and -f name two lists of keys; give one of them',
    ],
    [['keys', 'renew', '-f', 'x.csv', '--if-updated-at', '2026-01-01T00:00:00Z'], '--if-updated-at is for one key'],
    [['customers', 'create', '-f', 'x.csv', '--name', 'A'], '--name and --email are for one customer'],
  ])('refuses %j', async (argv, message) => {
    await using shop = await bulkShop();
    shop.write('x.csv', 'key\nACME-0001-2019-AAAA-BBBB\n');
    const { code, stderr } = await shop.at(argv);
    expect({ code, sent: shop.sent }).toEqual({ code: 2, sent: [] });
    expect(stderr).toContain(message);
  });

  it('creates customers, and tells which address is taken', async () => {
    await using shop = await bulkShop();
    shop.write('c.csv', 'Name,E-Mail\nAda Ltd,it@ada.example\n"Zoë, Inc.",\n');
    const made = await shop.json('customers', 'create', '-f', 'c.csv');
    expect(made).toMatchObject([
      { status: 'created', Name: 'Ada Ltd', 'E-Mail': 'it@ada.example', id: expect.stringMatching(/^cus_/) },
      { status: 'created', Name: 'Zoë, Inc.' },
    ]);
    expect(await shop.json('customers', 'create', '-f', 'c.csv')).toEqual(made);
    shop.write('d.csv', 'name,email\nOther,IT@ada.example\n');
    const { code, stdout } = await shop.at(['customers', 'create', '-f', 'd.csv', '--json']);
    expect(code).toBe(12);
    expect(JSON.parse(stdout)[0].error).toMatchObject({ code: 'email_taken', status: 409 });
  });
});
