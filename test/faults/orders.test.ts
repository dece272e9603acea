import { existsSync, mkdtempDisposableSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { lkm, run, start, startListening } from '../../faults/process.ts';
import { createRandom } from '../../faults/random.ts';
import { freePort } from '../support/ports.ts';

const ROWS = 4_000;
const KILLS = 20;
/** The kills in which the server goes with the command. */
const WITH_SERVER = [7, 14];
/** The kills after which a command begins with an empty state folder, and after which 25 hours pass. */
const [NEW_STATE, NEXT_DAY] = [5, 12];
const HOURS = 25;
const START = Date.parse('2026-11-28T12:00:00Z');

/** A file of a shop: line ends of two systems, quotes, breaks inside of cells, and no order numbers. */
const orders = [
  '\ufeffBuyer,Seats,Comment',
  ...Array.from({ length: ROWS }, (_, at) => `"Buyer ${at + 1}, Ltd",${(at % 5) + 1},"line 1\r\nline 2"`),
]
  .map((line, at) => line + (at % 3 === 0 ? '\n' : '\r\n'))
  .join('');
const create = ['keys', 'create', '-f', 'orders.csv', '--expires', '2030-01-01', '--format', 'csv', '-v'];
const mapping = ['--map', 'Buyer=metadata.buyer', '--map', 'Seats=maxActivations', '--map', 'Comment='];

test(`${ROWS} rows, killed at ${KILLS} random rows: ${ROWS} keys, and the same file each time`, {
  timeout: 600_000,
}, async () => {
  const random = createRandom(Number(process.env.LKM_TEST_SEED ?? 20_261_128));
  using folder = mkdtempDisposableSync(join(tmpdir(), 'lkm-orders-'));
  const cwd = folder.path;
  const db = join(cwd, 'lkm.db');
  const home = { PATH: process.env.PATH, HOME: cwd };
  const onDatabase = (...argv: string[]) => run([...lkm, ...argv, '--db', db], { cwd, env: home });
  await onDatabase('db', 'migrate');
  const product = await onDatabase('products', 'create', '--name', 'Engine Pro', '-q');
  const only = ['--kind', 'scoped', '--scope', 'license:write', '--product', product, '--max-issues', String(ROWS)];
  const token = await onDatabase('tokens', 'create', ...only, '--name', 'CI', '--expires', '30d', '-q');
  const admin = await onDatabase('tokens', 'create', '--kind', 'admin', '--name', 'clock', '--expires', '30d', '-q');
  writeFileSync(join(cwd, 'orders.csv'), orders);
  const port = String(await freePort());
  let now = START;
  const serve = () =>
    startListening(
      [...lkm, 'serve', '--db', db, '--port', port, '--json', '--log-format', 'none', '--rate-limit', '1000000'].concat(
        '--clock',
        new Date(now).toISOString(),
      ),
      { cwd, env: home },
    );
  let server = await serve();

  async function passHours(): Promise<void> {
    now += HOURS * 3_600_000;
    const { status } = await fetch(`${server.url}/_test/clock`, {
      method: 'POST',
      headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
      body: JSON.stringify({ now: new Date(now).toISOString() }),
    });
    expect(status).toBe(200);
    using database = new DatabaseSync(db, { timeout: 10_000 });
    // What the daily cleanup does.
    database.prepare('DELETE FROM idempotency WHERE created_at < ?').run(new Date(now - 86_400_000).toISOString());
  }

  let states = 1;
  const begin = (output: string) =>
    start([...lkm, ...create, ...mapping, '-o', output], {
      cwd,
      env: {
        ...home,
        LKM_BASE_URL: server.url,
        LKM_TOKEN: token,
        LKM_PRODUCT: product,
        LKM_STATE_DIR: join(cwd, `state-${states}`),
      },
    });
  const killedAt: number[] = [];
  for (let kill = 1; kill <= KILLS; kill += 1) {
    const command = begin('keys.csv');
    command.stdout.resume();
    const target = random.between(1, ROWS - 200);
    let rows = 0;
    for await (const line of createInterface({ input: command.stderr })) {
      if (line.startsWith('POST /create-key') && ++rows === target) break;
    }
    command.signal('SIGKILL');
    if (WITH_SERVER.includes(kill)) {
      await server.end('SIGKILL');
      server = await serve();
    }
    expect(await command.ended).toBe('SIGKILL');
    killedAt.push(rows);
    expect(existsSync(join(cwd, 'keys.csv'))).toBe(false);
    if (kill === NEW_STATE) states += 1;
    if (kill === NEXT_DAY) await passHours();
  }
  expect(killedAt).toHaveLength(KILLS);

  async function finish(output: string): Promise<string> {
    const command = begin(output);
    command.stdout.resume();
    expect(await command.ended, command.said()).toBe(0);
    return readFileSync(join(cwd, output), 'utf8');
  }
  const file = await finish('keys.csv');
  expect(await finish('keys.csv')).toBe(file);
  states += 1;
  expect(await finish('elsewhere.csv')).toBe(file);
  await passHours();
  states += 1;
  expect(await finish('next-day.csv')).toBe(file);
  await server.end('SIGTERM');

  const { parse } = await import('csv-parse/sync');
  const results: Record<string, string>[] = parse(file, { bom: true, columns: true });
  expect(results.map(({ Buyer, Seats, Comment, status }) => [Buyer, Seats, Comment, status])).toEqual(
    Array.from({ length: ROWS }, (_, at) => [
      `Buyer ${at + 1}, Ltd`,
      String((at % 5) + 1),
      'line 1\r\nline 2',
      'issued',
    ]),
  );
  const keys = results.map(({ key }) => key);
  expect(new Set(keys).size).toBe(ROWS);
  expect((await onDatabase('keys', 'list', '-q')).split('\n').sort()).toEqual(keys.sort());
  expect(
    readdirSync(cwd)
      .filter((name) => name.endsWith('.csv'))
      .sort(),
  ).toEqual(['elsewhere.csv', 'keys.csv', 'next-day.csv', 'orders.csv']);
});
