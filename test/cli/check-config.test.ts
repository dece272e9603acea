import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { migrations } from '../../src/store/migrations/index.ts';
import { selfSigned } from '../client/self-signed.ts';
import { occupiedPort } from '../support/ports.ts';
import { lkm, NOW, type Surroundings, tempFolder } from './fake-io.ts';
import { started } from './started.ts';

interface Found {
  readonly check: string;
  readonly status: string;
  readonly detail: string;
  readonly advice: string | null;
}

/** What `lkm serve --check-config` found, by the names of its checks. */
async function checked(argv: readonly string[], surroundings: Surroundings = {}) {
  const { code, stdout } = await lkm(['serve', '--check-config', '--json', '--port', '0', ...argv], surroundings);
  const { ok, checks }: { ok: boolean; checks: Found[] } = JSON.parse(stdout);
  expect({ ok, code }).toEqual(ok ? { ok, code: 0 } : { ok, code: 13 });
  return { ok, found: Object.fromEntries(checks.map(({ check, ...rest }) => [check, rest])) };
}

/** Every file below a folder, with all that a change of it would change. */
function contents(folder: string): unknown[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const stats = lstatSync(join(folder, name));
      const text = stats.isFile() ? readFileSync(join(folder, name)).toString('latin1') : '';
      return [name, stats.mode, stats.mtimeMs, text];
    });
}

const MASTER = Buffer.alloc(32, 7).toString('base64');

const make = (cwd: string, env: Surroundings['env'] = {}) =>
  lkm(['products', 'create', '--name', 'Editor', '--db', 'lkm.db', '--create', '-q'], { cwd, env });

describe('lkm serve --check-config', () => {
  it('finds nothing wrong with a new server, and makes nothing', async () => {
    const cwd = tempFolder();
    const argv = ['--backup-every', '1h', '--backup-dir', 'deep/backups', '--metrics', '0', '--seed'];
    const { ok, found } = await checked(argv, { cwd, env: { LKM_MASTER_KEY: MASTER } });
    expect(ok).toBe(true);
    expect(Object.entries(found).map(([name, { status }]) => `${name} ${status}`)).toEqual([
      ...['lkm ok', 'config ok', 'state ok', 'exposure ok', 'database ok', 'secrets ok', 'disk ok', 'backups ok'],
      ...['address ok', 'metrics ok'],
    ]);
    expect(found.database?.detail).toBe(`${join(cwd, '.local/share/lkm/lkm.db')} does not exist yet`);
    expect(found.secrets?.detail).toBe('sealed under the master key of LKM_MASTER_KEY');
    expect(contents(cwd)).toEqual([]);
  });

  it('is a line for each check on a terminal', async () => {
    const { code, stdout, stderr } = await lkm(['serve', '--check-config', '--host', '0.0.0.0', '--port', '0'], {
      terminal: true,
      env: { TERM: 'dumb' },
    });
    expect(code).toBe(13);
    expect(stdout).toMatch(/^ok {4}lkm {7}0\.0\.0-dev/);
    expect(stdout).toMatch(
      /\nfail {2}exposure {2}0\.0\.0\.0 is reached from other machines, .*\n {16}give a certificate/,
    );
    expect(stderr).toBe('warning: 1 check failed, 1 warning\n');
  });

  it('changes nothing in a database that is there, and says that its secrets are plain', async () => {
    const cwd = tempFolder();
    await make(cwd);
    const before = contents(cwd);
    const { ok, found } = await checked(['--db', 'lkm.db'], { cwd });
    expect(ok).toBe(true);
    expect(found.database).toMatchObject({ status: 'ok', detail: expect.stringContaining('SQLite, ') });
    expect(found.secrets).toMatchObject({ status: 'warn', advice: 'Seal them: lkm db rekey' });
    expect(contents(cwd)).toEqual(before);
  });

  it('looks at a database while it is served, and says by whom', async () => {
    const cwd = tempFolder();
    const { printed, stop } = await started(['--db', 'lkm.db', '--json'], { cwd });
    const { url, port } = JSON.parse(printed.stdout);
    const names = () => readdirSync(cwd).sort();
    const before = names();
    const { found } = await checked(['--db', 'lkm.db', '--port', String(port)], { cwd });
    expect(names()).toEqual(before);
    expect(found.database?.detail).toBe(
      `${join(cwd, 'lkm.db')}, SQLite, is served by process ${process.pid} at ${url}`,
    );
    expect(found.address).toMatchObject({ status: 'fail', detail: `port ${port} on 127.0.0.1 is in use` });
    expect((await fetch(`${url}/ready`)).status).toBe(200);
    expect(await stop()).toBe(0);
    expect((await checked(['--db', 'lkm.db'], { cwd })).ok).toBe(true);
  });

  it('warns of a network of proxies that is everybody', async () => {
    const { ok, found } = await checked(['--db', 'lkm.db', '--host', '0.0.0.0', '--behind-proxy', '0.0.0.0/0'], {
      cwd: tempFolder(),
    });
    expect(ok).toBe(true);
    expect(found.exposure).toMatchObject({ status: 'warn', detail: expect.stringMatching(/which is everybody$/) });
  });

  it.each<[what: string, env: Record<string, string>, made: Record<string, string>, status: string, detail: RegExp]>([
    ['the master key of a database', { LKM_MASTER_KEY: MASTER }, { LKM_MASTER_KEY: MASTER }, 'ok', /^sealed under/],
    ['that there is none', {}, { LKM_MASTER_KEY: MASTER }, 'fail', /sealed, and there is no master key$/],
    [
      'that it is another',
      { LKM_MASTER_KEY: MASTER.replace('B', 'C') },
      { LKM_MASTER_KEY: MASTER },
      'fail',
      /not that/,
    ],
    ['one for plain secrets', { LKM_MASTER_KEY: MASTER }, {}, 'fail', /are plain, and there is a master key$/],
    ['one that is none', { LKM_MASTER_KEY: 'short' }, {}, 'fail', /^LKM_MASTER_KEY does not hold a master key/],
    ['one that is not there', { LKM_MASTER_KEY_FILE: 'none' }, {}, 'fail', /^none is not there$/],
  ])('finds %s', async (_, env, made, status, detail) => {
    const cwd = tempFolder();
    await make(cwd, made);
    const before = contents(cwd);
    const { ok, found } = await checked(['--db', 'lkm.db'], { cwd, env });
    expect(found.secrets).toMatchObject({ status, detail: expect.stringMatching(detail) });
    expect(ok).toBe(status === 'ok');
    expect(contents(cwd)).toEqual(before);
  });

  it('names the migrations that would run, and runs none; a newer database is refused', async () => {
    const cwd = tempFolder();
    await make(cwd);
    const last = Object.keys(migrations).at(-1);
    const database = new DatabaseSync(join(cwd, 'lkm.db'));
    database.prepare('delete from kysely_migration where name = ?').run(String(last));
    const older = await checked(['--db', 'lkm.db'], { cwd });
    expect(older.found.database).toMatchObject({
      status: 'warn',
      detail: expect.stringMatching(new RegExp(`1 migration to run, ${last}$`)),
    });
    expect(database.prepare('select count(*) as n from kysely_migration').get()).toEqual({
      n: Object.keys(migrations).length - 1,
    });
    database.exec(`insert into kysely_migration values ('9999-later', '2030-01-01')`);
    database.close();
    const newer = await checked(['--db', 'lkm.db'], { cwd });
    expect(newer.found.database).toMatchObject({ status: 'fail', detail: expect.stringMatching(/newer lkm/) });
  });

  it.each<[what: string, text: string, detail: RegExp]>([
    ['a file of another kind', 'nothing of ours, but long enough to be a file'.repeat(40), /is not a database$/],
    ['a folder', '', /is a folder$/],
  ])('refuses %s', async (_, text, detail) => {
    const cwd = tempFolder();
    if (text === '') mkdirSync(join(cwd, 'lkm.db'));
    else writeFileSync(join(cwd, 'lkm.db'), text);
    const { found } = await checked(['--db', 'lkm.db'], { cwd });
    expect(found.database).toMatchObject({ status: 'fail', detail: expect.stringMatching(detail) });
  });

  it('does not fill a database that has data', async () => {
    const cwd = tempFolder();
    await make(cwd);
    const { found } = await checked(['--db', 'lkm.db', '--seed'], { cwd });
    expect(found.seed).toMatchObject({ status: 'fail', detail: expect.stringContaining('has data already') });
  });

  describe('looks at a certificate, and', () => {
    const other =
      '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n-----END PRIVATE KEY-----\n';
    it.each<[what: string, files: { key?: string; mode?: number }, now: number, status: string, detail: RegExp]>([
      ['finds it good', {}, NOW, 'ok', /^for localhost, 127\.0\.0\.1, the certificate expires in \d+ days$/],
      ['finds that it expires soon', {}, Date.parse('2126-10-20T00:00:00Z'), 'warn', /expires in 8 days$/],
      [
        'finds that it has expired',
        {},
        Date.parse('2127-01-01T00:00:00Z'),
        'fail',
        /certificate expired on Oct 28 .* 2126/,
      ],
      [
        'finds that it is not valid yet',
        {},
        Date.parse('2026-11-01T00:00:00Z'),
        'fail',
        /certificate is not valid before Nov 21/,
      ],
      ['finds the key of another', { key: other }, NOW, 'fail', /^key\.pem is not the key of the certificate/],
      ['finds a key that others can read', { mode: 0o644 }, NOW, 'fail', /^key\.pem holds a secret, and others/],
      ['finds none', { key: 'x' }, NOW, 'fail', /^key\.pem does not hold a private key/],
    ])('%s', async (_, { key = selfSigned.key, mode = 0o600 }, now, status, detail) => {
      const cwd = tempFolder();
      writeFileSync(join(cwd, 'cert.pem'), selfSigned.cert);
      writeFileSync(join(cwd, 'key.pem'), key, { mode });
      const argv = ['--tls-cert', 'cert.pem', '--tls-key', 'key.pem', '--host', '0.0.0.0'];
      const { found } = await checked(argv, { cwd, now });
      expect(found.tls).toMatchObject({ status, detail: expect.stringMatching(detail) });
      expect(found.exposure).toMatchObject({ status: 'ok', detail: '0.0.0.0, over HTTPS' });
    });

    it('wants its key too', async () => {
      const { found } = await checked(['--tls-cert', 'cert.pem']);
      expect(found.tls).toMatchObject({ status: 'fail', detail: '--tls-cert and --tls-key go together' });
    });
  });

  it('finds addresses that are taken, also by one another', async () => {
    const taken = await occupiedPort();
    const { port } = taken;
    const metrics = await checked(['--metrics', String(port)]);
    expect(metrics.found.metrics).toMatchObject({ status: 'fail', detail: `port ${port} on 127.0.0.1 is in use` });
    await taken[Symbol.asyncDispose]();
    const both = await checked(['--port', String(port), '--metrics', String(port)]);
    expect(both.found.address?.status).toBe('ok');
    expect(both.found.metrics?.status).toBe('fail');
    const free = await checked(['--port', String(port)]);
    expect(free.found.address).toMatchObject({ status: 'ok', detail: `127.0.0.1, port ${port} is free` });
  });

  it('finds what is wrong with the proxy and the folder of the backups', async () => {
    const cwd = tempFolder();
    mkdirSync(join(cwd, 'open'));
    chmodSync(join(cwd, 'open'), 0o777);
    const argv = ['--behind-proxy', 'proxy.example', '--backup-every', '1h', '--backup-dir', 'open'];
    const { found } = await checked(argv, { cwd });
    expect(found.exposure).toMatchObject({ status: 'fail', detail: 'proxy.example is not a network of proxies' });
    expect(found.backups).toMatchObject({
      status: 'fail',
      detail: expect.stringMatching(/^others than its owner may/),
    });
    writeFileSync(join(cwd, 'file'), '');
    const inFile = await checked(['--backup-every', '1h', '--backup-dir', 'file/backups'], { cwd });
    expect(inFile.found.backups).toMatchObject({
      status: 'fail',
      detail: expect.stringMatching(/cannot be made: \S+file /),
    });
    const alone = await checked(['--backup-keep', '3'], { cwd });
    expect(alone.found.backups).toMatchObject({ status: 'fail', detail: expect.stringContaining('--backup-every') });
    expect(existsSync(join(cwd, 'file/backups'))).toBe(false);
  });

  it('runs no command', async () => {
    const { code, stderr } = await lkm(['serve', '--check-config', '--', 'echo']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--check-config does not go with a command behind --')]);
  });
});
