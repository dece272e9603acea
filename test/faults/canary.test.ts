import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lacksMounts, mountSmallDisk } from '../../faults/small-disk.ts';
import { listEndpoints } from '../../src/contract/index.ts';
import { mintToken } from '../../src/domain/token.ts';
import { type Belongings, type EndpointName, furnish, validRequests } from '../support/requests.ts';
import { pathWith } from '../support/scenario.ts';
import { leaks, secretsIn } from '../support/secrets.ts';
import type { Answer, World } from '../support/world.ts';

const lkm = join(import.meta.dirname, '../../bin/lkm.js');
const STOLEN = mintToken('admin', new Uint8Array(32).fill(3));
const MASTER = Buffer.alloc(32, 9).toString('base64');

/** Where commands run: a folder as they see it, and as this process does. */
type Place = Awaited<ReturnType<typeof mountSmallDisk>>;

/** The built command in a place; all that it writes to stderr is added to `log`. */
function start(words: readonly string[], { through, inside }: Place, log: string[]) {
  const [program = '', ...argv] = [...through, process.execPath, lkm, ...words];
  const env = { PATH: process.env.PATH, HOME: inside, LKM_MASTER_KEY_FILE: join(inside, 'master.key') };
  const child = spawn(program, argv, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stderr.on('data', (bytes) => log.push(String(bytes)));
  return { child, ended: once(child, 'close') };
}

async function serve(place: Place, log: string[]) {
  const options = ['--port', '0', '--metrics', '0', '--rate-limit', 'off', '--json', '--log-format', 'json', '--debug'];
  const backups = ['--backup-every', '1s', '--backup-keep', '2', '--backup-dir', join(place.inside, 'backups')];
  const { child, ended } = start(['serve', '--db', join(place.inside, 'lkm.db'), ...options, ...backups], place, log);
  const [line] = await once(child.stdout, 'data');
  const { url, metrics }: { url: string; metrics: string } = JSON.parse(String(line));
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await ended;
  };
  return { url, metrics, end };
}

/** Sends every request of the contract: as it should be, broken, and with a token that was stolen. */
async function callEverything(call: World['call'], own: Belongings): Promise<void> {
  for (const { name, endpoint } of listEndpoints()) {
    const { query, body } = validRequests[name as EndpointName](own);
    const path = pathWith(endpoint, query);
    const broken = body === undefined ? undefined : { ...Object(body), productId: [own.licenseKey], extra: EMAIL };
    await call('admin', endpoint.method, path, broken);
    await call('admin', endpoint.method, path, body, { Authorization: `Bearer ${STOLEN}` });
    await call('admin', endpoint.method, path, body, { 'Idempotency-Key': `canary-${name}` });
  }
}

const EMAIL = 'canary-4b1d@example.com';

const commandLines = (): string =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
      } catch {
        return ''; // it has ended
      }
    })
    .join('\n');

describe('a server that is killed, and whose disk is full,', () => {
  it('leaves no secret in its log, its record, its metrics, its files or the list of processes', {
    timeout: 120_000,
  }, async ({ skip }) => {
    const lacking = lacksMounts();
    if (lacking !== null) skip(lacking);
    const disk = await mountSmallDisk(24);
    writeFileSync(join(disk.folder, 'master.key'), MASTER, { mode: 0o600 });
    const log: string[] = [];
    const answers: string[] = [];
    const statuses = new Set<number>();
    let url = '';
    let token = '';
    const call: World['call'] = async (_, method, path, body, headers): Promise<Answer> => {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(5_000),
      }).catch(() => new Response('{}', { status: 599 }));
      const text = await response.text().catch(() => '{}');
      answers.push(text);
      statuses.add(response.status);
      return { status: response.status, text, body: text.startsWith('{') ? JSON.parse(text) : null } as Answer;
    };

    const first = await serve(disk, log);
    url = first.url;
    token = JSON.parse(readFileSync(join(disk.folder, '.config/lkm/config.json'), 'utf8')).profiles.local.token;
    await callEverything(call, await furnish({ call }, 'admin', EMAIL));
    const other = await furnish({ call }, 'admin', `killed-${EMAIL}`);
    const underWay = callEverything(call, other);
    const before = answers.length;
    await expect.poll(() => answers.length).toBeGreaterThan(before + 5);
    await first.end('SIGKILL');
    await underWay;

    const second = await serve(disk, log);
    url = second.url;
    const third = await furnish({ call }, 'admin', `full-${EMAIL}`);
    disk.fill();
    const processes = commandLines();
    await callEverything(call, third);
    // What is left of the log behind the database is written first, and backups that were removed give space back.
    for (let round = 0; round < 3_000 && !statuses.has(500); round += 1) {
      disk.fill();
      await call('admin', 'POST', '/customer', { name: 'Zoë', email: `${round}-${EMAIL}` });
    }
    await callEverything(call, third);
    const scraped = await (await fetch(second.metrics)).text();
    disk.free();
    const create = async () =>
      (await call('admin', 'POST', '/customer', { name: 'Zoë', email: `free-${EMAIL}` })).status;
    await expect.poll(create).toBe(201);
    const backup = start(
      ['db', 'backup', join(disk.inside, 'b.db'), '--db', join(disk.inside, 'lkm.db'), '--debug'],
      disk,
      log,
    );
    expect((await backup.ended)[0]).toBe(0);
    const listed = `${(await call('admin', 'GET', '/audit/list?limit=1000')).text}${(await call('admin', 'GET', '/event/list?limit=1000')).text}`;
    // The addresses of customers are read beside the record, for who may list customers.
    const record = listed.replaceAll(/"customerEmail":"[^"]*"/g, '');
    const read = (folder: string) =>
      readdirSync(join(disk.folder, folder), { withFileTypes: true })
        .filter((one) => one.isFile() && /\.db/.test(one.name))
        .map((one) => readFileSync(join(disk.folder, folder, one.name), 'latin1'));
    const files = [...read('.'), ...read('backups')];
    await second.end('SIGTERM');
    files.push(...read('.'));
    await disk.remove();

    const secrets = secretsIn(answers.join('\n'), {
      token: [token, STOLEN],
      'master key': [MASTER],
      email: [EMAIL],
      'idempotency key': ['canary-keys.create'],
    });
    const text = log.join('');
    expect(leaks(secrets, { log: text, record, scraped, processes }, { files: files.join('') })).toEqual([]);
    // Not because nothing was looked at: both faults have come to pass.
    expect([599, 500, 200].filter((status) => !statuses.has(status))).toEqual([]);
    expect(text).toContain('"route":"/key/sign"');
    expect(text).toMatch(/full|ENOSPC|SQLITE_FULL/);
    expect(record).toContain('license.created');
    expect(scraped).toContain('route="/key/sign"');
    expect(processes).toContain('bin/lkm.js');
    expect(files.length).toBeGreaterThan(4);
  });
});
