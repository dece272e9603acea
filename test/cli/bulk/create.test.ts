import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openState } from '../../../src/cli/state/state.ts';
import { fakeIo, NOW } from '../fake-io.ts';
import { bulkShop, unauthorized } from './bulk-shop.ts';

const KEY = /^[0-9A-Z]{5}(-[0-9A-Z]{5}){4}$/;

describe('lkm keys create --count', () => {
  it('issues so many keys, and prints the same ones when it is run again, without sending anything', async () => {
    await using shop = await bulkShop();
    const argv = ['keys', 'create', '--count', '7', '--max-activations', '2', '--json'];
    const first = await shop.at(argv);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    const rows = JSON.parse(first.stdout);
    expect(rows.map(({ row, status }: { row: number; status: string }) => [row, status])).toEqual(
      [1, 2, 3, 4, 5, 6, 7].map((row) => [row, 'created']),
    );
    for (const { key } of rows) expect(key).toMatch(KEY);
    expect(new Set(rows.map(({ key }: { key: string }) => key)).size).toBe(7);
    expect(shop.sent).toHaveLength(7);
    expect(new Set(shop.sent.map(({ key }) => key)).size).toBe(7);
    expect(await shop.at(argv)).toEqual(first);
    expect(shop.sent).toHaveLength(7);
    expect((await shop.keys()).every(({ maxActivations }: { maxActivations: number }) => maxActivations === 2)).toBe(
      true,
    );
  });

  it('says that nothing was sent, and how to do it all once more', async () => {
    await using shop = await bulkShop();
    const first = await shop.at(['keys', 'create', '--count', '2', '-v']);
    expect(first.stderr.match(/^POST \/create-key {2}200 {2}\d+ ms {2}attempt 1$/gm)).toHaveLength(2);
    const again = await shop.at(['keys', 'create', '--count', '2']);
    expect(again.stderr).toMatch(
      /^these are the results of the run of 12:00 UTC; nothing was sent now\nto do it all once more, give it a name: --run NAME\ncreated 2 of 2 keys · run \w{12}\n$/,
    );
    await shop.at(['keys', 'create', '--count', '2', '--run', 'second']);
    expect(await shop.keys()).toHaveLength(4);
  });

  it('issues no second time when the journal is lost: the keys of the rows come from the run alone', async () => {
    await using shop = await bulkShop();
    const argv = ['keys', 'create', '--count', '5', '-q'];
    const first = await shop.at(argv);
    const elsewhere = await shop.at(argv, { env: { LKM_STATE_DIR: join(shop.cwd, 'other-machine') } });
    expect(elsewhere.stdout).toBe(first.stdout);
    expect(shop.sent).toHaveLength(10);
    expect(await shop.keys()).toHaveLength(5);
  });

  it('is another run with other options, another product, another number, at another address', async () => {
    await using shop = await bulkShop();
    const other = (await shop.json('products', 'create', '--name', 'Other')).id;
    for (const more of [[], ['--max-activations', '3'], ['-P', other], ['--count', '2'], ['--trial']]) {
      expect((await shop.at(['keys', 'create', '--count', '1', ...more])).code).toBe(0);
    }
    await shop.at(['keys', 'create', '--count', '1'], { env: { LKM_BASE_URL: 'https://replica.example.com' } });
    expect(await shop.keys()).toHaveLength(6);
    expect(await shop.json('keys', 'list', '-P', other)).toHaveLength(1);
  });

  it.each([
    [['--count', '0'], "--count: '0' is not a whole number from 1 to 999999999"],
    [['--count', '2', '-f', 'x.csv'], '--count and -f name two lists of rows; give one of them'],
    [['--count', '2', '--reference', 'r'], '--reference names one key: give each row its own, in a column'],
    [['--count', '2', '--idempotency-key', 'k'], 'one idempotency key stands for one request'],
    [['--count', '2', '--max-sessions', '3'], 'the options do not go together'],
    [['--count', '2', '--run', 'a b'], '--run: a name has 1 to 64 letters, digits and . : @ _ -'],
    [['--count', '2', '--concurrency', '1000'], "--concurrency: '1000' is not a whole number from 1 to 256"],
    [['--count', '2', '--if-absent'], '--if-absent needs a file with references'],
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
    const made = { status: 'created', key: expect.stringMatching(KEY), idempotencyKey: expect.any(String) };
    expect(rows).toEqual([
      { row: 1, line: 2, reference: 'o-1', ...made },
      { row: 2, line: 4, reference: 'o-2', ...made },
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
    expect((await shop.at(['jobs', 'list', '-q'])).stdout).toBe('');
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
    ['a header alone', 'reference\n', 'it has no rows below its header'],
    ['another encoding', Buffer.from('reference\ncaf\xe9\n', 'latin1'), 'rows.csv is not UTF-8 text'],
  ])('refuses %s', async (_, text, message) => {
    await using shop = await bulkShop();
    shop.write('rows.csv', text);
    const { code, stderr } = await shop.at(['keys', 'create', '-f', 'rows.csv']);
    expect({ code, sent: shop.sent }).toEqual({ code: 2, sent: [] });
    expect(stderr).toContain(message);
  });

  it('goes on when a row is refused, ends with 12, and says what to do', async () => {
    await using shop = await bulkShop();
    await shop.at(['keys', 'create', '--reference', 'o-2']);
    shop.write('rows.csv', 'reference,metadata.plan\no-1,a\no-2,b\no-3,c\n');
    const { code, stdout, stderr } = await shop.at(['keys', 'create', '-f', 'rows.csv', '--format', 'csv']);
    expect(code).toBe(12);
    expect(stdout.split('\n').map((line) => line.replace(/[0-9A-Z]{5}(-[0-9A-Z]{5}){4}/, 'KEY'))).toEqual([
      'row,status,reference,key,error',
      '1,created,o-1,KEY,',
      '2,failed,o-2,,A key with reference o-2 already exists',
      '3,created,o-3,KEY,',
      '',
    ]);
    const [{ id }] = await shop.json('jobs', 'list');
    expect(stderr).toBe(
      [
        `warning: created 2 of 3 keys · 1 failed · run ${id}`,
        `send the failed rows again: lkm jobs retry ${id}`,
        `put them into a file to mend: lkm jobs show ${id} --failed --format csv`,
        'rows without an expiry: the service sets one month, to 2026-12-21 12:00 UTC',
        '',
      ].join('\n'),
    );
    const failed = await shop.at(['jobs', 'show', id, '--failed', '--format', 'csv']);
    expect(failed.stdout).toBe(`productId,reference,metadata\n${shop.product},o-2,"{""plan"":""b""}"\n`);
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
    expect(await create(mixed)).not.toContain(note);
    expect(await create('reference,expires\no-4,2027-01-31\no-5,never\n')).not.toContain(note);
    expect(await create('reference\no-6\n', '--expires-after', 'P1Y')).not.toContain(note);
  });

  it('with --if-absent gives the key that a reference has', async () => {
    await using shop = await bulkShop();
    const taken = (await shop.at(['keys', 'create', '--reference', 'o-2'])).stdout.trim();
    shop.write('rows.csv', 'reference\no-1\no-2\n');
    const rows = await shop.json('keys', 'create', '-f', 'rows.csv', '--if-absent');
    expect(rows[1]).toMatchObject({ row: 2, status: 'exists', key: taken });
  });

  it('refuses other rows under the name of a run', async () => {
    await using shop = await bulkShop();
    shop.write('rows.csv', 'reference\no-1\n');
    await shop.at(['keys', 'create', '-f', 'rows.csv', '--run', 'may']);
    shop.write('rows.csv', 'reference\no-1\no-2\n');
    const { code, stderr } = await shop.at(['keys', 'create', '-f', 'rows.csv', '--run', 'may']);
    expect(code).toBe(2);
    expect(stderr).toContain('the run may of 2026-11-21 12:00 UTC was another one: 1 row of rows.csv');
    expect(await shop.keys()).toHaveLength(1);
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
    expect(shop.sent).toHaveLength(3);
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
    expect((await shop.at(['jobs', 'list', '-q'])).stdout).toBe('');
    expect((await shop.at(['keys', 'create', '-o', 'keys.csv'])).code).toBe(13);
  });
});

describe('a run that cannot be written down', () => {
  it.each([
    ['--count', '2'],
    ['-f', 'orders.csv'],
  ])('is not begun: %s', async (...how) => {
    await using shop = await bulkShop();
    shop.write('orders.csv', 'reference\n1\n2\n');
    const env = { LKM_STATE_DIR: join(shop.cwd, 'orders.csv', 'state') };
    const { code, stderr } = await shop.at(['keys', 'create', ...how], { env });
    expect({ code, stderr: stderr.replace(shop.cwd, ''), sent: shop.sent }).toEqual({
      code: 13,
      stderr:
        'error: cannot write to /orders.csv/state/state.db (ENOTDIR)\n' +
        '  Nothing was sent. A change is written down before it is sent: set LKM_STATE_DIR to a folder that can be written to.\n',
      sent: [],
    });
  });

  it('says how to go on when the disk is full in the middle', async () => {
    await using shop = await bulkShop();
    await shop.at(['keys', 'create', '--count', '1']);
    const state = openState(fakeIo({ cwd: shop.cwd }).io);
    state.all('PRAGMA max_page_count = 1');
    const fill = () => state.transaction(() => state.run('CREATE TABLE more (body TEXT)'));
    expect(fill).toThrow(
      expect.objectContaining({
        name: 'LocalError',
        message: expect.stringMatching(/state\.db \(database or disk is full\)$/),
        hints: ['What was answered is not lost; before the same command goes on, make room there.'],
      }),
    );
    state.close();
  });
});

describe('a run that was interrupted', () => {
  const later = (hours: number) => ({ now: NOW + hours * 3_600_000 });

  it('goes on with the rows that are open', async () => {
    await using shop = await bulkShop();
    const argv = ['keys', 'create', '--count', '10', '--concurrency', '1', '--json'];
    shop.meddle((_, number) => (number > 4 ? unauthorized() : null));
    const stopped = await shop.at(argv);
    expect({ code: stopped.code, stdout: stopped.stdout }).toEqual({ code: 4, stdout: '' });
    expect(stopped.stderr).toMatch(
      /^warning: stopped: created 4 of 10 keys\nwarning: the same command goes on, or: lkm jobs resume \w{12}\n/,
    );
    expect(stopped.stderr).not.toContain('--idempotency-key');
    shop.meddle(() => null);
    const rest = await shop.at(argv);
    expect(rest.code).toBe(0);
    expect(JSON.parse(rest.stdout)).toHaveLength(10);
    expect(await shop.keys()).toHaveLength(10);
    expect(shop.sent).toHaveLength(4 + 1 + 6);
  });

  it.each([
    [24, 2],
    [-3, 1],
  ])(
    'does not repeat a row that the service may have forgotten, %i hours later: it is unknown',
    async (hours, sent) => {
      await using shop = await bulkShop();
      const argv = ['keys', 'create', '--count', '1', '--max-retries', '0', '--json'];
      shop.meddle(async (request) => {
        await shop.through(request);
        throw new TypeError('fetch failed');
      });
      await shop.at(argv);
      // What was sent first is what the service may have forgotten.
      await shop.at(argv, later(hours / 2));
      shop.meddle(() => null);
      const late = await shop.at(argv, later(hours));
      expect({ code: late.code, sent: shop.sent.length }).toEqual({ code: 12, sent });
      const [row] = JSON.parse(late.stdout);
      expect(row).toMatchObject({ status: 'unknown', error: { code: 'no_answer' } });
      const [{ id }] = await shop.json('jobs', 'list');
      expect((await shop.at(['jobs', 'retry', id], later(hours))).code).toBe(12);
      expect(shop.sent).toHaveLength(sent);
      expect((await shop.at(['jobs', 'retry', id, '--unknown'], later(hours))).code).toBe(0);
      expect(await shop.keys()).toHaveLength(2);
    },
  );

  it('issues no key again where the state is damaged: it says so, and what to do', async () => {
    await using shop = await bulkShop();
    const argv = ['keys', 'create', '--count', '2'];
    await shop.at(argv);
    const path = join(shop.cwd, '.local/state/lkm/state.db');
    const whole = readFileSync(path);
    for (const damaged of [
      Buffer.from('rubbish '.repeat(600)),
      Buffer.concat([whole.subarray(0, 4_096), Buffer.alloc(whole.length - 4_096, 7)]),
    ]) {
      writeFileSync(path, damaged);
      const { code, stderr } = await shop.at(argv);
      expect({ code, sent: shop.sent.length }).toEqual({ code: 13, sent: 2 });
      expect(stderr).toContain(`error: ${path} is damaged\n`);
      expect(stderr).toContain(`mv ${path} ${path}.damaged\n`);
    }
  });

  it('is left alone while the process that works on it runs', async () => {
    await using shop = await bulkShop();
    const argv = ['keys', 'create', '--count', '2'];
    const held = Promise.withResolvers<null>();
    const begun = Promise.withResolvers<void>();
    shop.meddle(() => {
      begun.resolve();
      return held.promise;
    });
    const first = shop.at(argv);
    await begun.promise;
    const { code, stderr } = await shop.at(argv);
    expect(code).toBe(13);
    expect(stderr).toMatch(/^error: run \w{12} is being worked on by another process\n/);
    held.resolve(null);
    expect((await first).code).toBe(0);
    expect((await shop.at(argv)).code).toBe(0);
    expect(shop.sent).toHaveLength(2);
  });

  it('waits where the service asks to, all rows together, and loses none', async () => {
    await using shop = await bulkShop();
    shop.meddle((_, number) =>
      number % 5 === 0
        ? Response.json({ message: 'Rate limit exceeded', code: 3 }, { status: 429, headers: { 'retry-after': '2' } })
        : null,
    );
    const { code, stdout } = await shop.at(['keys', 'create', '--count', '40', '-q']);
    expect({ code, lines: new Set(stdout.trim().split('\n')).size }).toEqual({ code: 0, lines: 40 });
    expect(await shop.keys()).toHaveLength(40);
  });
});
