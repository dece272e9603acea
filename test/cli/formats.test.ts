import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { renderCsv } from '../../src/cli/output/render.ts';
import { lkm } from './fake-io.ts';
import { customer, issued, KEY, listed, PRODUCT, remote, scriptedService } from './scripted-service.ts';

const customers = [customer('cus_1', 'Ada, "Ltd"', 'it@ada.example'), customer('cus_2', '=1+1')];

const list = async (...argv: string[]) => {
  const { fetch } = scriptedService(listed(customers));
  const { stdout } = await lkm(['customers', 'list', ...argv], { fetch, env: remote });
  return stdout;
};

const instant = '2026-08-14T09:12:44.031Z';

const instants = '2026-08-14T09:12:44.031Z\t2026-08-14T09:12:44.031Z';

describe('a list', () => {
  it('is a table for people', async () => {
    expect(await list('--format', 'table')).toBe(
      [
        'ID     NAME        EMAIL           ACTIVE  CREATED',
        'cus_1  Ada, "Ltd"  it@ada.example  yes     3 months ago',
        'cus_2  =1+1        –               yes     3 months ago',
        '',
      ].join('\n'),
    );
  });

  it('is tab-separated in a pipe, whole and without a header', async () => {
    expect(await list()).toBe(
      [
        `cus_1\tAda, "Ltd"\tit@ada.example\ttrue\t${instants}\tacc_1`,
        `cus_2\t=1+1\t\ttrue\t${instants}\tacc_1`,
        '',
      ].join('\n'),
    );
  });

  it('is a spreadsheet that runs no formula as csv', async () => {
    expect(await list('--format', 'csv', '--fields', 'id,name')).toBe(`id,name\ncus_1,"Ada, ""Ltd"""\ncus_2,'=1+1\n`);
  });

  it.each(['=1+1', '+1', '-1', '@SUM(1)'])(
    'has an apostrophe before %s as csv, so that it stays text',
    async (name) => {
      const { fetch } = scriptedService(listed([customer('cus_1', name)]));
      const argv = ['customers', 'list', '--format', 'csv', '--fields', 'name'];
      expect((await lkm(argv, { fetch, env: remote })).stdout).toBe(`name\n'${name}\n`);
    },
  );

  it('is a bare array as json, and a line per row as jsonl', async () => {
    expect(JSON.parse(await list('--json'))).toEqual(customers);
    expect(
      (await list('--format', 'jsonl'))
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(customers);
  });

  it('has the chosen fields in the chosen order in every format', async () => {
    expect(await list('--fields', 'name,id')).toBe('Ada, "Ltd"\tcus_1\n=1+1\tcus_2\n');
    expect(JSON.parse(await list('--fields', 'name,id', '--json'))).toEqual([
      { name: 'Ada, "Ltd"', id: 'cus_1' },
      { name: '=1+1', id: 'cus_2' },
    ]);
  });

  it('is its identifiers with -q', async () => {
    expect(await list('-q')).toBe('cus_1\ncus_2\n');
  });

  it('is the chosen fields with -q, bare as without a terminal', async () => {
    expect(await list('-q', '--fields', 'name')).toBe('Ada, "Ltd"\n=1+1\n');
    expect(await list('-q', '--fields', 'name', '--format', 'table')).toBe('Ada, "Ltd"\n=1+1\n');
  });
});

describe('a value', () => {
  const create = async (...argv: string[]) => {
    const { fetch } = scriptedService(issued);
    return (await lkm(['keys', 'create', '-P', PRODUCT, ...argv], { fetch, env: remote })).stdout;
  };
  const idempotencyKey = '00000001-0000-4000-8000-000000000000';

  it('has its name and its key as json', async () => {
    expect(JSON.parse(await create('--json'))).toEqual({ key: KEY, productId: PRODUCT, idempotencyKey });
  });

  it('can be evaluated by a shell as env', async () => {
    expect(await create('--format', 'env')).toBe(
      `LKM_KEY='${KEY}'\nLKM_PRODUCT_ID='${PRODUCT}'\nLKM_IDEMPOTENCY_KEY='${idempotencyKey}'\n`,
    );
  });

  it('has a header as csv', async () => {
    expect(await create('--format', 'csv')).toBe(`key,productId,idempotencyKey\n${KEY},${PRODUCT},${idempotencyKey}\n`);
  });

  it('takes its format from LKM_FORMAT, which a flag outranks', async () => {
    const { fetch } = scriptedService(issued);
    const env = { ...remote, LKM_FORMAT: 'json' };
    const argv = ['keys', 'create', '-P', PRODUCT];
    expect((await lkm(argv, { fetch, env })).stdout).toContain('"key"');
    expect((await lkm([...argv, '--format', 'tsv'], { fetch, env })).stdout).toBe(`${KEY}\n`);
  });
});

describe('a narrow terminal', () => {
  const table = async (columns: number) => {
    const { fetch } = scriptedService(
      listed([customer('cus_01m7yt3x32eqxajtz5mznckfv0', 'Grace 软件 and a very long name', 'ops@grace.example')]),
    );
    return (await lkm(['customers', 'list'], { fetch, env: { ...remote, NO_COLOR: '1' }, terminal: true, columns }))
      .stdout;
  };

  it('leaves out what matters less, then cuts names, and never identifiers', async () => {
    const [, row = ''] = (await table(80)).split('\n');
    expect(row).toBe('cus_01m7yt3x32eqxajtz5mznckfv0  Grace 软件 and a very long n…  ops@grace.example');
  });

  it('shows all that was asked for by name: below each other where there is no room', async () => {
    const { fetch } = scriptedService(listed([customer('cus_01m7yt3x32eqxajtz5mznckfv0', 'Ada', 'o@g.example')]));
    const argv = ['customers', 'list', '--fields', 'id,name,createdAt'];
    const surroundings = { env: { ...remote, NO_COLOR: '1' }, terminal: true, columns: 40 };
    expect(await lkm(argv, { fetch, ...surroundings })).toEqual({
      code: 0,
      stdout: 'id       cus_01m7yt3x32eqxajtz5mznckfv0\nname     Ada\ncreated  3 months ago\n',
      stderr: '',
    });
  });

  it('says on stderr what it has no room for', async () => {
    const { fetch } = scriptedService(
      listed([customer('cus_01m7yt3x32eqxajtz5mznckfv0', 'n'.repeat(40), 'o@g.example')]),
    );
    const surroundings = { env: { ...remote, NO_COLOR: '1' }, terminal: true, columns: 84 };
    const { stderr } = await lkm(['customers', 'list'], { fetch, ...surroundings });
    expect(stderr).toBe('no room for createdAt; --json shows it\n');
    const chosen = await lkm(['customers', 'list', '--fields', 'id,createdAt'], { fetch, ...surroundings });
    expect(chosen.stdout).toContain('cus_01m7yt3x32eqxajtz5mznckfv0  3 months ago');
    expect(chosen.stderr).toBe('');
  });

  it('shows a record each when even that does not fit', async () => {
    expect(await table(50)).toBe(
      [
        'id       cus_01m7yt3x32eqxajtz5mznckfv0',
        'name     Grace 软件 and a very long name',
        'email    ops@grace.example',
        'active   yes',
        'created  3 months ago',
        '',
      ].join('\n'),
    );
  });
});

describe('one long address among others', () => {
  const rows = [
    customer('cus_01m7yt3x32eqxajtz5mznckfv0', 'Ada Ltd', 'it@ada.example'),
    customer('cus_01m7yt3x32eqxajtz5mznckfv1', 'Grace Software', 'ops@grace.example'),
    customer('cus_01m7yt3x32eqxajtz5mznckfv2', 'Linus', `${'long.'.repeat(20)}name@corp.example`),
    customer('cus_01m7yt3x32eqxajtz5mznckfv3', '株式会社ソフト', 'info@soft.example'),
  ];
  const linesAt = async (columns: number) => {
    const { fetch } = scriptedService(listed(rows));
    const env = { ...remote, NO_COLOR: '1' };
    return (await lkm(['customers', 'list'], { fetch, env, terminal: true, columns })).stdout.trimEnd().split('\n');
  };

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
  const csvOf = (value: unknown) =>
    renderCsv([{ name: 'value' }], [{ value }]).then((text) => text.replace(/^value\n/, '').trimEnd());

  it.each([
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['＝1', "'＝1"],
    ['a,b', '"a,b"'],
    ['a"b', '"a""b"'],
    ['plain', 'plain'],
  ])('gets the text %j as %j', async (value, expected) => {
    expect(await csvOf(value)).toBe(expected);
  });

  it('gets numbers as numbers, the negative ones too, and words for what is true', async () => {
    expect(await csvOf(-5)).toBe('-5');
    expect(await csvOf(12.5)).toBe('12.5');
    expect(await csvOf(true)).toBe('true');
    expect(await csvOf(null)).toBe('');
  });
});

describe('a command that creates one thing', () => {
  it.each([[{}], [{ terminal: true }]])('prints its id alone, as a value, with %j', async (surroundings) => {
    const product = { id: PRODUCT, name: 'Engine', active: true, createdAt: instant, updatedAt: instant };
    const { fetch } = scriptedService([200, { action: 'products.create', status: true, data: product, code: 0 }]);
    const env = { ...remote, NO_COLOR: '1' };
    const argv = ['products', 'create', '--name', 'Engine'];
    const ran = await lkm(argv, { fetch, env, ...surroundings });
    expect(ran).toMatchObject({ code: 0, stdout: `${PRODUCT}\n`, stderr: 'created Engine\n' });
    const json = JSON.parse((await lkm([...argv, '--json'], { fetch, env, ...surroundings })).stdout);
    expect(json).toMatchObject(product);
    expect((await lkm([...argv, '--fields', 'name'], { fetch, env })).stdout).toBe('Engine\n');
  });
});

describe('what a hostile service says', () => {
  const hostile = 'a\u001b[2J\u009bK\u202egnp\tb\nc\u{e0041}';
  const show = async (...argv: string[]) => {
    const { fetch } = scriptedService(listed([customer('cus_1', hostile)]));
    return (await lkm(['customers', 'list', '--fields', 'name', ...argv], { fetch, env: remote })).stdout;
  };
  const visible = 'a\\u{1b}[2J\\u{9b}K\\u{202e}gnp\\u{9}b\\u{a}c\\u{e0041}';

  it.each(['table', 'tsv', 'csv', 'env'])('is made visible in %s', async (format) => {
    const stdout = await show('--format', format);
    expect(stdout).toContain(visible);
    expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e\u{e0041}]/u);
  });

  it('is the same data in json, escaped', async () => {
    const stdout = await show('--json');
    expect(JSON.parse(stdout)).toEqual([{ name: hostile }]);
    expect(stdout.trimEnd()).not.toMatch(/[\p{Cc}\u202e\u{e0041}]/u);
  });

  it('is made visible in errors', async () => {
    const { fetch } = scriptedService([404, { message: hostile, code: 7 }]);
    const { stderr } = await lkm(['customers', 'list'], { fetch, env: remote });
    expect(stderr).toContain(`error: ${visible}\n`);
  });

  it('does not reach the terminal as a licence key either', async () => {
    const { fetch } = scriptedService([200, { code: 0, key: `${KEY}\u001b]0;owned\u0007` }]);
    const { stdout } = await lkm(['keys', 'create', '-P', PRODUCT], { fetch, env: remote, terminal: true });
    expect(stdout).toBe(`${KEY}\\u{1b}]0;owned\\u{7}\n`);
  });
});
