import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { run } from '../../../src/cli/run.ts';
import { fakeIo } from '../fake-io.ts';
import { bulkShop, unauthorized } from './bulk-shop.ts';

const KEY = expect.stringMatching(/^[0-9A-Z]{5}(-[0-9A-Z]{5}){4}$/);
const create = ['keys', 'create', '-f', 'orders.csv', '--expires', 'never'];
const mapping = ['--map', 'Order No=reference', '--map', ' Note =', '--map', 'status='];

describe('the result of a file', () => {
  const orders =
    '\ufeff"Order No",customerName, Note ,status\r\n' +
    'o-1,"Ada, ""Ltd""","two\r\nlines",=1+1\n' +
    "\r\no-2,Müller,'quoted,+49 30 1234\r";
  const names = ['Order No', 'customerName', 'Note', 'status', 'status', 'key', 'error'];

  it('has the columns of the file as they are, then status, key and error', async () => {
    await using shop = await bulkShop();
    shop.write('orders.csv', orders);
    expect(await shop.at([...create, ...mapping, '-o', 'keys.csv'])).toMatchObject({ code: 0, stdout: '' });
    const written = readFileSync(join(shop.cwd, 'keys.csv'), 'utf8');
    expect(written.startsWith('\ufeff')).toBe(true);
    expect(parse(written, { bom: true })).toEqual([
      names,
      ['o-1', 'Ada, "Ltd"', 'two\r\nlines', '=1+1', 'issued', KEY, ''],
      ['o-2', 'Müller', "'quoted", '+49 30 1234', 'issued', KEY, ''],
    ]);
    expect((await shop.at([...create, ...mapping, '--format', 'csv'])).stdout).toBe(written);
    for (const format of ['csv', 'tsv', 'json', 'jsonl', 'table']) {
      const { stdout } = await shop.at([...create, ...mapping, '--format', format, '--fields', 'status']);
      expect([format, stdout.match(/issued|1\+1/g)]).toEqual([format, ['issued', 'issued']]);
    }
  });

  it('is written with the delimiter of the file', async () => {
    await using shop = await bulkShop();
    shop.write('orders.csv', Buffer.from('Order No;customerName\r\no-1;Größe, 1\r\n', 'latin1'));
    const { code, stdout, stderr } = await shop.at([...create, '--map', 'Order No=reference', '--format', 'csv']);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^\ufeffOrder No;customerName;status;key;error\no-1;Größe, 1;issued;[0-9A-Z-]{29};\n$/),
    ]);
    expect(stderr).toContain('warning: orders.csv is read as windows-1252; if it is not: --encoding NAME\n');
  });

  it.each([
    ['orders.jsonl', '{"reference":"o-1","metadata":{"n":1}}\n{"maxActivations":2,"reference":"o-2"}\n'],
    ['orders.json', '[{"reference":"o-1","metadata":{"n":1}},{"maxActivations":2,"reference":"o-2"}]'],
  ])('of %s has the properties of each object', async (name, text) => {
    await using shop = await bulkShop();
    shop.write(name, text);
    const argv = ['keys', 'create', '-f', name, '--expires', 'never'];
    const rows = [
      { reference: 'o-1', metadata: { n: 1 }, status: 'issued', key: KEY },
      { maxActivations: 2, reference: 'o-2', status: 'issued', key: KEY },
    ];
    expect(await shop.json(...argv)).toEqual(rows);
    const lines = (await shop.at([...argv, '--format', 'jsonl'])).stdout.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(rows);
    expect(parse((await shop.at([...argv, '--format', 'csv'])).stdout)).toEqual([
      ['reference', 'metadata', 'maxActivations', 'status', 'key', 'error'],
      ['o-1', '{"n":1}', '', 'issued', KEY, ''],
      ['o-2', '', '2', 'issued', KEY, ''],
    ]);
  });

  it('has the number and line of a row where they are chosen, and keys alone with -q', async () => {
    await using shop = await bulkShop();
    shop.write('orders.csv', 'reference\no-1\n\no-2\n');
    const chosen = await shop.at([...create, '--fields', 'row,line,reference,status']);
    expect(chosen.stdout).toBe('1\t2\to-1\tissued\n2\t4\to-2\tissued\n');
    const keys = (await shop.keys()).map(({ key }: { key: string }) => key);
    expect((await shop.at([...create, '-q'])).stdout.trim().split('\n').sort()).toEqual(keys.sort());
    expect((await shop.at([...create], { terminal: { stdout: true } })).stdout).toMatch(/^REFERENCE +STATUS +KEY/i);
  });
});

describe('results as they come', () => {
  const orders = `reference\n${Array.from({ length: 20 }, (_, at) => `o-${at + 1}\n`).join('')}`;
  const slow = ['--concurrency', '1'];

  it('are on stdout in the order of the rows before the run ends', async () => {
    await using shop = await bulkShop();
    shop.write('orders.csv', orders);
    shop.meddle((_, number) => (number > 4 ? unauthorized() : null));
    for (const format of ['csv', 'tsv', 'jsonl']) {
      const { code, stdout, stderr } = await shop.at([...create, ...slow, '--format', format]);
      const lines = stdout.trimEnd().split('\n');
      expect([format, code, lines.length]).toEqual([format, 4, format === 'csv' ? 5 : 4]);
      expect(lines.at(-1)).toMatch(/o-4.*issued/);
      expect(stderr).toMatch(/^warning: stopped: issued 4 of 20 keys\nwarning: the same command goes on\n/);
      shop.sent.length = 0;
    }
  });

  it('are in the file of -o only when all are there', async () => {
    await using shop = await bulkShop();
    shop.write('orders.csv', orders);
    mkdirSync(join(shop.cwd, 'out'));
    const argv = [...create, ...slow, '-o', 'out/keys.csv'];
    const during: string[][] = [];
    shop.meddle((_, number) => {
      during.push(readdirSync(join(shop.cwd, 'out')));
      return number > 4 ? unauthorized() : null;
    });
    expect(await shop.at(argv)).toMatchObject({ code: 4, stdout: '' });
    expect(during.at(-1)).toEqual([expect.stringMatching(/^\.lkm-.*\.tmp$/)]);
    expect(readdirSync(join(shop.cwd, 'out'))).toEqual([]);
    shop.meddle(() => null);
    expect((await shop.at(argv)).code).toBe(0);
    expect(readdirSync(join(shop.cwd, 'out'))).toEqual(['keys.csv']);
  });

  it('end the run when nobody reads them', async () => {
    await using shop = await bulkShop();
    shop.write('orders.csv', orders);
    const { code, stderr } = await shop.at([...create, ...slow, '--format', 'csv'], { stdout: 'EPIPE' });
    expect(code).toBe(12);
    expect(stderr).toMatch(/^warning: stopped: issued \d of 20 keys\n/);
    expect((await shop.keys()).length).toBeLessThan(5);
  });

  it.each([
    ['table', 20, '  issued 20 keys: the same command writes the same results\n'],
    ['csv', 0, ''],
  ])('are not lost when they cannot be written: %s', async (format, issued, hint) => {
    await using shop = await bulkShop();
    shop.write('orders.csv', orders);
    const { code, stderr } = await shop.at([...create, '--format', format], { stdout: 'ENOSPC' });
    expect([code, stderr]).toEqual([13, `error: cannot write to stdout (ENOSPC)\n${hint}`]);
    expect(await shop.keys()).toHaveLength(issued);
  });

  it('are written while the service works on later rows', async () => {
    await using shop = await bulkShop();
    shop.write('orders.csv', orders);
    const printed: number[] = [];
    const seen = { stdout: '' };
    const { io } = fakeIo({
      cwd: shop.cwd,
      env: { LKM_BASE_URL: 'https://licensing.example.com', LKM_TOKEN: 'lkm_admin_x', LKM_PRODUCT: shop.product },
      fetch: async () => {
        await new Promise((resolve) => setImmediate(resolve));
        printed.push(seen.stdout.split('\n').length - 1);
        return Response.json({ code: 0, key: `K${printed.length}${'-ABCDE'.repeat(5)}` });
      },
    });
    const write = async (text: string) => {
      seen.stdout += text;
      return true;
    };
    const stdout = { ...io.stdout, write };
    expect(await run([...create, ...slow, '--format', 'tsv'], { ...io, stdout })).toBe(0);
    expect(printed.at(-1)).toBeGreaterThan(10);
  });
});
