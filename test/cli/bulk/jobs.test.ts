import { describe, expect, it, vi } from 'vitest';
import { readSettings } from '../../../src/cli/config/settings.ts';
import { showBar } from '../../../src/cli/output/progress.ts';
import { fakeIo, NOW } from '../fake-io.ts';
import { bulkShop, unauthorized } from './bulk-shop.ts';

const inactive = Response.json({ message: 'Product not found or inactive', code: 1 }, { status: 404 });

describe('lkm jobs', () => {
  it('lists runs with how far they have come', async () => {
    await using shop = await bulkShop();
    expect((await shop.at(['jobs', 'list'])).stderr).toBe(
      'no bulk run yet; lkm keys create --count N, or -f FILE, makes one\n',
    );
    await shop.at(['keys', 'create', '--count', '2']);
    shop.write('c.csv', 'name\nAda\n');
    await shop.at(['customers', 'create', '-f', 'c.csv', '--run', 'ada'], { now: NOW + 60_000 });
    expect(await shop.json('jobs', 'list')).toMatchObject([
      { name: null, command: 'keys create', file: null, rows: 2, done: 2, failed: 0, unknown: 0, open: 0 },
      {
        name: 'ada',
        command: 'customers create',
        file: 'c.csv',
        rows: 1,
        done: 1,
        origin: 'https://licensing.example.com',
      },
    ]);
  });

  it.each(['resume', 'retry'])('%s takes no more rows at a time than a new run', async (verb) => {
    await using shop = await bulkShop();
    const { code, stderr } = await shop.at(['jobs', verb, 'may', '--concurrency', '1000']);
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--concurrency: '1000' is not a whole number from 1 to 256"),
    });
  });

  it('finds a run by its id, the start of it, and its name', async () => {
    await using shop = await bulkShop();
    const made = await shop.json('keys', 'create', '--count', '2', '--run', 'may');
    const [{ id }] = await shop.json('jobs', 'list');
    for (const text of [id, id.slice(0, 4), 'may']) expect(await shop.json('jobs', 'show', text)).toEqual(made);
    const { code, stderr } = await shop.at(['jobs', 'show', 'nothing']);
    expect({ code, stderr }).toEqual({
      code: 6,
      stderr: "error: there is no run 'nothing'\n  See them:  lkm jobs list\n",
    });
  });

  it('resumes a run without its file, and prints the rows of all of it', async () => {
    await using shop = await bulkShop();
    shop.write('rows.csv', 'reference\na\nb\nc\n');
    shop.meddle((_, number) => (number === 2 ? unauthorized() : null));
    expect((await shop.at(['keys', 'create', '-f', 'rows.csv', '--concurrency', '1'])).code).toBe(4);
    shop.meddle(() => null);
    const [{ id, open }] = await shop.json('jobs', 'list');
    expect(open).toBe(2);
    const rows = await shop.json('jobs', 'resume', id);
    expect(rows.map(({ reference, status }: Record<string, string>) => [reference, status])).toEqual([
      ['a', 'created'],
      ['b', 'created'],
      ['c', 'created'],
    ]);
    expect(await shop.keys()).toHaveLength(3);
    expect(await shop.json('keys', 'create', '-f', 'rows.csv', '--concurrency', '1')).toEqual(rows);
  });

  it('retries failed rows under new keys, and them alone', async () => {
    await using shop = await bulkShop();
    shop.meddle((_, number) => (number === 2 ? inactive.clone() : null));
    const argv = ['keys', 'create', '--count', '3', '--concurrency', '1'];
    expect((await shop.at(argv)).code).toBe(12);
    shop.meddle(() => null);
    expect((await shop.at(argv)).code).toBe(12);
    expect(shop.sent).toHaveLength(3);
    const [{ id }] = await shop.json('jobs', 'list');
    expect((await shop.at(['jobs', 'retry', id])).stderr).toContain('created 3 of 3 keys');
    expect(shop.sent).toHaveLength(4);
    expect(new Set(shop.sent.map(({ key }) => key)).size).toBe(4);
    expect((await shop.at(argv)).code).toBe(0);
    expect(await shop.keys()).toHaveLength(3);
  });

  it('does not count a row as failed whose key stands for another request: it may have been done', async () => {
    await using shop = await bulkShop();
    shop.meddle(() => Response.json({ message: 'Idempotency key reused', code: 3 }, { status: 400 }));
    expect((await shop.at(['keys', 'create', '--count', '1'])).code).toBe(12);
    expect(await shop.json('jobs', 'list')).toMatchObject([{ failed: 0, unknown: 1 }]);
  });

  it('touches no other service than that of the run', async () => {
    await using shop = await bulkShop();
    await shop.at(['keys', 'create', '--count', '1']);
    const [{ id }] = await shop.json('jobs', 'list');
    const { code, stderr } = await shop.at(['jobs', 'resume', id, '--base-url', 'https://other.example.com']);
    expect(code).toBe(2);
    expect(stderr).toContain(
      'is of https://licensing.example.com, and this command is about to call https://other.example.com',
    );
  });
});

describe('the progress of a run', () => {
  it('is drawn on a terminal only, and gone in the end', async () => {
    await using shop = await bulkShop();
    const drawn = await shop.at(['keys', 'create', '--count', '2', '--expires', '1y'], { terminal: { stderr: true } });
    expect(drawn.stderr).toContain(`\r\u001b[K${'░'.repeat(24)} 0 of 2 created`);
    expect(drawn.stderr).toMatch(/\[Kcreated 2 of 2 keys · run \w{12}\n$/);
    const plain = await shop.at(['keys', 'create', '--count', '3']);
    expect(plain.stderr).not.toContain('\r');
    const still = await shop.at(['keys', 'create', '--count', '4', '--expires', '1y', '--no-progress'], {
      terminal: { stderr: true },
    });
    expect(still.stderr).toMatch(/^created 4 of 4 keys · run \w{12}\n$/);
  });

  it('says how far it has come, how fast it goes and what it waits for; every ten seconds where nothing may move', () => {
    vi.useFakeTimers({ now: NOW });
    try {
      const { io, printed } = fakeIo({ terminal: { stderr: true } });
      const settings = readSettings({ progress: false, color: false }, io);
      const bar = showBar({ word: 'created', total: 500, settled: 100, failed: 3 }, settings, { ...io, now: Date.now });
      vi.advanceTimersByTime(10_500);
      bar.add(false);
      for (let more = 0; more < 399; more++) bar.add(true);
      bar.waiting(14_200);
      vi.advanceTimersByTime(10_000);
      expect(printed.stderr).toBe(
        '100 of 500 created · 3 failed\n' +
          '500 of 500 created · 4 failed · 20/s · the service asks to wait 5 seconds\n',
      );
    } finally {
      vi.useRealTimers();
    }
  });
});
