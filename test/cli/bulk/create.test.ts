import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bulkShop, unauthorized } from './bulk-shop.ts';

const KEY = /^[0-9A-Z]{5}(-[0-9A-Z]{5}){4}$/;

describe('lkm keys create --count', () => {
  it('issues so many keys, and prints the same ones when it is run again', async () => {
    await using shop = await bulkShop();
    const argv = ['keys', 'create', '--count', '7', '--max-activations', '2', '--json'];
    const first = await shop.at(argv);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    const rows = JSON.parse(first.stdout);
    expect(rows.map(({ row, status }: { row: number; status: string }) => [row, status])).toEqual(
      [1, 2, 3, 4, 5, 6, 7].map((row) => [row, 'issued']),
    );
    for (const { key } of rows) expect(key).toMatch(KEY);
    expect(new Set(rows.map(({ key }: { key: string }) => key)).size).toBe(7);
    expect(shop.sent).toHaveLength(7);
    expect(new Set(shop.sent.map(({ key }) => key)).size).toBe(7);
    expect(await shop.at(argv)).toEqual(first);
    expect((await shop.keys()).every(({ maxActivations }: { maxActivations: number }) => maxActivations === 2)).toBe(
      true,
    );
  });

  it('says what was done before, and how to do it all once more', async () => {
    await using shop = await bulkShop();
    const first = await shop.at(['keys', 'create', '--count', '2', '-v']);
    expect(first.stderr.match(/^POST \/create-key {2}200 {2}\d+ ms {2}attempt 1$/gm)).toHaveLength(2);
    const again = await shop.at(['keys', 'create', '--count', '2', '--expires', 'never']);
    expect(again.stderr).toBe('issued 2 of 2 keys\n');
    expect((await shop.at(['keys', 'create', '--count', '2', '--expires', 'never'])).stderr).toBe(
      'issued 0 of 2 keys · 2 were issued before\nnothing was issued now; to do it all once more: --run NAME\n',
    );
    await shop.at(['keys', 'create', '--count', '2', '--run', 'second']);
    expect(await shop.keys()).toHaveLength(6);
  });

  it('is another run with other options, another product or another number, and the same at another address', async () => {
    await using shop = await bulkShop();
    const other = (await shop.json('products', 'create', '--name', 'Other')).id;
    for (const more of [[], ['--max-activations', '3'], ['-P', other], ['--count', '2'], ['--trial']]) {
      expect((await shop.at(['keys', 'create', '--count', '1', ...more])).code).toBe(0);
    }
    expect(await shop.keys()).toHaveLength(5);
    await shop.at(['keys', 'create', '--count', '1'], { env: { LKM_BASE_URL: 'https://replica.example.com' } });
    expect(await shop.keys()).toHaveLength(5);
    expect(await shop.json('keys', 'list', '-P', other)).toHaveLength(1);
  });

  it.each([
    [['--count', '0'], "--count: '0' is not a whole number from 1 to 999999999"],
    [['--count', '2', '-f', 'x.csv'], '--count and -f name two lists of rows; give one of them'],
    [['--count', '2', '--reference', 'r'], '--reference names one key: give each row its own, in a column'],
    [['--count', '2', '--idempotency-key', 'k'], 'an idempotency key stands for one request'],
    [['--count', '2', '--max-sessions', '3'], 'the options do not go together'],
    [['--count', '2', '--run', 'a b'], '--run: a name has 1 to 64 letters, digits and . : @ _ -'],
    [['--count', '2', '--concurrency', '1000'], "--concurrency: '1000' is not a whole number from 1 to 256"],
  ])('refuses %j before anything is sent', async (more, message) => {
    await using shop = await bulkShop();
    const { code, stdout, stderr } = await shop.at(['keys', 'create', ...more]);
    expect({ code, stdout, sent: shop.sent }).toEqual({ code: 2, stdout: '', sent: [] });
    expect(stderr).toContain(message);
  });
});

describe('lkm keys create -f', () => {
  it('issues a key for each row of a CSV file, with what each says', async () => {
    await using shop = await bulkShop();
    shop.write(
      'orders.csv',
      '\ufeffreference,max activations,Expires,metadata.plan,feature.seats,customerName\r\no-1,3,2027-01-31,"a, b",5,Ada Ltd\r\n\r\no-2,unlimited,never,,,\r\n',
    );
    const rows = await shop.json('keys', 'create', '-f', 'orders.csv', '--max-activations', '9');
    expect(rows).toMatchObject([
      { reference: 'o-1', Expires: '2027-01-31', status: 'issued', key: expect.stringMatching(KEY) },
      { reference: 'o-2', Expires: 'never', status: 'issued', key: expect.stringMatching(KEY) },
    ]);
    const { license, customer } = await shop.json('keys', 'get', rows[0].key);
    expect(license).toMatchObject({
      reference: 'o-1',
      maxActivations: 3,
      expirationDate: '2027-01-31T23:59:59.000Z',
      metadata: { plan: 'a, b', features: { seats: 5 } },
    });
    expect(customer.name).toBe('Ada Ltd');
    expect((await shop.json('keys', 'get', rows[1].key)).license).toMatchObject({
      maxActivations: null,
      expirationDate: null,
    });
  });

  it.each([
    ['rows.jsonl', '{"reference":"o-1","usesPerKey":2,"metadata":{"n":1}}\n\n{"reference":"o-2","expires":null}\n'],
    ['rows.json', '[{"reference":"o-1","usesPerKey":"2","metadata":{"n":1}},{"reference":"o-2","expiryDate":null}]'],
  ])('reads %s', async (name, text) => {
    await using shop = await bulkShop();
    shop.write(name, text);
    const rows = await shop.json('keys', 'create', '-f', name);
    const [one, two] = await Promise.all(
      rows.map(async ({ key }: { key: string }) => (await shop.json('keys', 'get', key)).license),
    );
    expect(one).toMatchObject({ reference: 'o-1', maxActivations: 2, metadata: { n: 1 } });
    expect(two).toMatchObject({ reference: 'o-2', expirationDate: null });
  });

  it.each([
    ['semicolons', 'reference;maxActivations\no-1;2\n', []],
    ['tabs', 'reference\tmaxActivations\no-1\t2\n', []],
    [
      'a given delimiter',
      'reference|maxActivations,n\no-1|2\n',
      ['--delimiter', 'pipe', '--map', 'maxActivations,n=maxActivations'],
    ],
    [
      'mapped columns',
      'Order No,Seats,Note\no-1,2,x\n',
      ['--map', 'Order No=reference', '--map', 'Seats=maxActivations', '--map', 'Note='],
    ],
  ])('reads stdin with %s', async (_, stdin, more) => {
    await using shop = await bulkShop();
    const { code, stdout } = await shop.at(['keys', 'create', '-f', '-', '--json', ...more], { stdin });
    expect(code).toBe(0);
    const [{ key }] = JSON.parse(stdout);
    expect((await shop.json('keys', 'get', key)).license).toMatchObject({ reference: 'o-1', maxActivations: 2 });
  });

  it('takes the product from the file where no option names one', async () => {
    await using shop = await bulkShop();
    shop.write('rows.csv', `product\n${shop.product}\n`);
    const none = { env: { LKM_PRODUCT: '' } };
    expect((await shop.at(['keys', 'create', '-f', 'rows.csv'], none)).code).toBe(0);
    shop.write('rows.csv', 'reference\no-1\n');
    const { code, stderr } = await shop.at(['keys', 'create', '-f', 'rows.csv'], none);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'error: rows.csv has 1 problem; nothing was sent\n  line 2: productId is missing\n',
    });
  });

  it('shows every problem of a file at once, with lines, and sends nothing', async () => {
    await using shop = await bulkShop();
    shop.write(
      'bad.csv',
      'reference,maxActivations,expires,Colour\no-1,x,yesterday,red\n"o-\n2",2,,\no-1,2,1y\no-3,2,6m,\no-4,2,,"a"b\n',
    );
    for (const argv of [
      ['-f', 'bad.csv'],
      ['-f', 'bad.csv', '-n'],
    ]) {
      const { code, stdout, stderr } = await shop.at(['keys', 'create', ...argv]);
      expect({ code, stdout, sent: shop.sent }).toEqual({ code: 2, stdout: '', sent: [] });
      expect(stderr.split('\n').map((line) => line.slice(0, 60))).toEqual([
        'error: bad.csv has 9 problems; nothing was sent',
        "  column 'Colour': say what it is, --map 'Colour=FIELD', or ",
        "  line 2: maxActivations: 'x' is neither a whole number from",
        "  line 2: expires: 'yesterday' is not a date (2027-12-31), a",
        expect.stringMatching(/^ {2}line 3: reference /),
        '  line 5: has 3 cells; the header has 4',
        '  line 5: reference: the same as in line 2',
        "  line 6: expires: '6m' can mean months or minutes: write 6m",
        expect.stringMatching(/^ {2}line 7: Invalid Closing Quote/),
        expect.stringMatching(/^ {2}line 7: Quote Not Closed/),
        expect.stringMatching(/^ {2}known fields: productId, reference, /),
        '',
      ]);
    }
  });

  it('with --dry-run says how many rows there are and shows the first', async () => {
    await using shop = await bulkShop();
    shop.write('rows.csv', 'reference\no-1\no-2\n');
    const { code, stdout, stderr } = await shop.at(['keys', 'create', '-f', 'rows.csv', '-n', '--json']);
    expect({ code, stderr, sent: shop.sent }).toEqual({ code: 0, stderr: '', sent: [] });
    expect(JSON.parse(stdout)).toEqual({ dryRun: true, rows: 2, first: { productId: shop.product, reference: 'o-1' } });
  });

  it.each([
    ['an empty file', '', 'rows.csv is empty'],
    ['a header alone', 'reference\n', 'it has no rows that can be read'],
    ['another encoding', Buffer.from('reference\nca\xb3\xe9\n', 'latin1'), 'rows.csv is not UTF-8 text'],
  ])('refuses %s', async (_, text, message) => {
    await using shop = await bulkShop();
    shop.write('rows.csv', text);
    const { code, stderr } = await shop.at(['keys', 'create', '-f', 'rows.csv']);
    expect({ code, sent: shop.sent }).toEqual({ code: 2, sent: [] });
    expect(stderr).toContain(message);
  });

  it('goes on when a row is refused, ends with 12, and sends that row again the next time', async () => {
    await using shop = await bulkShop();
    const other = (await shop.json('products', 'create', '--name', 'Other')).id;
    await shop.at(['keys', 'create', '-P', other, '--reference', 'o-2']);
    shop.write('rows.csv', 'reference,expires\no-1,never\no-2,never\no-3,never\n');
    const argv = ['keys', 'create', '-f', 'rows.csv', '--format', 'csv'];
    const { code, stdout, stderr } = await shop.at(argv);
    expect(code).toBe(12);
    const masked = (text: string) => text.replaceAll(/[0-9A-Z]{5}(-[0-9A-Z]{5}){4}/g, 'KEY').split('\n');
    expect(masked(stdout)).toEqual([
      'reference,expires,status,key,error',
      'o-1,never,issued,KEY,',
      'o-2,never,failed,,A key with reference o-2 already exists',
      'o-3,never,issued,KEY,',
      '',
    ]);
    expect(stderr).toBe(
      'warning: issued 2 of 3 keys · 1 failed\nthe same command sends the failed rows again, and no other\n',
    );
    await shop.at(['keys', 'delete', '-P', other, (await shop.json('keys', 'list', '-P', other))[0].key, '-y']);
    const mended = await shop.at(argv);
    expect(mended.code).toBe(0);
    expect(masked(mended.stdout).slice(1, 4)).toEqual(
      ['o-1', 'o-2', 'o-3'].map((order) => `${order},never,issued,KEY,`),
    );
    expect(mended.stderr).toBe('issued 1 of 3 keys · 2 were issued before\n');
  });

  it('says which end keys without an expiry get, once, and nothing where all have one', async () => {
    await using shop = await bulkShop();
    const create = async (rows: string, ...more: string[]) => {
      shop.write('rows.csv', rows);
      return (await shop.at(['keys', 'create', '-f', 'rows.csv', ...more])).stderr;
    };
    const note = 'rows without an expiry: the service sets one month, to 2026-12-21 12:00 UTC\n';
    const mixed = 'reference,expires\no-1,2027-01-31\no-2,\no-3,\n';
    expect((await create(mixed)).split(note)).toHaveLength(2);
    expect(await create('reference,expires\no-4,2027-01-31\no-5,never\n')).not.toContain(note);
    expect(await create('reference\no-6\n', '--expires-after', 'P1Y')).not.toContain(note);
  });

  it('gives the key that a reference has, and says how it differs', async () => {
    await using shop = await bulkShop();
    const taken = (await shop.at(['keys', 'create', '--reference', 'o-2', '--max-activations', '5'])).stdout.trim();
    shop.write('rows.csv', 'reference\no-1\no-2\n');
    const issue = ['keys', 'create', '-f', 'rows.csv', '--json', '--expires', 'never'];
    const { code, stdout, stderr } = await shop.at(issue);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)[1]).toEqual({ reference: 'o-2', status: 'issued', key: taken });
    expect(stderr).toBe('warning: line 3: The key of this reference differs in maxActivations\n');
  });

  it('says that a file without references is another run once it is changed', async () => {
    await using shop = await bulkShop();
    const create = async (rows: string) => {
      shop.write('rows.csv', rows);
      return (await shop.at(['keys', 'create', '-f', 'rows.csv', '--expires', 'never'])).stderr;
    };
    expect(await create('maxActivations\n1\n')).toContain("--map 'COLUMN=reference'");
    expect(await create('maxActivations,reference\n1,o-1\n')).not.toContain('--map');
    const { license } = await shop.json('keys', 'get', (await shop.keys())[1].key);
    expect([license.reference, (await shop.keys())[0].reference]).toContainEqual(
      expect.stringMatching(/^run-[\da-f]{16}-1$/),
    );
  });
});

describe('-o of a bulk command', () => {
  it('writes the same file again, but overwrites none that was changed since unless it is told to', async () => {
    await using shop = await bulkShop();
    const argv = ['keys', 'create', '--count', '3', '-o', 'keys.csv'];
    await shop.at(argv);
    const path = join(shop.cwd, 'keys.csv');
    const first = readFileSync(path, 'utf8');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await shop.at(argv)).toMatchObject({ code: 0, stdout: '' });
    shop.write('keys.csv', `${first}mine\n`);
    const { code, stderr } = await shop.at(argv);
    expect({ code, stderr }).toEqual({
      code: 13,
      stderr:
        'error: keys.csv was changed after this run wrote it\n' +
        '  Nothing was sent. Name another file, or overwrite it with --force.\n',
    });
    expect(readFileSync(path, 'utf8')).toBe(`${first}mine\n`);
    expect((await shop.at([...argv, '--force'])).code).toBe(0);
    expect((await shop.at(argv)).code).toBe(0);
    expect(readFileSync(path, 'utf8')).toBe(first);
    expect(await shop.keys()).toHaveLength(3);
  });

  it('writes the same file again, also through --jq', async () => {
    await using shop = await bulkShop();
    const argv = ['keys', 'create', '--count', '2', '--format', 'jsonl', '--jq', '.key', '-o', 'keys.txt'];
    for (let times = 0; times < 2; times++) expect((await shop.at(argv)).code).toBe(0);
    expect(readFileSync(join(shop.cwd, 'keys.txt'), 'utf8')).toMatch(/^(\S{29}\n){2}$/);
  });

  it('overwrites no file that the run has not made', async () => {
    await using shop = await bulkShop();
    shop.write('keys.csv', 'mine');
    const { code, stderr } = await shop.at(['keys', 'create', '--count', '3', '-o', 'keys.csv']);
    expect({ code, stderr, sent: shop.sent }).toEqual({
      code: 13,
      stderr: 'error: keys.csv exists\n  Nothing was sent. Name another file, or overwrite it with --force.\n',
      sent: [],
    });
    expect(readFileSync(join(shop.cwd, 'keys.csv'), 'utf8')).toBe('mine');
    expect((await shop.at(['keys', 'create', '-o', 'keys.csv'])).code).toBe(13);
  });
});

describe('a folder of state that cannot be written', () => {
  const unwritable = (shop: { cwd: string }) => ({ env: { LKM_STATE_DIR: join(shop.cwd, 'rows.csv', 'state') } });

  it('keeps no keys from being issued: their references hold without it', async () => {
    await using shop = await bulkShop();
    shop.write('rows.csv', 'maxActivations\n1\n2\n');
    const argv = ['keys', 'create', '-f', 'rows.csv', '--json'];
    const first = await shop.at(argv, unwritable(shop));
    expect(first.code).toBe(0);
    expect((await shop.at(argv, unwritable(shop))).stdout).toBe(first.stdout);
    expect(await shop.keys()).toHaveLength(2);
  });

  it('keeps keys from being renewed: a later repeat would renew them again', async () => {
    await using shop = await bulkShop();
    const key = (await shop.at(['keys', 'create'])).stdout.trim();
    shop.write('rows.csv', `key\n${key}\n`);
    shop.sent.length = 0;
    const { code, stderr } = await shop.at(['keys', 'renew', '-f', 'rows.csv', '--for', '1y'], unwritable(shop));
    expect({ code, stderr: stderr.replaceAll(shop.cwd, ''), sent: shop.sent }).toEqual({
      code: 13,
      stderr: expect.stringMatching(
        /^error: cannot write to \/rows.csv\/state\/runs\/\w+\.json \(ENOTDIR\)\n {2}Nothing was sent\./,
      ),
      sent: [],
    });
  });
});

describe('a run that was interrupted', () => {
  it('goes on with the rows that are open', async () => {
    await using shop = await bulkShop();
    const argv = ['keys', 'create', '--count', '10', '--concurrency', '1', '--json'];
    shop.meddle((_, number) => (number > 4 ? unauthorized() : null));
    const stopped = await shop.at(argv);
    expect({ code: stopped.code, stdout: stopped.stdout }).toEqual({ code: 4, stdout: '' });
    expect(stopped.stderr).toMatch(/^warning: stopped: issued 4 of 10 keys\nwarning: the same command goes on\n/);
    expect(stopped.stderr).not.toContain('--idempotency-key');
    shop.meddle(() => null);
    const rest = await shop.at(argv);
    expect(rest.code).toBe(0);
    expect(JSON.parse(rest.stdout)).toHaveLength(10);
    expect(await shop.keys()).toHaveLength(10);
  });

  it.each<[string, (request: number) => boolean]>([
    ['', (number) => number % 5 === 0],
    [', also where it serves one request in ten', (number) => number % 10 > 0],
  ])('waits where the service asks to, all rows together, and loses none%s', async (_title, isRefused) => {
    await using shop = await bulkShop();
    shop.meddle((_, number) =>
      isRefused(number)
        ? Response.json({ message: 'Rate limit exceeded', code: 3 }, { status: 429, headers: { 'retry-after': '2' } })
        : null,
    );
    const { code, stdout } = await shop.at(['keys', 'create', '--count', '40', '-q']);
    expect({ code, lines: new Set(stdout.trim().split('\n')).size }).toEqual({ code: 0, lines: 40 });
    expect(await shop.keys()).toHaveLength(40);
  });
});
