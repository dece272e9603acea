import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readFile } from '../../../src/cli/bulk/reading/read-file.ts';
import { fakeIo } from '../fake-io.ts';
import { bulkShop } from './bulk-shop.ts';

/** What is read from stdin, which comes in parts of so many bytes. */
async function read(bytes: Buffer, size: number) {
  const { io } = fakeIo();
  const chunks = async function* () {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  };
  const rows: unknown[] = [];
  const source = readFile('-', {}, (line, text) => rows.push({ line, text }), {
    ...io,
    stdin: { ...io.stdin, chunks },
  });
  for await (const { line, cells } of source.rows) rows.push({ line, ...Object.fromEntries(cells) });
  return { rows, digest: source.digest() };
}

describe('a file that comes in parts', () => {
  const nested = '[ {"reference":"a,]}\\"é","metadata":{"list":[1,{"b":"]"}]}},\n{"reference":"\\\\"} , {"n":[]}]\n';
  const csv = '\ufeffreference,name\r\n"o,\n1",日本\r\n\r\no-2,"é ""x"""\r\n';

  it.each([
    [
      'a JSON array',
      nested,
      [
        { line: 1, reference: 'a,]}"é', metadata: { list: [1, { b: ']' }] } },
        { line: 2, reference: '\\' },
        { line: 3, n: [] },
      ],
    ],
    ['an empty array', '[ ]', []],
    [
      'JSON lines',
      '{"reference":"é"}\n\n{"n":1}\nx\n7',
      [
        { line: 1, reference: 'é' },
        { line: 3, n: 1 },
        { line: 4, text: 'is not JSON' },
        { line: 5, text: 'is not an object' },
      ],
    ],
    [
      'CSV',
      csv,
      [
        { line: 2, reference: 'o,\n1', name: '日本' },
        { line: 5, reference: 'o-2', name: 'é "x"' },
      ],
    ],
    [
      'CSV with line breaks of two characters in its cells',
      'reference,name\r\n"o\r\n1","a\r\nb"\r\no-2,c\r\n',
      [
        { line: 2, reference: 'o\r\n1', name: 'a\r\nb' },
        { line: 5, reference: 'o-2', name: 'c' },
      ],
    ],
  ])('is read as it is whole: %s', async (_, text, expected) => {
    const bytes = Buffer.from(text);
    for (const size of [1, 2, 3, 7, 10_000]) {
      const { rows, digest } = await read(bytes, size);
      expect(rows).toEqual(expected);
      expect(digest).toBe(createHash('sha256').update(bytes).digest('hex'));
    }
  });

  it.each([
    ['a JSON array', (row: string) => `[${row}]`],
    ['JSON lines', (row: string) => row],
    ['a page', (row: string) => `{"data":\n[${row}]}`],
  ])('keeps all digits of a long number: %s', async (_, around) => {
    const text = around('{"reference":1234567890123456789,"n":[-9007199254740993,9007199254740991,1.10,1e2]}');
    const n = ['-9007199254740993', Number.MAX_SAFE_INTEGER, 1.1, 100];
    for (const size of [1, 10_000]) {
      expect((await read(Buffer.from(text), size)).rows).toEqual([{ line: 1, reference: '1234567890123456789', n }]);
    }
  });

  it.each(['[1}', '[{}', '[{},]', '[,{}]', '[{}] x', '[{} {}]', '[{}]]'])('%s is no JSON array', async (text) => {
    for (const size of [1, 10_000]) {
      const { rows } = await read(Buffer.from(text), size);
      expect(rows.at(-1)).toEqual({ line: null, text: 'it is not a JSON array' });
    }
  });

  it.each([1, 10_000])('is refused when it is no UTF-8, in parts of %i', async (size) => {
    await expect(read(Buffer.from('reference\nca\xb3\xe9\n', 'latin1'), size)).rejects.toThrow(
      'stdin is not UTF-8 text',
    );
    await expect(read(Buffer.from('caf\xc3', 'latin1'), size)).rejects.toThrow('stdin is not UTF-8 text');
  });
});

it.each(['[ {"reference":"A-1"}]', '{"reference":"A-1"}\n', '{"data":\n[{"reference":"A-1"}]}'])(
  'is read as JSON also when it was saved with the name of a text: %j',
  async (text) => {
    await using shop = await bulkShop();
    shop.write('orders.txt', text);
    expect((await shop.at(['keys', 'create', '-f', 'orders.txt', '--dry-run'])).stdout).toContain('"reference": "A-1"');
  },
);

it('keeps all digits of a long number in a cell of JSON', async () => {
  await using shop = await bulkShop();
  shop.write('orders.csv', 'reference,metadata\nA-1,"{""order"":1234567890123456789}"\n');
  const { code, stdout } = await shop.at(['keys', 'create', '-f', 'orders.csv', '--dry-run']);
  expect({ code, stdout }).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"order": "1234567890123456789"'),
  });
});

describe('a value that only one row may have', () => {
  it('is compared as it is sent: a key in lower case is the same key', async () => {
    await using shop = await bulkShop();
    const { key } = await shop.json('keys', 'create', '--expires', '2026-12-31');
    shop.write('keys.csv', `Licence,key\nx,${key}\n\ny,${key.toLowerCase()}\n`);
    shop.sent.length = 0;
    const { code, stderr } = await shop.at(['keys', 'renew', '-f', 'keys.csv', '--for', '1y', '--map', 'Licence=']);
    expect({ code, sent: shop.sent }).toEqual({ code: 2, sent: [] });
    expect(stderr).toBe('error: keys.csv has 1 problem; nothing was sent\n  line 4: key: the same as in line 2\n');
  });

  it('is compared without regard to case where the service does so: an e-mail address', async () => {
    await using shop = await bulkShop();
    shop.write('customers.csv', 'name,Mail\nAda,ada@a.example\nEve,\nIda,\nBob,Ada@A.example\n');
    const { code, stderr } = await shop.at(['customers', 'create', '-f', 'customers.csv']);
    expect({ code, sent: shop.sent }).toEqual({ code: 2, sent: [] });
    expect(stderr).toContain('\n  line 5: Mail: the same as in line 2\n');
  });

  it('keeps its case otherwise: a reference', async () => {
    await using shop = await bulkShop();
    shop.write('orders.csv', 'reference\nA-1\na-1\n');
    expect((await shop.at(['keys', 'create', '-f', 'orders.csv'])).code).toBe(0);
  });
});

describe('a column that is there more than once', () => {
  it('is refused: which of its values is meant is not known', async () => {
    await using shop = await bulkShop();
    shop.write('customers.csv', 'name,email,email\nAda,old@a.example,new@a.example\nBob,b@b.example,\n');
    const { code, stderr } = await shop.at(['customers', 'create', '-f', 'customers.csv']);
    expect({ code, sent: shop.sent }).toEqual({ code: 2, sent: [] });
    expect(stderr).toBe(
      "error: customers.csv has 1 problem; nothing was sent\n  column 'email' is there more than once\n",
    );
  });

  it('may be left out', async () => {
    await using shop = await bulkShop();
    shop.write('customers.csv', 'name,Note,Note\nAda,x,y\n');
    const argv = ['customers', 'create', '-f', 'customers.csv', '--map', 'Note='];
    expect((await shop.at(argv)).code).toBe(0);
  });
});

describe('a file with more problems than anybody reads', () => {
  it('names ten rows of a kind, whatever is looked up in vain or left out', async () => {
    await using shop = await bulkShop();
    const rows = Array.from({ length: 30 }, (_, at) => `Customer ${'x'.repeat(at + 1)},5\n`).join('');
    shop.write('named.csv', `customerId,maxActivations\n${rows}`);
    const unknown = (await shop.at(['keys', 'create', '-f', 'named.csv'])).stderr.trimEnd().split('\n');
    expect([unknown.length, unknown.at(-1)]).toEqual([12, '  and 20 more of that kind']);
    shop.write('numbers.csv', `name,email\nAda,it@ada.example\n${'Bob,nobody\n'.repeat(30)}`);
    const left = await shop.at(['customers', 'create', '-f', 'numbers.csv', '--skip-invalid', '-o', 'out.csv']);
    expect(left.stderr.split('\n').filter((line) => line.startsWith('warning: left out line'))).toHaveLength(10);
    expect(left.stderr).toContain('left out 20 more rows of that kind\n');
  });

  it('is counted to its end; ten problems of a kind are shown, below what helps', async () => {
    await using shop = await bulkShop();
    const rows = Array.from({ length: 1_500 }, (_, at) => `o-${at},x${at},31.12.2027\n`);
    shop.write('bad.csv', `reference,maxActivations,expires\n${rows.join('')}`);
    for (const more of [[], ['-n']]) {
      const { stderr } = await shop.at(['keys', 'create', '-f', 'bad.csv', ...more]);
      const lines = stderr.trimEnd().split('\n');
      expect(lines.slice(0, 3)).toEqual([
        'error: bad.csv has 3000 problems; nothing was sent',
        '  dates such as 31.12.2027 are read with --date-format dmy',
        expect.stringMatching(/^ {2}line 2: maxActivations: 'x0' /),
      ]);
      expect(lines.slice(-4)).toEqual([
        expect.stringMatching(/^ {2}line 11: maxActivations: 'x9' /),
        '  and 1490 more of that kind',
        expect.stringMatching(/^ {2}line 11: expires: '31.12.2027' /),
        '  and 1490 more of that kind',
      ]);
      expect(lines).toHaveLength(24);
    }
  });
});
