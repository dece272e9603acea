import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bulkShop, unauthorized } from './bulk-shop.ts';

type Shop = Awaited<ReturnType<typeof bulkShop>>;

const ORDERS = `seats\n${Array.from({ length: 40 }, (_, at) => `${(at % 5) + 1}\n`).join('')}`;
const issue = ['keys', 'create', '-f', 'orders.csv', '--map', 'seats=maxActivations', '--format', 'csv'];

/** A token that may issue keys of the product, and nothing else; only so many. */
async function issuer(shop: Shop, maxIssues: number): Promise<string> {
  const what = [
    '--kind',
    'scoped',
    '--scope',
    'license:write',
    '--product',
    shop.product,
    '--max-issues',
    String(maxIssues),
  ];
  return (await shop.at(['tokens', 'create', ...what, '--name', 'CI', '-q'])).stdout.trim();
}

describe('several files of orders', () => {
  it('follow each other, and none is left out', async () => {
    await using shop = await bulkShop();
    shop.write('may.csv', 'reference\nA-1\nA-2\n');
    shop.write('june.csv', 'reference\nB-1\n');
    const { code, stderr } = await shop.at(['keys', 'create', '-f', 'may.csv', '-f', 'june.csv', '--expires', 'never']);
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('issued 3 of 3 keys') });
    const twice = await shop.at(['keys', 'create', '-f', 'june.csv', '-f', 'june.csv']);
    expect(twice).toMatchObject({ code: 2, stderr: expect.stringContaining('the same as in june.csv line 2') });
  });
});

describe('a file of orders', () => {
  it.each([0, 25, 24 * 40])(
    'is issued once: on a machine with an empty disk, %i hours later, by a token that may do no more',
    async (hours) => {
      await using shop = await bulkShop();
      shop.write('orders.csv', ORDERS);
      const LKM_TOKEN = await issuer(shop, 40);
      const first = await shop.at(issue, { env: { LKM_TOKEN } });
      expect(first.code).toBe(0);
      shop.pass(hours);
      const again = await shop.at(issue, { env: { LKM_TOKEN, LKM_STATE_DIR: join(shop.cwd, 'runner') } });
      expect(again).toMatchObject({ code: 0, stdout: first.stdout });
      expect(again.stderr).toContain('issued 0 of 40 keys · 40 were issued before');
      expect(await shop.keys()).toHaveLength(40);
    },
  );

  it.each([0, 25])('is finished by the same command, %i hours after it was stopped at any row', async (hours) => {
    await using shop = await bulkShop();
    shop.write('orders.csv', ORDERS);
    const LKM_TOKEN = await issuer(shop, 40);
    for (const [at, last] of [3, 11, 12, 30].entries()) {
      const before = shop.sent.length;
      // The request is carried out, and its answer is lost.
      shop.meddle(async (request, number) => {
        if (number - before < last) return null;
        await shop.through(request);
        return unauthorized();
      });
      const env = { LKM_TOKEN, LKM_STATE_DIR: join(shop.cwd, `runner-${at}`) };
      expect((await shop.at([...issue, '--concurrency', '4'], { env })).code).toBe(4);
      shop.pass(hours);
    }
    shop.meddle(() => null);
    const whole = await shop.at(issue, { env: { LKM_TOKEN } });
    expect(whole.code).toBe(0);
    expect(await shop.keys()).toHaveLength(40);
    expect((await shop.at(issue, { env: { LKM_TOKEN } })).stdout).toBe(whole.stdout);
  });

  it('is the same although an end that is counted from today has moved', async () => {
    await using shop = await bulkShop();
    shop.write('orders.csv', ORDERS);
    const argv = [...issue, '--expires', '1y'];
    const first = await shop.at(argv);
    shop.pass(13);
    expect(await shop.at(argv)).toMatchObject({ code: 0, stdout: first.stdout });
    expect(await shop.keys()).toHaveLength(40);
  });

  it('is the same however its product is named', async () => {
    await using shop = await bulkShop();
    shop.write('orders.csv', ORDERS);
    const first = await shop.at(issue);
    for (const product of [shop.product, 'Engine Pro']) {
      expect(await shop.at([...issue, '-P', product])).toMatchObject({ code: 0, stdout: first.stdout });
    }
    expect(await shop.keys()).toHaveLength(40);
  });

  it('keeps the numbers of its rows when one of them is left out', async () => {
    await using shop = await bulkShop();
    shop.write('orders.csv', 'seats\n1\nx\n3\n');
    const { code, stdout } = await shop.at([...issue, '--skip-invalid', '--fields', 'row,reference']);
    expect(code).toBe(12);
    expect(stdout).toMatch(/^row,reference\n1,run-[\da-f]{16}-1\n3,run-[\da-f]{16}-3\n$/);
  });

  it('is issued once by two commands at one time', async () => {
    await using shop = await bulkShop();
    shop.write('orders.csv', ORDERS);
    const both = await Promise.all(
      ['one', 'two'].map((name) => shop.at(issue, { env: { LKM_STATE_DIR: join(shop.cwd, name) } })),
    );
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(both[0]?.stdout).toBe(both[1]?.stdout);
    expect(await shop.keys()).toHaveLength(40);
  });
});

describe('keys that are renewed by a file', () => {
  const renew = ['keys', 'renew', '-f', 'keys.csv', '--for', '1y', '--concurrency', '1'];

  /** A shop with a file of three keys, and in which year each of them ends. */
  async function withKeys() {
    const shop = await bulkShop();
    const made = await shop.at(['keys', 'create', '--count', '3', '--expires', '2027-06-30', '-q']);
    shop.write('keys.csv', `key\n${made.stdout}`);
    const years = async () =>
      (await shop.keys())
        .map(({ expirationDate }: { expirationDate: string }) => expirationDate.slice(0, 4))
        .toSorted();
    return { ...shop, years };
  }

  it('are renewed once by a command that is given again within a day', async () => {
    await using shop = await withKeys();
    const first = await shop.at([...renew, '--json']);
    shop.pass(22);
    expect(await shop.at([...renew, '--json'])).toMatchObject({ code: 0, stdout: first.stdout });
    expect(await shop.years()).toEqual(['2028', '2028', '2028']);
  });

  it('are not renewed again later on, unless that is a run of its own', async () => {
    await using shop = await withKeys();
    await shop.at(renew);
    shop.pass(25);
    expect(await shop.at(renew)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /^error: this run was done on 2026-11-21 12:00 UTC\n.*\n {2}To do it once more: {2}add --run NAME\n$/s,
      ),
    });
    expect(await shop.years()).toEqual(['2028', '2028', '2028']);
    expect((await shop.at([...renew, '--run', '2027'])).code).toBe(0);
    expect(await shop.years()).toEqual(['2029', '2029', '2029']);
  });

  it.each([25, -3])('are not sent again %i hours after they were stopped, unless that is asked for', async (hours) => {
    await using shop = await withKeys();
    const before = shop.sent.length;
    shop.meddle((_, number) => (number - before > 1 ? unauthorized() : null));
    expect((await shop.at(renew)).code).toBe(4);
    shop.meddle(() => null);
    shop.pass(hours);
    const late = await shop.at(renew);
    expect(late.code).toBe(2);
    expect(late.stderr).toContain('did not end\n');
    expect(late.stderr).toContain('add --restart\n');
    expect(await shop.years()).toEqual(['2027', '2027', '2028']);
    expect((await shop.at([...renew, '--restart'])).code).toBe(0);
    expect(await shop.years()).toEqual(['2028', '2028', '2029']);
  });

  it('are renewed once more by a restart, however often that is stopped and given again', async () => {
    await using shop = await withKeys();
    const stopAfter = async (rows: number, ...more: string[]) => {
      const before = shop.sent.length;
      shop.meddle((_, number) => (number - before > rows ? unauthorized() : null));
      expect((await shop.at([...renew, ...more])).code).toBe(4);
      shop.meddle(() => null);
    };
    await stopAfter(1);
    // The service still knows the first row, and then no longer.
    shop.pass(23.5);
    await stopAfter(1, '--restart');
    shop.pass(20);
    expect((await shop.at([...renew, '--restart'])).code).toBe(0);
    shop.pass(1);
    expect((await shop.at(renew)).code).toBe(0);
    expect(await shop.years()).toEqual(['2028', '2028', '2029']);
  });

  it('are not sent where the marker of their run is damaged', async () => {
    await using shop = await withKeys();
    await shop.at(renew);
    const folder = join(shop.cwd, '.local/state/lkm/runs');
    for (const name of readdirSync(folder)) writeFileSync(join(folder, name), 'rubbish');
    shop.sent.length = 0;
    const { code, stderr } = await shop.at(renew);
    expect({ code, sent: shop.sent }).toEqual({ code: 13, sent: [] });
    expect(stderr).toContain('.json is damaged\n');
  });
});

describe('a row whose key stands for another request', () => {
  const reused = () => Response.json({ message: 'Idempotency key reused', code: 3 }, { status: 400 });

  it('is issued under its reference all the same', async () => {
    await using shop = await bulkShop();
    shop.meddle((_, number) => (number === 1 ? reused() : null));
    expect((await shop.at(['keys', 'create', '--count', '1'])).code).toBe(0);
    expect(new Set(shop.sent.map(({ key }) => key)).size).toBe(2);
  });

  it('may have been renewed: nobody knows', async () => {
    await using shop = await bulkShop();
    const key = (await shop.at(['keys', 'create'])).stdout.trim();
    shop.write('keys.csv', `key\n${key}\n`);
    shop.meddle(reused);
    const { code, stdout, stderr } = await shop.at(['keys', 'renew', '-f', 'keys.csv', '--for', '1y', '--json']);
    expect({ code, rows: JSON.parse(stdout) }).toMatchObject({ code: 12, rows: [{ status: 'unknown' }] });
    expect(stderr).toContain('warning: renewed 0 of 1 key · 1 unknown');
  });
});
