import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bulkShop, unauthorized } from './bulk-shop.ts';

const create = ['keys', 'create', '-f', 'orders.csv'];

/** A shop in which two keys were issued from a file. */
async function issued(text = 'maxActivations\n1\n2\n') {
  const shop = await bulkShop();
  shop.write('orders.csv', text);
  expect((await shop.at(create)).code).toBe(0);
  const [{ id }] = await shop.json('jobs', 'list');
  return { ...shop, id };
}

describe('a file that has grown since its run', () => {
  it('is refused: its first rows would be done again', async () => {
    await using shop = await issued();
    shop.write('orders.csv', 'maxActivations\n1\n2\n3\n');
    for (const argv of [create, [...create, '--dry-run']]) {
      const { code, stdout, stderr } = await shop.at(argv);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toBe(
        [
          `error: orders.csv begins with the 2 rows of run ${shop.id} of 2026-11-21 12:00 UTC, which has created 2 keys`,
          '  Nothing was sent. As a run of its own, it would do these rows a second time.',
          `  See what that run did:    lkm jobs show ${shop.id}`,
          '  Do the rest alone:        put the 1 new row into a file of their own',
          '  Do all of it, once more:  add --run NAME',
          '',
        ].join('\n'),
      );
    }
    expect(await shop.keys()).toHaveLength(2);
    expect(await shop.json('jobs', 'list')).toHaveLength(1);
  });

  it('is done whole under a name', async () => {
    await using shop = await issued();
    shop.write('orders.csv', 'maxActivations\n1\n2\n3\n');
    expect((await shop.at([...create, '--run', 'june'])).code).toBe(0);
    expect(await shop.keys()).toHaveLength(5);
  });

  it('says how to finish a run that has not ended', async () => {
    await using shop = await bulkShop();
    shop.write('orders.csv', 'maxActivations\n1\n2\n');
    shop.meddle((_, number) => (number === 2 ? unauthorized() : null));
    expect((await shop.at([...create, '--concurrency', '1'])).code).toBe(4);
    shop.meddle(() => null);
    shop.write('orders.csv', 'maxActivations\n1\n2\n3\n');
    const [{ id }] = await shop.json('jobs', 'list');
    const { code, stderr } = await shop.at(create);
    expect(code).toBe(2);
    expect(stderr).toContain('which has created 1 key\n');
    expect(stderr).toContain(`  Finish that run:          lkm jobs resume ${id}\n`);
  });

  it.each([
    ['with other line ends', 'maxActivations\r\n1\r\n2'],
    ['in another form', '{"maxActivations":"1"}\n{"maxActivations":"2"}\n'],
  ])('is known by its rows, also %s', async (_, text) => {
    await using shop = await issued();
    shop.write('orders.txt', text);
    const { code, stderr } = await shop.at(['keys', 'create', '-f', '-'], { stdin: text });
    expect(code).toBe(2);
    expect(stderr).toContain(`error: stdin has the same 2 rows as run ${shop.id} of `);
  });

  it.each<[why: string, text: string, more: string[]]>([
    ['other rows', 'maxActivations\n1\n3\n4\n', []],
    ['fewer rows', 'maxActivations\n1\n', []],
    ['other options', 'maxActivations\n1\n2\n3\n', ['--trial']],
  ])('is another run with %s', async (_, text, more) => {
    await using shop = await issued();
    shop.write('orders.csv', text);
    expect((await shop.at([...create, ...more])).code).toBe(0);
  });

  it('need not be refused where the service refuses the rows it has', async () => {
    await using shop = await issued('reference\no-1\no-2\n');
    shop.write('orders.csv', 'reference\no-1\no-2\no-3\n');
    expect((await shop.at([...create, '--if-absent'])).code).toBe(0);
    expect((await shop.at(create)).code).toBe(12);
    expect(await shop.keys()).toHaveLength(3);
  });

  it('need not be refused where the run has done nothing', async () => {
    await using shop = await bulkShop();
    shop.write('orders.csv', 'maxActivations\n1\n');
    shop.meddle(() => Response.json({ message: 'Product not found or inactive', code: 1 }, { status: 404 }));
    expect((await shop.at(create)).code).toBe(12);
    shop.meddle(() => null);
    shop.write('orders.csv', 'maxActivations\n1\n2\n');
    expect((await shop.at(create)).code).toBe(0);
  });

  it('is refused where keys would be renewed again', async () => {
    await using shop = await bulkShop();
    const keys = (await shop.at(['keys', 'create', '--count', '3', '-q'])).stdout.trim().split('\n');
    const renew = ['keys', 'renew', '-f', 'keys.csv', '--for', '1y'];
    shop.write('keys.csv', `key\n${keys.slice(0, 2).join('\n')}\n`);
    expect((await shop.at(renew)).code).toBe(0);
    shop.write('keys.csv', `key\n${keys.join('\n')}\n`);
    expect((await shop.at(renew)).stderr).toContain('which has renewed 2 keys');
  });
});

describe('rows on their way into the state', () => {
  it('are gone when the file turns out to be wrong at its end', async () => {
    await using shop = await bulkShop();
    shop.write('orders.csv', `maxActivations\n${'1\n'.repeat(3_000)}x\n`);
    expect((await shop.at(create)).code).toBe(2);
    expect(await shop.json('jobs', 'list')).toEqual([]);
    expect(statSync(join(shop.cwd, '.local/state/lkm/state.db')).size).toBeLessThan(100_000);
  });
});

describe('lkm jobs resume', () => {
  it.each<[argv: string[], fields: string]>([
    [['keys', 'create', '-f', 'rows.csv'], 'key,reference,status'],
    [['customers', 'create', '-f', 'rows.csv'], 'name,email,id'],
    [['keys', 'renew', '--for', '1y', '-f', 'rows.csv'], 'expirationDate,key'],
  ])('shows columns as %j does', async (argv, fields) => {
    await using shop = await bulkShop();
    const key = (await shop.at(['keys', 'create'])).stdout.trim();
    const name =
      argv[1] === 'renew' ? `key\n${key}\n` : argv[0] === 'keys' ? 'reference\na\n' : 'name,email\nAda,a@b.example\n';
    shop.write('rows.csv', name);
    expect((await shop.at(argv)).code).toBe(0);
    const id = (await shop.at(['jobs', 'list', '-q'])).stdout.trim();
    for (const more of [
      ['--format', 'table'],
      ['--format', 'csv'],
      ['--json'],
      ['--fields', fields],
      ['--fields', 'line,idempotencyKey'],
    ]) {
      const { code, stdout } = await shop.at([...argv, ...more]);
      for (const verb of ['show', 'resume']) {
        expect(await shop.at(['jobs', verb, id, ...more])).toMatchObject({ code, stdout });
      }
    }
  });
});
