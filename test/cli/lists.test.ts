import { beforeAll, describe, expect, it } from 'vitest';
import type { Fetch } from '../../src/contract/endpoint.ts';
import { lkm, NOW, type Ran, says } from './fake-io.ts';
import { against, customer, refusal, remote, type Scripted } from './scripted-service.ts';
import { openShop } from './shop.ts';

const DAY = 86_400_000;

/** Two products, two customers and three keys, which stand for the words in capitals; made on days before. */
async function fill() {
  const shop = await openShop();
  const { names, answer } = shop;
  const made = async (name: string, day: number, line: string) => {
    names[name] = await answer(line, { now: NOW - day * DAY });
  };
  names.ENGINE = shop.product;
  await made('EDITOR', 39, 'products create --name Editor');
  await made('ADA', 39, 'customers create --name Ada-Ltd --email it@Ada.example');
  await made('EVE', 38, 'customers create --name ΑΣΤΗΡ');
  await made('POOL', 30, 'keys create --max-activations 5 --customer ADA --expires 2028-01-01');
  for (const host of ['one', 'two', 'three']) await answer(`keys activate POOL --host-id ${host}`);
  await made('SOON', 20, 'keys create --expires 2026-12-01 --metadata order=A-7');
  await made('TRIAL', 2, 'keys create -P EDITOR --expires never --trial');
  const at = (line: string, more = {}) => shop.at(line, { ...more, env: { LKM_PRODUCT: '', ...more } });
  const table = (line: string, columns = 80) =>
    shop.at(line, { terminal: { stdout: true }, columns, env: { LKM_PRODUCT: '' } });
  /** The names of what stands in the first column. */
  const named = ({ stdout }: Ran): string => {
    const words = Object.entries(names).map(([name, id]) => [id, name]);
    return stdout
      .split('\n')
      .filter(Boolean)
      .map((id) => Object.fromEntries(words)[id] ?? id)
      .join(' ');
  };
  return { ...shop, at, table, named };
}

let shop: Awaited<ReturnType<typeof fill>>;
beforeAll(async () => {
  shop = await fill();
});

describe('a list', () => {
  it.each([
    ['keys ls', 'TRIAL SOON POOL'],
    ['keys list -P ENGINE', 'SOON POOL'],
    ['keys list --customer ADA', 'POOL'],
    ['keys list --customer IT@ada.example', 'POOL'],
    ['keys list --status expiring --within 30d', 'SOON'],
    ['keys list --status expiring --within 36h', ''],
    ['keys list --trial false --status unused', 'SOON'],
    ['keys list --status Expiring,BLOCKED', 'SOON'],
    ['keys list --status blocked --status Unused --type node-locked,floating', 'TRIAL SOON'],
    ['keys list --type floating', ''],
    ['keys list --created-after 2026-11-01 --created-before 2026-11-10', 'SOON'],
    ['keys list --expires-after 2027-01-01T00:00:00Z', 'POOL'],
    ['keys list --expires-before 2027-01-01', 'SOON'],
    ['keys list --text ada', 'POOL'],
    ['keys list --metadata order=A-7', 'SOON'],
    ['keys list --metadata order=A-7 --text ada', ''],
    ['customers keys ADA', 'POOL'],
    ['customers keys it@ada.example', 'POOL'],
    ['customers list', 'ADA EVE'],
    ['customers list --email ADA', ''],
    ['customers list --email aDa.e', 'ADA'],
    // Its last letter has another form at the end of a word.
    ['customers list --text ας', 'EVE'],
    ['customers list --text tar', ''],
    ['customers list --text ltd --email it@', 'ADA'],
    ['customers list --active false', ''],
    ['customers get IT@ada.example', 'ADA'],
  ])('has what fits: %s', async (line, found) => {
    const ran = await shop.at(`${line} -q`);
    expect({ code: ran.code, found: shop.named(ran) }).toEqual({ code: 0, found });
  });

  it.each([
    ['keys list --limit 1', 'TRIAL', 'this is the first one; there are more\n'],
    ['keys list --limit 3', 'TRIAL SOON POOL', ''],
    ['customers list --limit 1', 'ADA', 'this is the first one; there are more\n'],
    ['customers list --limit 2', 'ADA EVE', ''],
    ['customers list --text zoë', '', 'no customer fits; leave a filter out to see more\n'],
    ['keys list --text zoë', '', 'no key fits; leave a filter out to see more\n'],
  ])('says how much there is: %s', async (line, found, stderr) => {
    const ran = await shop.at(`${line} --fields ${line.startsWith('customers') ? 'id' : 'key'}`);
    expect({ ...ran, stdout: shop.named(ran) }).toEqual({ code: 0, stdout: found, stderr });
  });

  it('of keys shows the status of each in a word, what is used at the right, and product and customer by name', async () => {
    const { TRIAL, SOON, POOL } = shop.names;
    const { stdout, stderr } = await shop.table('keys list');
    expect(stdout.split('\n')).toEqual([
      'KEY                            STATUS  USED  EXPIRES       PRODUCT  CUSTOMER',
      `${TRIAL}  unused   0/∞  never         Editor   –`,
      `${SOON}  unused   0/∞  in 10 days    Engine   –`,
      `${POOL}  active   3/5  in 13 months  Engine   Ada-Ltd`,
      '',
    ]);
    expect(stderr).toContain('no room for createdAt; --json shows it\n');
    const chosen = await shop.table('keys list --fields key,productId,customerId', 60);
    expect(chosen.stdout.split('\n')[3]).toBe(`${POOL}  Engine   Ada-Ltd`);
    const names = 'productName,customerName,customerEmail';
    const csv = await shop.at(`keys list --text ada --fields ${names} --format csv`);
    expect(csv.stdout).toBe(`${names}\nEngine,Ada-Ltd,it@ada.example\n`);
  });

  it('of keys shows the ids of products to a token that may not list them', async () => {
    const LKM_TOKEN = await shop.answer('tokens create --kind scoped --scope license:read --name shop');
    const { openInstance } = await import('../../src/server/runtime.ts');
    const instance = await openInstance({ db: `${shop.cwd}/lkm.db`, clock: () => NOW });
    const env = { LKM_TOKEN, LKM_BASE_URL: 'https://licensing.example.com', NO_COLOR: '1' };
    const { stdout } = await lkm(['keys', 'list'], { terminal: true, columns: 120, fetch: instance.fetch, env });
    await instance.close();
    expect(stdout.split('\n')[1]).toContain(shop.names.EDITOR);
  });

  it('of keys takes every name that the service gives to one with --fields', async () => {
    const [key] = JSON.parse((await shop.at('keys list --json')).stdout);
    const names = Object.keys(key);
    expect(names).toContain('reference');
    const [chosen] = JSON.parse((await shop.at(`keys list --json --fields ${names.join()}`)).stdout);
    expect(chosen).toEqual(key);
    const { license } = JSON.parse((await shop.at('keys get POOL --json')).stdout);
    const one = await shop.at(`keys get POOL --json --fields ${Object.keys(license).join()}`);
    expect(JSON.parse(one.stdout)).toEqual(license);
  });

  it.each([
    ['keys list --customer cus_01jd7q41c8fzks2v0t9e6h3m5p', 'cus_01jd7q41c8fzks2v0t9e6h3m5p'],
    ['keys export --customer cus_01jd7q41c8fzks2v0t9e6h3m5p', 'cus_01jd7q41c8fzks2v0t9e6h3m5p'],
    ...['keys list', 'keys export', 'stats', 'sessions list'].map((words) => [
      `${words} -P prod_01jx0000000000000000000000`,
      'product not found',
    ]),
    ['keys list --customer x@nobody.example', 'there is no customer with this e-mail address\n'],
    ['keys create -P ENGINE --customer x@nobody.example', 'there is no customer with this e-mail address\n'],
    ['customers update x@nobody.example --name N', 'there is no customer with this e-mail address\n'],
    ['customers get it@ada', 'there is no customer'],
    ['customers get cus_0', ''],
    ['customers keys cus_0', ''],
    ['keys get 00000-00000-00000-00000-00000', ''],
  ])('of what does not exist is an error: %s', async (line, message) => {
    const ran = await shop.at(line);
    expect(ran).toMatchObject({ code: 6, stderr: says(message) });
    expect(ran.stderr).not.toContain('@nobody');
  });

  it.each<[scripted: Scripted, code: number]>([
    [refusal(403, 1, 'Insufficient permissions for this operation'), 0],
    [refusal(401, 1, 'Invalid access token'), 4],
    [refusal(500, 1, 'Server error'), 10],
  ])('is empty for a customer that may not be seen, and for no other error: %j', async (looked, code) => {
    const empty: Scripted = [200, { data: [], code: 0, meta: { limit: 1_000, next: null } }];
    expect((await against('keys list --customer cus_1 --max-retries 0', [empty, looked])).code).toBe(code);
  });

  it.each([
    ['keys list --within 30d', '--within goes with --status expiring'],
    [
      'keys list --status disabled',
      "--status: 'disabled' is not one of active, unused, full, expiring, expired, blocked",
    ],
    ['keys list --created-after someday', "--created-after: 'someday' is not a day (2027-12-31) or an instant"],
    ['keys list --created-after 2026-02-30', "--created-after: '2026-02-30' is not a day (2027-12-31) or an instant"],
    ['keys list --metadata plan', "--metadata: 'plan' has no value; write NAME=VALUE"],
    ['customers list --active yes', "--active: 'yes' is neither true nor false"],
    [`customers list --email ${'x'.repeat(257)}`, '--email is longer than 256 characters'],
  ])('is refused before anything is sent: %s', async (line, message) => {
    const { seen, ...ran } = await against(line, []);
    expect(ran).toEqual({ code: 2, stdout: '', stderr: says(`error: ${message}`) });
    expect(seen).toEqual([]);
  });
});

describe('a list is asked for', () => {
  /** The requests of a command to a service with 1500 customers, and with keys in two parts. */
  async function asked(line: string) {
    const numbered = Array.from({ length: 1_500 }, (_, at) => customer(`cus_${at}`, `name ${at}`));
    const seen: string[] = [];
    const fetch: Fetch = async ({ url }) => {
      const { pathname, search, searchParams } = new URL(url);
      seen.push(pathname + search);
      const page = Number(searchParams.get('page') ?? 1);
      const cursor = searchParams.get('cursor') === '' ? 'lic_00000000000000000000000001' : null;
      if (pathname === '/key/list') return Response.json({ data: [], meta: { limit: 1_000, next: cursor }, code: 0 });
      const data = numbered.slice((page - 1) * 1_000, page * 1_000);
      const meta = { total: numbered.length, page, limit: 1_000, totalPages: 2 };
      return Response.json({ action: 'customers.list', status: true, data, meta, code: 0 });
    };
    return { ...(await lkm(line.split(' '), { fetch, env: remote })), seen };
  }

  it.each([
    ['customers list', ['/customer']],
    ['customers list --email a@b --text c --active false', ['/customer?email=a%40b&text=c&active=false']],
    ['customers list --limit 10', ['/customer?page=1&limit=11']],
    ['customers list --limit 1200', ['/customer?page=1&limit=1000', '/customer?page=2&limit=1000']],
    [
      'keys list --metadata plan=pro',
      [
        '/key/list?limit=1000&cursor=&metadata.plan=pro',
        '/key/list?limit=1000&cursor=lic_00000000000000000000000001&metadata.plan=pro',
      ],
    ],
  ])('with its filters, and no further than needed: %s', async (line, requests) => {
    const { stdout, seen } = await asked(`${line} -q`);
    expect(seen).toEqual(requests);
    if (line.includes('1200')) expect(stdout.split('\n').slice(-3)).toEqual(['cus_1198', 'cus_1199', '']);
  });
});

describe('stats', () => {
  it('show counts, weeks, the fullest keys and those that expire next', async () => {
    const { stdout } = await shop.table('stats');
    expect(stdout).toContain(
      [
        'keys by product',
        'PRODUCT  TOTAL  ACTIVE  UNUSED  FULL  EXPIRING  EXPIRED  BLOCKED  REVOKED  TRIAL',
        'Editor       1       1       1     0         0        0        0        0      1',
        'Engine       2       2       1     0         1        0        0        0      0',
        'all          3       3       2     0         1        0        0        0      1',
        '',
        'in use',
        '3 devices, 0 sessions, 2 customers',
      ].join('\n'),
    );
    const bar = '█'.repeat(60);
    expect(stdout).toContain(
      `2026-10-19  1  ${bar}\n2026-10-26  1  ${bar}\n2026-11-02  0\n2026-11-09  0\n2026-11-16  1`,
    );
    const { POOL, SOON } = shop.names;
    expect(stdout).toMatch(new RegExp(`fullest\nKEY +USED  CUSTOMER\n${POOL}   3/5`));
    expect(stdout).toMatch(new RegExp(`next to expire\nKEY +EXPIRES +CUSTOMER\n${SOON}  in 10 days`));
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it('are rows where columns are wanted, and the object of the service for a program', async () => {
    const rows = (await shop.at('stats --fields productId,total,active')).stdout.trimEnd().split('\n');
    expect([rows.length, rows.includes(`${shop.names.EDITOR}\t1\t1`), rows.at(-1)]).toEqual([3, true, 'all\t3\t3']);
    const stats = JSON.parse((await shop.at('stats -P EDITOR --json')).stdout);
    expect(stats).toMatchObject({ keys: { total: 1, trial: 1 }, devices: 0, customers: null });
  });
});
