import { describe, expect, it } from 'vitest';
import { type DateFormat, formatsOf, isoDate } from '../../../src/cli/values/date-format.ts';
import { bulkShop } from './bulk-shop.ts';

/** Keys as another system exports them, in a spreadsheet of a country that writes `;` between cells. */
const foreign = [
  '\ufeffLicense Key;Product;Seats;Expires;Customer;E-Mail;Created;Notes;Machines',
  'ACME-0001-AAAA-BBBB-CCCC-0001;Engine Pro;3;31.12.2027;"Müller; Söhne";info@mueller.example;01.02.2024;"one\r\n""two""";pc-1,pc-2',
  'ACME-0002-AAAA-BBBB-CCCC-0002;engine pro;;30.6.2027 14:30;Ada Ltd;it@ada.example;5.3.2024;;',
  'ACME-0003-AAAA-BBBB-CCCC-0003;Viewer;;never;;;;;',
  '',
].join('\r\n');

const mapped = ['--map', 'Customer=customerName', '--map', 'Notes=metadata.notes'];

describe('a file of another system', () => {
  it('is told all its problems at once, and how its dates are read', async () => {
    await using shop = await bulkShop();
    shop.write('old.csv', foreign.replace(';3;', ';three;'));
    const { code, stderr } = await shop.at(['keys', 'import', '-f', 'old.csv', '-n', ...mapped]);
    expect([code, ...stderr.trimEnd().split('\n')]).toEqual([
      2,
      'error: old.csv has 6 problems; nothing was sent',
      '  dates such as 31.12.2027 are read with --date-format dmy',
      "  line 2: Seats: 'three' is neither a whole number from 1 to 999999999 nor 'unlimited'",
      expect.stringMatching(/^ {2}line 2: Expires: '31\.12\.2027' is not a day/),
      expect.stringMatching(/^ {2}line 2: Created: '01\.02\.2024' is not a day/),
      expect.stringMatching(/^ {2}line 4: Expires: '30\.6\.2027 14:30' is not a day/),
      expect.stringMatching(/^ {2}line 4: Created: '5\.3\.2024' is not a day/),
      "  line 5: no product is called 'Viewer'; --create-products makes it",
    ]);
  });

  it('is told what to write for no date, and ends with the day where midnight is written', async () => {
    await using shop = await bulkShop();
    const rows = (end: string) => `key,expires\nACME-0001-AAAA-BBBB-CCCC-0001,${end}\n`;
    for (const none of ['0000-00-00', '0000-00-00T00:00:00Z', '00/00/0000', 'NULL', '\\N', 'N/A', '-', 'Lifetime']) {
      shop.write('zero.csv', rows(none));
      const { code, stderr } = await shop.at(['keys', 'import', '-f', 'zero.csv', '-n']);
      expect([code, stderr]).toEqual([2, expect.stringContaining(`or nothing, or say --no-date '${none}'`)]);
    }
    shop.write('day.csv', rows('2027-01-24 00:00:00'));
    const { first } = await shop.json('keys', 'import', '-f', 'day.csv', '-n');
    expect(first.expirationDate).toBe('2027-01-24T23:59:59.000Z');
  });

  it('is told which dates may stand for none, how many keys have expired, and that times without a zone are of UTC', async () => {
    await using shop = await bulkShop();
    const ends = ['0001-01-01', '0001-01-01', '1970-01-01 00:00:00', '2020-05-05', '2027-01-24 10:00', 'never'];
    const row = (end: string, at: number) => `ACME-0001-AAAA-BBBB-CCCC-000${at},${end}`;
    shop.write('ends.csv', `key,expires\n${ends.map(row).join('\n')}\n`);
    const argv = ['keys', 'import', '-f', 'ends.csv'];
    expect((await shop.at([...argv, '-n'])).stderr.split('\n')).toEqual([
      "warning: 2 rows with 0001-01-01 as the expiry: if that means no date, --no-date '0001-01-01' takes it as never",
      "warning: 1 row with 1970-01-01 00:00:00 as the expiry: if that means no date, --no-date '1970-01-01 00:00:00' takes it as never",
      'warning: 4 keys have expired already',
      'warning: times without a zone, such as 2027-01-24 10:00, are read as UTC',
      'nothing was sent',
      '',
    ]);
    const none = ['--no-date', '0001-01-01', '--no-date', '1970-01-01 00:00:00'];
    expect((await shop.at([...argv, ...none, '-y'])).stderr).toMatch(/^warning: 1 key has expired already\n/);
    const { license } = await shop.json('keys', 'get', 'ACME-0001-AAAA-BBBB-CCCC-0000', '-P', shop.product);
    expect(license.expirationDate).toBeNull();
  });

  it.each([
    ['2030-01-01', "createdAt: '2030-01-01' is in the future"],
    ['1969-12-31', "createdAt: '1969-12-31' is before 1970"],
  ])('is refused before anything is sent where a key was made on %s', async (createdAt, message) => {
    await using shop = await bulkShop();
    shop.write('made.csv', `key,createdAt\nACME-0001-AAAA-BBBB-CCCC-0001,${createdAt}\n`);
    for (const how of ['-n', '-y']) {
      const { code, stderr } = await shop.at(['keys', 'import', '-f', 'made.csv', how]);
      expect([code, stderr]).toEqual([2, expect.stringContaining(`line 2: ${message}`)]);
    }
  });

  it('is done but for the rows that cannot be sent, with --skip-invalid alone', async () => {
    await using shop = await bulkShop();
    shop.write(
      'c.csv',
      'name,email\nAda,ada@x.example\nBob,bob at x\n,\nZoë,zoe@x.example,more\nEve,ada@x.example\nMax,max@x.example\n',
    );
    const argv = ['customers', 'create', '-f', 'c.csv'];
    expect((await shop.at(argv)).code).toBe(2);
    for (const _ of ['first', 'again']) {
      const { code, stdout, stderr } = await shop.at([...argv, '--skip-invalid', '--fields', 'line,name']);
      expect([code, stdout]).toEqual([12, '2\tAda\n7\tMax\n']);
      expect(stderr).toMatch(
        /^warning: left out line 3: email is not .*\nwarning: left out line 5: has 3 cells.*\nwarning: left out line 6: email: the same as in line 2\n/,
      );
    }
    expect((await shop.json('customers', 'list')).map(({ name }: { name: string }) => name).sort()).toEqual([
      'Ada',
      'Max',
    ]);
    shop.write('d.csv', 'name,email\nBob,bob at x\n');
    expect(await shop.at(['customers', 'create', '-f', 'd.csv', '--skip-invalid'])).toMatchObject({
      code: 2,
      stdout: '',
    });
  });

  it('leaves out no valid row for a row that is left out itself, and says nothing of the dates of those', async () => {
    await using shop = await bulkShop();
    const [A, B, C] = ['A', 'B', 'C'].map((end) => `ACME-0001-AAAA-BBBB-000${end}`);
    const rows = [
      `${A},three,r-1,2020-01-01`,
      `${A},3,r-1,never`,
      `${A},3,r-2,never`,
      `${B},3,r-2,never`,
      `${C},3,r-3,1970-01-01 10:00`,
    ];
    shop.write('k.csv', `key,maxActivations,reference,expires\n${rows.join('\n')}\n`);
    const argv = ['keys', 'import', '-f', 'k.csv', '--skip-invalid'];
    const planned = await shop.at([...argv, '-n']);
    expect(planned).toMatchObject({ code: 12, stdout: expect.stringContaining('3 rows, 2 more left out: each') });
    expect(planned.stderr).toMatch(/left out line 2: maxActivations.*left out line 4: key: the same as in line 3\n/s);
    expect(planned.stderr).toContain('warning: 1 key has expired already\n');
    expect(planned.stderr).not.toContain('--no-date');
    expect((await shop.at([...argv, '-y'])).stderr).toContain('imported 3 of 3 keys');
  });

  it('is one run with and without --skip-invalid, where no row is invalid', async () => {
    await using shop = await bulkShop();
    shop.write('o.csv', 'maxActivations\n1\n2\n');
    const argv = ['keys', 'create', '-f', 'o.csv', '--expires', 'never'];
    const first = await shop.at(argv);
    expect(await shop.at([...argv, '--skip-invalid'])).toMatchObject({ code: 0, stdout: first.stdout });
    expect(await shop.keys()).toHaveLength(2);
  });

  it('moves in with its products, customers, notes and devices', async () => {
    await using shop = await bulkShop();
    shop.write('old.csv', foreign);
    const argv = ['keys', 'import', '-f', 'old.csv', '--date-format', 'dmy', '--create-products', ...mapped];
    const planned = await shop.json(...argv, '-n');
    expect(planned.needed).toMatchObject([
      { kind: 'product', name: 'engine pro', status: 'exists', id: shop.product },
      { kind: 'product', name: 'viewer', status: 'new' },
    ]);
    expect((await shop.at([...argv, '-y'])).stderr).toMatch(/^imported 3 of 3 keys/m);
    const products: { id: string; name: string }[] = await shop.json('products', 'list');
    expect(products.map(({ name }) => name).sort()).toEqual(['Engine Pro', 'Viewer']);
    const get = (key: string) => shop.json('keys', 'get', key, '-P', shop.product);
    expect(await get('ACME-0001-AAAA-BBBB-CCCC-0001')).toMatchObject({
      license: {
        ...{ maxActivations: 3, expirationDate: '2027-12-31T23:59:59.000Z', createdAt: '2024-02-01T00:00:00.000Z' },
        metadata: { notes: 'one\r\n"two"' },
        devices: expect.arrayContaining([
          expect.objectContaining({ hostId: 'pc-1' }),
          expect.objectContaining({ hostId: 'pc-2' }),
        ]),
      },
      customer: { name: 'Müller; Söhne', email: 'info@mueller.example' },
    });
    const { license } = await get('ACME-0002-AAAA-BBBB-CCCC-0002');
    expect(license).toMatchObject({
      expirationDate: '2027-06-30T14:30:00.000Z',
      createdAt: '2024-03-05T00:00:00.000Z',
    });
  });

  it('is asked for an id where several products have the name', async () => {
    await using shop = await bulkShop();
    await shop.at(['products', 'create', '--name', 'Engine Pro', '--allow-same-name']);
    shop.write('old.csv', 'key,product\nACME-0001-AAAA-BBBB-CCCC-0001,Engine Pro\n');
    const { code, stderr } = await shop.at(['keys', 'import', '-f', 'old.csv', '-y']);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^error: several products are called 'engine pro': give the id of one\n {2}prod_/),
    ]);
  });
});

describe('a date as people write it', () => {
  it.each<[DateFormat, string, string | null]>([
    ['dmy', '31.12.2027', '2027-12-31'],
    ['dmy', ' 1-2-2027 ', '2027-02-01'],
    ['mdy', '12/31/2027', '2027-12-31'],
    ['ymd', '2027/12/31 9:05', '2027-12-31T09:05:00Z'],
    ['ymd', '2027-12-31T09:05:07', '2027-12-31T09:05:07Z'],
    ['ymd', '2026-11-03 09:14:55 -0500', '2026-11-03T14:14:55Z'],
    ['ymd', '2026-11-03T09:14:55.1234-05:00', '2026-11-03T14:14:55.123Z'],
    ['dmy', '3.11.2026 09:14 UTC', '2026-11-03T09:14:00Z'],
    ['ymd', '2026-11-03 09:14:55+00', '2026-11-03T09:14:55Z'],
    ['ymd', '2026-11-03 09:14:55 GMT+0530', '2026-11-03T03:44:55Z'],
    ['mdy', '1/24/2027 2:15:07 PM', '2027-01-24T14:15:07Z'],
    ['mdy', '1/24/2027, 12:05\u202fAM', '2027-01-24T00:05:00Z'],
    ['dmy', '24/1/2027 2:15PM', '2027-01-24T14:15:00Z'],
    ['ymd', '2027-01-24 00:00:00', '2027-01-24'],
    ['ymd', '2027-01-24 00:00:00Z', '2027-01-24T00:00:00Z'],
    ['epoch', '1796000000', '2026-11-30T00:53:20Z'],
    ['epoch', '1796000000123', '2026-11-30T00:53:20.123Z'],
    ['epoch', '1796000000.5', '2026-11-30T00:53:20.500Z'],
    ['epoch', '31.12.2027', null],
    ['mdy', '1/24/2027 13:05 PM', null],
    ['ymd', '2027-01-24 25:00', null],
    ['ymd', '2027-01-24 10:60', null],
    ['ymd', '2027-01-24 10:00 +1500', null],
    ['mdy', '31.12.2027', null],
    ['dmy', '29.02.2027', null],
    ['dmy', '31.12.27', null],
    ['dmy', '2027-12-31', null],
    ['ymd', '2027-12-31 later', null],
  ])('as %s: %j', (format, text, date) => expect(isoDate(text, format)).toBe(date));

  it.each([
    [['31.12.2027', '01.02.2027'], ['dmy']],
    [['01/02/2027'], ['dmy', 'mdy']],
    [['31.12.2027', '12.31.2027'], []],
    [['1796000000', '1796000001'], ['epoch']],
    [['20271231'], []],
    [[], []],
  ])('%j may be %j', (texts, formats) => expect(formatsOf(texts)).toEqual(formats));
});
