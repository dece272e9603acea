import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { renderCsv } from '../../src/cli/output/render.ts';
import type { Surroundings } from './fake-io.ts';
import { against, customer, issued, KEY, listed, PRODUCT, type Scripted } from './scripted-service.ts';

const customers = [customer('cus_1', 'Ada, "Ltd"', 'it@ada.example'), customer('cus_2', '=1+1')];

/** What a command prints of one customer or of several. */
const list = async (options: string, rows = customers, more: Surroundings = {}) =>
  (await against(`customers list ${options}`.trim(), [listed(rows)], more)).stdout;

const instants = '2026-08-14T09:12:44.031Z\t2026-08-14T09:12:44.031Z';

describe('a list', () => {
  it('is a table for people', async () => {
    expect(await list('--format table')).toBe(
      [
        'ID     NAME        EMAIL           ACTIVE  CREATED',
        'cus_1  Ada, "Ltd"  it@ada.example  yes     3 months ago',
        'cus_2  =1+1        –               yes     3 months ago',
        '',
      ].join('\n'),
    );
  });

  it('is tab-separated in a pipe, whole and without a header', async () => {
    expect(await list('')).toBe(
      `cus_1\tAda, "Ltd"\tit@ada.example\ttrue\t${instants}\tacc_1\ncus_2\t=1+1\t\ttrue\t${instants}\tacc_1\n`,
    );
  });

  it('is a bare array as json, and a line per row as jsonl', async () => {
    expect(JSON.parse(await list('--json'))).toEqual(customers);
    const lines = (await list('--format jsonl')).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(customers);
  });

  it.each([
    ['--format csv --fields id,name', `id,name\ncus_1,"Ada, ""Ltd"""\ncus_2,'=1+1\n`],
    ['--fields name,id', 'Ada, "Ltd"\tcus_1\n=1+1\tcus_2\n'],
    ['--fields name,id --format jsonl', '{"name":"Ada, \\"Ltd\\"","id":"cus_1"}\n{"name":"=1+1","id":"cus_2"}\n'],
    ['-q', 'cus_1\ncus_2\n'],
    ['-q --fields name', 'Ada, "Ltd"\n=1+1\n'],
    ['-q --fields name --format table', 'Ada, "Ltd"\n=1+1\n'],
  ])('has the chosen fields in the chosen order and form: %s', async (options, expected) => {
    expect(await list(options)).toBe(expected);
  });
});

describe('a value', () => {
  const idempotencyKey = '00000001-0000-4000-8000-000000000000';

  it.each([
    ['json', { LKM_FORMAT: 'json' }, ''],
    ['csv', {}, `key,productId,idempotencyKey\n${KEY},${PRODUCT},${idempotencyKey}\n`],
    ['tsv', { LKM_FORMAT: 'json' }, `${KEY}\n`],
  ])('has its name and its key as %s; a flag outranks %j', async (format, env, text) => {
    const line = `keys create -P ${PRODUCT} ${text === '' ? '' : `--format ${format}`}`.trim();
    const { stdout } = await against(line, [issued], { env });
    if (text !== '') expect(stdout).toBe(text);
    else expect(JSON.parse(stdout)).toEqual({ key: KEY, productId: PRODUCT, idempotencyKey });
  });
});

describe('a narrow terminal', () => {
  const narrow = { env: { NO_COLOR: '1' }, terminal: true };
  const id = 'cus_01m7yt3x32eqxajtz5mznckfv0';
  const grace = customer(id, 'Grace 软件 and a very long name', 'ops@grace.example');

  it('leaves out what matters less, then cuts names, and never identifiers; stderr says what', async () => {
    const at80 = await against('customers list', [listed([grace])], { ...narrow, columns: 80 });
    expect(at80.stdout.split('\n')[1]).toBe(`${id}  Grace 软件 and a very long n…  ops@grace.example`);
    const rows = [listed([customer(id, 'n'.repeat(40), 'o@g.example')])];
    const { stderr } = await against('customers list', rows, { ...narrow, columns: 84 });
    expect(stderr).toBe('no room for createdAt; --json shows it\n');
    const chosen = await against('customers list --fields id,createdAt', rows, { ...narrow, columns: 84 });
    expect(chosen).toMatchObject({ stdout: expect.stringContaining(`${id}  3 months ago`), stderr: '' });
  });

  it.each([
    ['--fields id,name,createdAt', `id       ${id}\nname     Grace 软件 and a very long name\ncreated  3 months ago\n`],
    [
      '',
      `id       ${id}\nname     Grace 软件 and a very long name\nemail    ops@grace.example\n` +
        'active   yes\ncreated  3 months ago\n',
    ],
  ])('shows a record each when even that does not fit: %s', async (options, expected) => {
    expect(await list(options, [grace], { ...narrow, columns: 50 })).toBe(expected);
  });
});

describe('one long address among others', () => {
  const rows = [
    customer('cus_01m7yt3x32eqxajtz5mznckfv0', 'Ada Ltd', 'it@ada.example'),
    customer('cus_01m7yt3x32eqxajtz5mznckfv1', 'Grace Software', 'ops@grace.example'),
    customer('cus_01m7yt3x32eqxajtz5mznckfv2', 'Linus', `${'long.'.repeat(20)}name@corp.example`),
    customer('cus_01m7yt3x32eqxajtz5mznckfv3', '株式会社ソフト', 'info@soft.example'),
  ];
  const linesAt = async (columns: number) =>
    (await list('', rows, { env: { NO_COLOR: '1' }, terminal: true, columns })).trimEnd().split('\n');

  it('is cut itself, and takes no column from the others', async () => {
    const lines = await linesAt(120);
    expect(lines[0]).toMatch(/^ID +NAME +EMAIL +ACTIVE {2}CREATED$/);
    expect(lines[1]).toContain('Ada Ltd         it@ada.example');
    expect(lines[2]).toContain('Grace Software  ops@grace.example');
    expect(lines[3]).toMatch(/long\.long\.[^ ]*… {2}yes/);
    expect(lines[4]).toContain('株式会社ソフト  info@soft.example');
  });

  it.each([80, 90, 100, 120, 200])('leaves every row within %d columns, as a terminal counts them', async (columns) => {
    for (const line of await linesAt(columns)) expect(stringWidth(line)).toBeLessThanOrEqual(columns);
  });
});

describe('a spreadsheet', () => {
  it.each([
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['＝1', "'＝1"],
    ['a,b', '"a,b"'],
    ['a"b', '"a""b"'],
    ['plain', 'plain'],
    [-5, '-5'],
    [12.5, '12.5'],
    [true, 'true'],
    [null, ''],
  ])('gets %j as %j: a text runs no formula, and a number stays one', async (value, expected) => {
    expect((await renderCsv([{ name: 'value' }], [{ value }])).replace(/^value\n/, '').trimEnd()).toBe(expected);
  });
});

describe('a command that creates one thing', () => {
  it.each([[{}], [{ terminal: true }]])('prints its id alone, as a value, with %j', async (surroundings) => {
    const times = { createdAt: '2026-08-14T09:12:44.031Z', updatedAt: '2026-08-14T09:12:44.031Z' };
    const product = { id: PRODUCT, name: 'Engine', active: true, ...times };
    const answers: Scripted[] = [
      [200, { action: 'products.list', status: true, data: [], code: 0 }],
      [200, { action: 'products.create', status: true, data: product, code: 0 }],
    ];
    const create = (options = '') =>
      against(`products create --name Engine${options}`, answers, { env: { NO_COLOR: '1' }, ...surroundings });
    expect(await create()).toMatchObject({ code: 0, stdout: `${PRODUCT}\n`, stderr: 'created Engine\n' });
    expect(JSON.parse((await create(' --json')).stdout)).toMatchObject(product);
  });
});

describe('what a hostile service says', () => {
  const hostile = 'a\u001b[2J\u009bK\u202egnp\tb\nc\u{e0041}';
  const show = (format: string) => list(`--fields name --format ${format}`, [customer('cus_1', hostile)]);
  const visible = 'a\\u{1b}[2J\\u{9b}K\\u{202e}gnp\\u{9}b\\u{a}c\\u{e0041}';

  it.each(['table', 'tsv', 'csv'])('is made visible in %s', async (format) => {
    const stdout = await show(format);
    expect(stdout).toContain(visible);
    expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e\u{e0041}]/u);
  });

  it('is the same data in json, escaped', async () => {
    const stdout = await show('json');
    expect(JSON.parse(stdout)).toEqual([{ name: hostile }]);
    expect(stdout.trimEnd()).not.toMatch(/[\p{Cc}\u202e\u{e0041}]/u);
  });

  it('is made visible in errors', async () => {
    const { stderr } = await against('customers list', [[400, { message: hostile, code: 7 }]]);
    expect(stderr).toContain(`error: ${visible}\n`);
  });

  it('does not reach the terminal as a licence key either', async () => {
    const answer: Scripted = [200, { code: 0, key: `${KEY}\u001b]0;owned\u0007` }];
    const { stdout } = await against(`keys create -P ${PRODUCT}`, [answer], { terminal: true });
    expect(stdout).toBe(`${KEY}\\u{1b}]0;owned\\u{7}\n`);
  });
});
