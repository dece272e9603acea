import { describe, expect, it } from 'vitest';
import { lkm, NOW, tempFolder } from './fake-io.ts';
import { listed, refusal, remote, type Scripted, scriptedService } from './scripted-service.ts';

const DAY = 86_400_000;

/** A database with two products, a customer and three keys; commands run on it, at a time of their own. */
async function openShop() {
  const surroundings = { cwd: tempFolder(), env: { LKM_DB: 'lkm.db' } };
  const at = async (now: number, ...argv: string[]) => {
    const ran = await lkm([...argv, '--create'], { ...surroundings, now });
    return ran.stdout.trim();
  };
  const engine = await at(NOW - 40 * DAY, 'products', 'create', '--name', 'Engine Pro');
  const editor = await at(NOW - 39 * DAY, 'products', 'create', '--name', 'Editor');
  const ada = await at(NOW - 39 * DAY, 'customers', 'create', '--name', 'Ada Ltd', '--email', 'it@Ada.example');
  const create = (day: number, ...argv: string[]) => at(NOW - day * DAY, 'keys', 'create', '-P', ...argv);
  const pool = await create(30, engine, '--max-activations', '5', '--customer', ada, '--expires', '2028-01-01');
  for (const host of ['one', 'two', 'three']) {
    await at(NOW - 20 * DAY, 'keys', 'activate', pool, '-P', engine, '--host-id', host);
  }
  const soon = await create(20, engine, '--expires', '2026-12-01', '--metadata', 'order=A-7');
  const trial = await create(2, editor, '--expires', 'never', '--trial');
  const run = (...argv: string[]) => lkm(argv, surroundings);
  const onTerminal = (columns: number, ...argv: string[]) =>
    lkm(argv, { ...surroundings, terminal: { stdout: true }, columns, env: { ...surroundings.env, NO_COLOR: '1' } });
  return { cwd: surroundings.cwd, engine, editor, ada, pool, soon, trial, run, onTerminal };
}

describe('keys of a customer or product that does not exist', () => {
  it.each([
    [['--customer', 'cus_01jd7q41c8fzks2v0t9e6h3m5p'], 'cus_01jd7q41c8fzks2v0t9e6h3m5p'],
    [['-P', 'prod_01jx0000000000000000000000'], 'product not found'],
  ])('are not an empty list: %j', async (filter, says) => {
    const { run } = await openShop();
    for (const command of ['list', 'export']) {
      const { code, stderr } = await run('keys', command, ...filter);
      expect({ code, stderr }).toEqual({ code: 6, stderr: expect.stringContaining(says) });
    }
  });

  it.each<[scripted: Scripted, code: number]>([
    [refusal(403, 1, 'Insufficient permissions for this operation'), 0],
    [refusal(401, 1, 'Invalid access token'), 4],
    [refusal(500, 1, 'Server error'), 10],
  ])('are an empty list only when the customer may not be seen: %j', async (looked, code) => {
    const empty: Scripted = [200, { data: [], code: 0, meta: { limit: 1_000, next: null } }];
    const { fetch } = scriptedService(empty, looked);
    const argv = ['keys', 'list', '--customer', 'cus_1', '--max-retries', '0'];
    expect((await lkm(argv, { env: remote, fetch })).code).toBe(code);
  });

  it('are an empty list where nothing fits a filter', async () => {
    const { engine, run } = await openShop();
    expect(await run('keys', 'list', '-P', engine, '--trial', 'true', '--json')).toMatchObject({
      code: 0,
      stdout: '[]\n',
    });
  });
});

describe('keys list', () => {
  it('lists keys, newest first, by filters that add up', async () => {
    const { engine, ada, pool, soon, trial, run } = await openShop();
    const keys = async (...argv: string[]) =>
      (await run('keys', 'ls', '-q', ...argv)).stdout.split('\n').filter(Boolean);
    expect(await keys()).toEqual([trial, soon, pool]);
    expect(await keys('-P', engine)).toEqual([soon, pool]);
    expect(await keys('--customer', ada)).toEqual([pool]);
    expect(await keys('--status', 'expiring', '--within', '30d')).toEqual([soon]);
    expect(await keys('--status', 'expiring', '--within', '36h')).toEqual([]);
    expect(await keys('--trial', 'false', '--status', 'unused')).toEqual([soon]);
    expect(await keys('--type', 'floating')).toEqual([]);
    expect(await keys('--created-after', '2026-11-01', '--created-before', '2026-11-10')).toEqual([soon]);
    expect(await keys('--expires-after', '2027-01-01T00:00:00Z')).toEqual([pool]);
    expect(await keys('--expires-before', '2027-01-01')).toEqual([soon]);
    expect(await keys('--text', 'ada')).toEqual([pool]);
    expect(await keys('--metadata', 'order=A-7')).toEqual([soon]);
    expect(await keys('--metadata', 'order=A-7', '--text', 'ada')).toEqual([]);
  });

  it('shows a table with the status of each in a word, and what is used at the right', async () => {
    const { onTerminal, pool, soon, trial } = await openShop();
    const { stdout, stderr } = await onTerminal(80, 'keys', 'list');
    expect(stdout).toBe(
      [
        'KEY                            STATUS  USED  EXPIRES       CREATED',
        `${trial}  unused   0/∞  never         2 days ago`,
        `${soon}  unused   0/∞  in 10 days    20 days ago`,
        `${pool}  active   3/5  in 13 months  1 month ago`,
        '',
      ].join('\n'),
    );
    expect(stderr).toContain('no room for productId, customerId; --fields key,productId,customerId shows them\n');
    const chosen = await onTerminal(80, 'keys', 'list', '--fields', 'key,productId,customerId');
    expect(chosen).toMatchObject({ stdout: expect.stringMatching(/^key .*\nproduct .*\ncustomer /), stderr: '' });
  });

  it('stops at --limit and says so, and says when nothing fits', async () => {
    const { run, trial } = await openShop();
    expect(await run('keys', 'list', '--limit', '1', '--fields', 'key')).toEqual({
      code: 0,
      stdout: `${trial}\n`,
      stderr: 'this is the first one; there are more\n',
    });
    expect((await run('keys', 'list', '--limit', '3')).stderr).toBe('');
    expect((await run('keys', 'list', '--text', 'zoë')).stderr).toBe('no key fits; leave a filter out to see more\n');
  });

  it('reads part by part, by the cursor of the part before', async () => {
    const asked: string[] = [];
    const fetch = async ({ url }: Request) => {
      const { pathname, searchParams } = new URL(url);
      asked.push(`${pathname} ${searchParams}`);
      const next = searchParams.get('cursor') === '' ? 'lic_00000000000000000000000001' : null;
      return Response.json({ data: [], meta: { limit: 1_000, next }, code: 0 });
    };
    await lkm(['keys', 'list', '--metadata', 'plan=pro'], { fetch, env: remote });
    expect(asked).toEqual([
      '/key/list limit=1000&cursor=&metadata.plan=pro',
      '/key/list limit=1000&cursor=lic_00000000000000000000000001&metadata.plan=pro',
    ]);
  });

  it.each([
    [['--within', '30d'], '--within goes with --status expiring, and only with it'],
    [['--status', 'disabled'], "--status: 'disabled' is not one of active, unused, full, expiring, expired, blocked"],
    [
      ['--created-after', 'yesterday'],
      "--created-after: 'yesterday' is not a day (2027-12-31) or an instant (2027-12-31T18:00:00Z)",
    ],
    [
      ['--created-after', '2026-02-30'],
      "--created-after: '2026-02-30' is not a day (2027-12-31) or an instant (2027-12-31T18:00:00Z)",
    ],
    [['--metadata', 'plan'], "--metadata: 'plan' has no value; write NAME=VALUE"],
  ])('refuses %j before anything is sent', async (argv, message) => {
    const { fetch, seen } = scriptedService(listed([]));
    const { code, stderr } = await lkm(['keys', 'list', ...argv], { fetch, env: remote });
    expect({ code, stderr }).toEqual({ code: 2, stderr: `error: ${message}\n` });
    expect(seen).toEqual([]);
  });
});

describe('keys get', () => {
  it('finds a key without its product', async () => {
    const { run, pool, engine } = await openShop();
    expect((await run('keys', 'get', pool, '--fields', 'productId,activations')).stdout).toBe(`${engine}\t3\n`);
    expect((await run('keys', 'get', '00000-00000-00000-00000-00000')).code).toBe(6);
  });
});

describe('customers', () => {
  it('are shown by id and by address in any case', async () => {
    const { run, ada } = await openShop();
    expect((await run('customers', 'get', ada, '--fields', 'name')).stdout).toBe('Ada Ltd\n');
    expect((await run('customers', 'get', 'IT@ada.example', '-q')).stdout).toBe(`${ada}\n`);
    expect(await run('customers', 'get', 'it@ada')).toMatchObject({ code: 6, stdout: '' });
    expect(await run('customers', 'get', 'cus_0')).toMatchObject({ code: 6, stdout: '' });
  });

  it('are updated, and not when somebody else has done so', async () => {
    const { run, ada } = await openShop();
    const updated = await run('customers', 'update', ada, '--name', 'Ada & Co', '--clear-email', '--inactive');
    expect(updated).toMatchObject({ code: 0, stderr: `updated ${ada}\n` });
    expect((await run('customers', 'get', ada, '--fields', 'name,email,active')).stdout).toBe('Ada & Co\t\tfalse\n');
    const stale = await run('customers', 'update', ada, '--active', '--if-updated-at', '2026-01-01T00:00:00Z');
    expect(stale).toMatchObject({ code: 7, stdout: '' });
    const nothing = await run('customers', 'update', ada);
    expect(nothing).toMatchObject({ code: 2, stderr: expect.stringContaining('nothing to change') });
  });

  it('have an event that names only what has another value now', async () => {
    const { run, ada } = await openShop();
    await run('customers', 'update', ada, '--name', 'Ada Ltd', '--inactive');
    const events = JSON.parse((await run('events', 'list', '--json')).stdout);
    expect(events.at(-1)).toMatchObject({ type: 'customer.updated', data: { changed: ['active'], active: false } });
  });

  it('have their keys listed', async () => {
    const { run, ada, pool } = await openShop();
    expect((await run('customers', 'keys', ada, '-q')).stdout).toBe(`${pool}\n`);
    expect((await run('customers', 'keys', 'cus_0')).code).toBe(6);
  });
});

describe('versions of products', () => {
  it('are added, listed and made inactive', async () => {
    const { run, engine } = await openShop();
    const id = (await run('products', 'add-version', engine, '2.1', '--description', 'Autumn')).stdout.trim();
    expect(id).toMatch(/^ver_/);
    expect((await run('products', 'add-version', engine, '2.1')).code).toBe(7);
    expect((await run('products', 'update-version', id, '--inactive')).stderr).toBe(`updated ${id}\n`);
    const fields = ['--fields', 'id,version,description,active'];
    expect((await run('products', 'versions', engine, ...fields)).stdout).toBe(`${id}\t2.1\tAutumn\tfalse\n`);
    expect((await run('products', 'update-version', id)).code).toBe(2);
  });
});

describe('stats', () => {
  it('show counts, weeks, the fullest keys and those that expire next', async () => {
    const { onTerminal, pool, soon } = await openShop();
    const { stdout } = await onTerminal(80, 'stats');
    expect(stdout).toContain(
      [
        'keys by product',
        'PRODUCT     TOTAL  ACTIVE  UNUSED  FULL  EXPIRING  EXPIRED  BLOCKED  TRIAL',
        'Engine Pro      2       2       1     0         1        0        0      0',
        'Editor          1       1       1     0         0        0        0      1',
        'all             3       3       2     0         1        0        0      1',
        '',
        'in use',
        '3 devices, 0 sessions, 1 customer',
      ].join('\n'),
    );
    const bar = '█'.repeat(60);
    expect(stdout).toContain(
      `2026-10-19  1  ${bar}\n2026-10-26  1  ${bar}\n2026-11-02  0\n2026-11-09  0\n2026-11-16  1`,
    );
    expect(stdout).toMatch(new RegExp(`fullest\nKEY +USED  CUSTOMER\n${pool}   3/5`));
    expect(stdout).toMatch(new RegExp(`next to expire\nKEY +EXPIRES +CUSTOMER\n${soon}  in 10 days`));
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it('are the counts of each product, and of all, where columns are wanted', async () => {
    const { run, editor } = await openShop();
    const { stdout } = await run('stats', '--fields', 'productId,total,active');
    const rows = stdout.trimEnd().split('\n');
    expect(rows).toHaveLength(3);
    expect(rows).toContain(`${editor}\t1\t1`);
    expect(rows.at(-1)).toBe('all\t3\t3');
    expect((await run('stats')).stdout.split('\n')[2]).toMatch(/^all(\t\d+){8}$/);
  });

  it('are the object of the service for a program', async () => {
    const { run, editor } = await openShop();
    const { stdout } = await run('stats', '-P', editor, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ keys: { total: 1, trial: 1 }, devices: 0, customers: null });
  });
});

describe('forecast', () => {
  it('lists what expires within so many days, soonest first', async () => {
    const { run, soon } = await openShop();
    const rows = async (...argv: string[]) =>
      (await run('forecast', ...argv, '--fields', 'expirationDate,key')).stdout.split('\n').filter(Boolean);
    expect(await rows()).toEqual([`2026-12-01T23:59:59.000Z\t${soon}`]);
    expect(await run('forecast', '--days', '1')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'no key expires within 1 day\n',
    });
  });
});

describe('a product that the environment names', () => {
  const lists = [['stats'], ['forecast'], ['keys', 'list'], ['sessions', 'list']];

  it.each(lists)('is said at a terminal, where it limits %s %s', async (...words) => {
    const { cwd, editor } = await openShop();
    const shown = (env: Record<string, string>, ...argv: string[]) =>
      lkm(words.concat(argv), { cwd, terminal: { stderr: true }, env: { LKM_DB: 'lkm.db', NO_COLOR: '1', ...env } });
    const note = `only product ${editor}, set by LKM_PRODUCT or lkm config\n`;
    expect((await shown({ LKM_PRODUCT: editor })).stderr).toContain(note);
    expect((await shown({ LKM_PRODUCT: editor }, '-P', editor)).stderr).not.toContain('only product');
    expect((await shown({})).stderr).not.toContain('only product');
  });

  it.each(lists)('and that does not exist is an error of %s %s', async (...words) => {
    const { cwd } = await openShop();
    const env = { LKM_DB: 'lkm.db', LKM_PRODUCT: 'prod_01jx0000000000000000000000' };
    const { code, stderr } = await lkm(words, { cwd, env });
    expect({ code, stderr: stderr.split('\n')[0] }).toEqual({ code: 6, stderr: 'error: product not found' });
  });
});

describe('--fields', () => {
  it('takes every name that the service gives to a key', async () => {
    const { run } = await openShop();
    const [key = {}] = JSON.parse((await run('keys', 'list', '--json')).stdout);
    const names = Object.keys(key);
    expect(names).toContain('reference');
    const { code, stdout } = await run('keys', 'list', '--limit', '1', '--json', '--fields', names.join());
    expect({ code, names: Object.keys(JSON.parse(stdout)[0]) }).toEqual({ code: 0, names });
    const lookup = JSON.parse((await run('keys', 'get', key.key, '--json')).stdout);
    const one = await run('keys', 'get', key.key, '--json', '--fields', Object.keys(lookup.license).join());
    expect(JSON.parse(one.stdout)).toEqual(lookup.license);
  });
});
