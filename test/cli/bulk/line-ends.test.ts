import { describe, expect, it } from 'vitest';
import { readFile, type Writing } from '../../../src/cli/bulk/reading/read-file.ts';
import { fakeIo, lkm, tempFolder } from '../fake-io.ts';
import { bulkShop } from './bulk-shop.ts';

/** The rows of a file, with what is wrong with its form. */
async function rowsOf(bytes: Buffer | string, writing: Writing = {}) {
  const { io } = fakeIo({ stdin: bytes });
  const rows: unknown[] = [];
  const source = readFile('-', writing, (line, text) => rows.push([line, text]), io);
  for await (const { line, cells } of source.rows) rows.push([line, Object.fromEntries(cells)]);
  return rows;
}

const encodings = {
  'UTF-8': (text: string) => Buffer.from(text),
  'UTF-8 with a mark': (text: string) => Buffer.from(`\ufeff${text}`),
  'UTF-16 LE': (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le'),
  'UTF-16 BE': (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
};
const ends = {
  LF: () => '\n',
  CRLF: () => '\r\n',
  CR: () => '\r',
  'LF, then CRLF': (at: number) => (at === 0 ? '\n' : '\r\n'),
  'CRLF, then LF': (at: number) => (at === 0 ? '\r\n' : '\n'),
  'CRLF, then CR': (at: number) => (at === 0 ? '\r\n' : '\r'),
  'all of them in turn': (at: number) => ['\n', '\r\n', '\r'][at % 3] ?? '',
};
const quotings = {
  'without quotes': (cell: string) => cell,
  'in quotes': (cell: string) => `"${cell}"`,
  'between blanks': (cell: string) => `\u00a0${cell} `,
  'in quotes between spaces': (cell: string) => ` "${cell}\u200b" `,
};
const table = [
  ['reference', 'name', 'order'],
  ...Array.from({ length: 500 }, (_, at) => [`r${at}`, `Müller ${at}`, `${1000 + at}`]),
];
const expected = table.slice(1).map(([reference, name, order], at) => [at + 2, { reference, name, order }]);

describe('one table, however it is written', () => {
  for (const [encoding, encode] of Object.entries(encodings)) {
    for (const [end, endOf] of Object.entries(ends)) {
      it(`has the same rows in the same lines: ${encoding}, ${end}`, async () => {
        for (const delimiter of [',', ';', '\t', '|']) {
          for (const quote of Object.values(quotings)) {
            const text = table.map((row, at) => row.map(quote).join(delimiter) + endOf(at)).join('');
            for (const written of [text, text.replace(/[\r\n]+$/, ''), `${text}  `]) {
              expect(await rowsOf(encode(written))).toEqual(expected);
            }
          }
        }
      });
    }
  }

  it.each(Object.entries(ends))('is read from JSON lines too: %s', async (_, endOf) => {
    const lines = expected.map(([, row], at) => JSON.stringify(row) + endOf(at));
    const found = await rowsOf(encodings['UTF-16 LE'](lines.join('')));
    expect(found).toEqual(expected.map(([, row], at) => [at + 1, row]));
  });
});

describe('a line number', () => {
  it('is that of an editor: breaks of each kind inside quotes, blank lines and lines of spaces count', async () => {
    const text = 'a,b\n"1\r2\r\n3\n4",x\r\n\r\n  \ry,"z\n"\r\nlast,1\n';
    expect(await rowsOf(text)).toEqual([
      [2, { a: '1\r2\r\n3\n4', b: 'x' }],
      [8, { a: 'y', b: 'z' }],
      [10, { a: 'last', b: '1' }],
    ]);
  });

  it('is where a quote begins that nothing closes', async () => {
    expect(await rowsOf('a,b\r\n1,2\r\n3,"4\r\n5,6\r\n')).toEqual([
      [3, expect.stringMatching(/^Quote Not Closed/)],
      [2, { a: '1', b: '2' }],
    ]);
  });

  it('is told for text behind a quote, and what comes after it is not read as rows', async () => {
    const rows = await rowsOf('a,b\n1,2\n"3" x,4\n5,6\n');
    expect(rows[0]).toEqual([3, expect.stringMatching(/^Invalid Closing Quote/)]);
    expect(rows.length).toBeLessThan(3);
  });
});

describe('the delimiter', () => {
  it.each<[string, string, object]>([
    ['sep=; of Excel', 'sep=;\r\na,b;c\r\n1,5;2\r\n', { 'a,b': '1,5', c: '2' }],
    ['sep=\\t', 'sep=\\t\na\tb,c,d\n1\t2\n', { a: '1', 'b,c,d': '2' }],
    ['sep= and a tab', 'sep=\t\ra\tb\r1\t2', { a: '1', b: '2' }],
    ['sep= in quotes behind a mark', '\ufeff"sep=|"\na|b\n1|2', { a: '1', b: '2' }],
    ['more commas than semicolons in the header', 'a;b, net, EUR\n1;1,50\n2;2,50\n', { a: '1', 'b, net, EUR': '1,50' }],
    ['as many commas as semicolons', 'a;b, net\n1;1,50\n2;2,50\n', { a: '1', 'b, net': '1,50' }],
    ['delimiters inside quotes', '"a;;;;",b\n"1;",2\n', { 'a;;;;': '1;', b: '2' }],
    ['one column', 'a\n1;2|3\n', { a: '1;2|3' }],
  ])('is found: %s', async (_, text, row) => {
    expect((await rowsOf(text))[0]).toEqual([/sep=/i.test(text) ? 3 : 2, row]);
  });

  it('is the one that is given, also where the file says another one', async () => {
    expect(await rowsOf('sep=;\na,b\n1;,2\n', { delimiter: 'comma' })).toEqual([[3, { a: '1;', b: '2' }]]);
  });
});

describe('bytes that are no text', () => {
  it.each<[string, Buffer, RegExp]>([
    [
      'Windows-1250',
      Buffer.from('a\r\nx\rca\xb3\xe9\n', 'latin1'),
      /^stdin is not UTF-8 text: line 3 has other bytes$/,
    ],
    [
      'Windows-1251',
      Buffer.from('a\n\xc8\xe2\xe0\xed\n', 'latin1'),
      /^stdin is not UTF-8 text: line 2 has other bytes$/,
    ],
    ['DOS', Buffer.from('a\nB\x84r\n', 'latin1'), /^stdin is not UTF-8 text: line 2 has other bytes$/],
    ['UTF-8 and Windows-1252', Buffer.from('é\nx\ncaf\xe9\n').fill(0xe9, 8, 9), /line 3 has other bytes/],
    ['UTF-16 of other letters', Buffer.from('яж\nb\0\n', 'utf16le'), /looks like UTF-16 without a byte order mark/],
    ['a NUL character', Buffer.from('a\nb\0\n'), /line 2 has a NUL character; it looks like UTF-16/],
    [
      'UTF-32',
      Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0]),
      /^stdin is not UTF-16LE text: line 1 has a NUL character$/,
    ],
    [
      'half of a UTF-16 unit',
      Buffer.from([0xff, 0xfe, 0x61, 0, 0x0a, 0, 0x62]),
      /not UTF-16LE text: line 2 has other bytes/,
    ],
  ])('are refused with their line: %s', async (_, bytes, message) => {
    await expect(rowsOf(bytes)).rejects.toThrow(message);
  });

  it.each(['PK\x03\x04rest', '\x1f\x8b\x08\0rest', '\xd0\xcf\x11\xe0rest'])(
    'are told from a workbook or an archive: %j',
    async (start) => {
      const bytes = Buffer.from(start, 'latin1');
      await expect(rowsOf(bytes)).rejects.toThrow('stdin is a workbook or another archive');
    },
  );

  it.each<[string, Buffer]>([
    ['windows-1252', Buffer.from('Größe,b\nL\x92Oréal,café \x80\n', 'latin1')],
    ['utf-16le', Buffer.from('Größe,b\nL’Oréal,café €\n', 'utf16le')],
    ['utf-16be', Buffer.from('Größe,b\nL’Oréal,café €\n', 'utf16le').swap16()],
  ])('are read as %s where they can be nothing else, in parts of any size', async (encoding, bytes) => {
    for (const size of [1, 2, 3, 7, 1_000]) {
      const { io } = fakeIo();
      const chunks = async function* () {
        for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
      };
      const source = readFile('-', {}, expect.fail, { ...io, stdin: { ...io.stdin, chunks } });
      const rows = await Array.fromAsync(source.rows, ({ cells }) => Object.fromEntries(cells));
      expect(rows).toEqual([{ Größe: 'L’Oréal', b: 'café €' }]);
      expect([source.guessedEncoding(), source.layout().mark]).toEqual([encoding, '\ufeff']);
    }
  });

  it.each(['windows-1252', 'latin1'])('are read as %s where that is said', async (encoding) => {
    const { parseEncoding } = await import('../../../src/cli/values/text.ts');
    const bytes = Buffer.from('a\ncaf\xe9 \x80\n', 'latin1');
    expect(await rowsOf(bytes, { encoding: parseEncoding(encoding) })).toEqual([[2, { a: 'café €' }]]);
  });

  it('cannot be an encoding that nobody knows', async () => {
    const { code, stderr } = await lkm(['customers', 'create', '-f', 'x', '--encoding', 'x-y'], { cwd: tempFolder() });
    expect([code, stderr]).toEqual([2, expect.stringContaining("'x-y' is no encoding")]);
  });
});

describe('white space around a value', () => {
  const blanks = ['\u00a0', '\u200b', '\ufeff', '\u2060', '\u3000', '\u202f', '\t', '\u200e'];

  it('is taken away from names, addresses, numbers and dates, in CSV and in JSON', async () => {
    await using shop = await bulkShop();
    const rows = blanks.map((blank, at) => ({
      customerName: `Ada  ${at}`,
      customerEmail: `${blank}a${at}@x.example${blank}`,
      maxActivations: `${blank}3 `,
      expirationDate: ` 2027-01-0${at + 1}${blank}`,
      key: `${blank}ACME-${at}-AAAA-BBBB-CCCC-DDDD`,
    }));
    const names = Object.keys(rows[0] ?? {});
    const lines = rows.slice(0, 4).map((row) =>
      Object.values(row)
        .map((cell) => `"${cell}"`)
        .join(),
    );
    shop.write('a.csv', `${names.join()}\r\n${lines.join('\r')}\n`);
    shop.write('b.json', JSON.stringify(rows.slice(4)));
    for (const file of ['a.csv', 'b.json']) {
      expect(await shop.at(['keys', 'import', '-f', file, '-y'])).toMatchObject({ code: 0 });
    }
    const keys = (await shop.keys()).toReversed();
    const customers = await shop.json('customers', 'list');
    expect(keys.map(({ key }: { key: string }) => key).sort()).toEqual(
      rows.map((_, at) => `ACME-${at}-AAAA-BBBB-CCCC-DDDD`),
    );
    expect(keys.every(({ maxActivations }: { maxActivations: number }) => maxActivations === 3)).toBe(true);
    expect(customers.map(({ name, email }: Record<string, string>) => `${name} ${email}`).sort()).toEqual(
      rows.map((_, at) => `Ada  ${at} a${at}@x.example`),
    );
  });

  it('comes back from an export where it belongs to a text', async () => {
    await using shop = await bulkShop();
    shop.write(
      'a.json',
      JSON.stringify([{ reference: ' r ', metadata: { note: '\u00a0x\u200b', blank: '   ', end: 'e ' } }]),
    );
    expect((await shop.at(['keys', 'create', '-f', 'a.json'])).code).toBe(0);
    const before = (await shop.at(['keys', 'export'])).stdout;
    await using other = await bulkShop();
    other.write('keys.csv', before);
    expect((await other.at(['keys', 'import', '-f', 'keys.csv', '-y', '--create-products'])).stderr).toMatch(
      /^imported 1/,
    );
    expect((await other.at(['keys', 'export'])).stdout).toBe(before);
  });
});

describe('a key in a file or on stdin', () => {
  it.each(Object.entries(encodings))('is read as %s', async (_, encode) => {
    await using shop = await bulkShop();
    const { key } = await shop.json('keys', 'create', '--expires', '2026-12-31');
    shop.write('key.txt', encode(`\u00a0${key}\u200b\r\n`));
    for (const word of ['@key.txt', '-']) {
      const { code, stdout } = await shop.at(['keys', 'get', word, '-q'], { stdin: encode(`${key}\r`) });
      expect([code, stdout]).toEqual([0, `${key}\n`]);
    }
  });
});

describe('customers whose addresses are beyond ASCII', () => {
  it('are created once, and found by each form of the address', async () => {
    await using shop = await bulkShop();
    shop.write('a.csv', 'name,email\r\nShop,me@shöpware.example\nAda,"""a b""@x.example"\rJiro,a..b@docomo.example\n');
    expect((await shop.at(['customers', 'create', '-f', 'a.csv'])).code).toBe(0);
    const get = async (email: string) => (await shop.json('customers', 'get', email)).name;
    expect(await get('me@XN--SHPWARE-B1A.example')).toBe('Shop');
    expect(await get('ME@sho\u0308pware.example')).toBe('Shop');
    expect(await get('"a b"@x.example')).toBe('Ada');
    expect(await get('a..b@docomo.example')).toBe('Jiro');
    shop.write('o.csv', 'customerName,customerEmail\nX,me@xn--shpware-b1a.example\nY,Me@Shöpware.example\n');
    const { needed } = await shop.json('keys', 'create', '-f', 'o.csv', '-n');
    expect(needed).toEqual([
      { kind: 'customer', name: 'me@shöpware.example', status: 'exists', id: expect.any(String) },
    ]);
    shop.write('twice.csv', 'name,email\nA,u@shöp.example\nB,u@xn--shp-tna.example\nC,no address@x.example\n');
    const { code, stderr } = await shop.at(['customers', 'create', '-f', 'twice.csv']);
    expect(code).toBe(2);
    expect(stderr).toContain('line 3: email: the same as in line 2');
    expect(stderr).toContain('line 4: email is not an e-mail address');
  });
});
