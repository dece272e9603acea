import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { connect } from 'node:tls';
import { describe, expect, it, vi } from 'vitest';
import { createSelfSigned } from '../../src/server/http/transport/self-signed.ts';
import { selfSigned } from '../client/self-signed.ts';
import { openConnection } from '../support/raw-http.ts';
import { absentIds } from '../support/requests.ts';
import { lkm, NOW, tempFolder } from './fake-io.ts';
import { scriptedService } from './scripted-service.ts';
import { started } from './started.ts';

/** Which servers are on record on a machine, once a statement has been run there. */
function servers(cwd: string, sql = ''): unknown[] {
  const state = new DatabaseSync(join(cwd, '.local/state/lkm/state.db'));
  state.exec(sql);
  const rows = state.prepare('select db from server').all();
  state.close();
  return rows;
}

describe('lkm serve', () => {
  it('says in its first line where it listens, serves, and ends well when told to', async () => {
    const cwd = tempFolder();
    const { printed, stop } = await started(['--json'], { cwd });
    const { url, port, ...ready } = JSON.parse(printed.stdout);
    expect(ready).toEqual({ event: 'ready', pid: 4121, db: join(cwd, '.local/share/lkm/lkm.db'), secrets: 'plain' });
    expect(url).toBe(`http://127.0.0.1:${port}`);
    expect((await fetch(`${url}/.well-known/jwks.json`)).status).toBe(200);
    expect(await stop()).toBe(0);
    await expect(fetch(url)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  });

  it('stores the token of a new database as profile local, readable by its owner only', async () => {
    const cwd = tempFolder();
    const { printed, stop } = await started(['--json'], { cwd });
    const { url, db } = JSON.parse(printed.stdout);
    const file = join(cwd, '.config/lkm/config.json');
    const { currentProfile, profiles } = JSON.parse(readFileSync(file, 'utf8'));
    expect({ currentProfile, profiles }).toEqual({
      currentProfile: 'local',
      profiles: { local: { baseUrl: url, token: expect.stringMatching(/^lkm_admin_/), db } },
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(cwd, '.config/lkm')).mode & 0o777).toBe(0o700);
    expect((await lkm(['products', 'create', '--name', 'Engine Pro'], { cwd })).code).toBe(0);
    expect(await stop()).toBe(0);
  });

  it('finds its profile again on another port', async () => {
    const cwd = tempFolder();
    await (await started([], { cwd })).stop();
    const { printed, stop } = await started([], { cwd });
    expect(printed.stderr).toContain('  profile   local\n');
    expect((await lkm(['products', 'list'], { cwd })).code).toBe(0);
    await stop();
  });

  it('keeps the token of each new database in a profile of its own', async () => {
    const cwd = tempFolder();
    const names = [];
    for (const db of ['a.db', 'b.db', 'c.db']) {
      const { printed, stop } = await started(['--db', db], { cwd });
      names.push(/^ {2}profile {3}(\S+)$/m.exec(printed.stderr)?.[1]);
      await stop();
    }
    expect(names).toEqual(['local', 'local-2', 'local-3']);
    const { profiles } = JSON.parse(readFileSync(join(cwd, '.config/lkm/config.json'), 'utf8'));
    const dbs = Object.entries(profiles as Record<string, { db: string; token: string }>);
    expect(dbs.map(([name, { db }]) => [name, db])).toEqual([
      ['local', join(cwd, 'a.db')],
      ['local-2', join(cwd, 'b.db')],
      ['local-3', join(cwd, 'c.db')],
    ]);
    expect(new Set(dbs.map(([, { token }]) => token)).size).toBe(3);
  });

  it('keeps the token of a database that was removed, and uses that of the new one in its place', async () => {
    const cwd = tempFolder();
    await (await started(['--db', 'a.db'], { cwd })).stop();
    rmSync(join(cwd, 'a.db'));
    const { stop } = await started(['--db', 'a.db'], { cwd });
    expect((await lkm(['-p', 'local', 'products', 'list'], { cwd })).code).toBe(0);
    await stop();
    const { profiles } = JSON.parse(readFileSync(join(cwd, '.config/lkm/config.json'), 'utf8'));
    expect(Object.keys(profiles)).toEqual(['local', 'local-2']);
  });

  it('is found as local while it runs, the newest first, each with its own token', async () => {
    const cwd = tempFolder();
    const first = await started(['--db', 'a.db'], { cwd, now: NOW - 1 });
    const second = await started(['--db', 'b.db'], { cwd });
    const create = (profile: string, name: string) =>
      lkm(['-p', profile, 'products', 'create', '--name', name], { cwd });
    expect((await create('local', 'newest')).code).toBe(0);
    await second.stop();
    expect((await create('local', 'older')).code).toBe(0);
    await first.stop();
    const names = async (db: string) =>
      (await lkm(['products', 'list', '--db', db, '--fields', 'name'], { cwd })).stdout.trim();
    expect([await names('a.db'), await names('b.db')]).toEqual(['older', 'newest']);
    expect(servers(cwd)).toEqual([]);
  });

  it('is told apart from one that has ended, whose port may be of another user', async () => {
    const cwd = tempFolder();
    const { stop } = await started(['--db', 'a.db'], { cwd });
    servers(cwd, "update server set writer = 'of-a-killed-process'");
    const ended = await lkm(['-p', 'local', 'products', 'list'], { cwd });
    expect(ended).toMatchObject({ code: 13, stdout: '' });
    expect(ended.stderr).toMatch(
      /^error: the server of profile local is not running, last at http:\S+\n {2}Nothing was sent/,
    );
    // What comes from elsewhere needs nothing of it; its token goes to no other program at that port.
    const { fetch, seen } = scriptedService([200, { action: 'products.list', status: true, data: [], code: 0 }]);
    const ask = (url: string, env: Record<string, string>) =>
      lkm(['products', 'list', '--base-url', url], { cwd, env, fetch });
    expect(await ask('https://shop.example', { LKM_TOKEN: 'lkm_scoped_one' })).toMatchObject({ code: 0 });
    expect(seen.map(({ authorization }) => authorization)).toEqual(['Bearer lkm_scoped_one']);
    const [, last = ''] = /last at (http:\S+)/.exec(ended.stderr) ?? [];
    expect(await ask(last, {})).toMatchObject({ code: 13, stderr: expect.stringContaining('is not running') });
    expect(seen).toHaveLength(1);
    await stop();
    const none = await lkm(['-p', 'local', 'products', 'list']);
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('no server of this user is running') });
  });

  it('removes the records of servers that were killed', async () => {
    const cwd = tempFolder();
    const killed = await started(['--db', 'a.db'], { cwd });
    servers(cwd, "update server set writer = 'of-a-killed-process'");
    const { stop } = await started(['--db', 'b.db'], { cwd });
    expect(servers(cwd)).toEqual([{ db: join(cwd, 'b.db') }]);
    await stop();
    await killed.stop();
  });

  it('serves a new database where its token cannot be stored, and says how to make one', async () => {
    const cwd = tempFolder();
    writeFileSync(join(cwd, 'file'), '');
    const { printed, stop } = await started(['--db', 'a.db'], {
      cwd,
      env: { LKM_CONFIG_DIR: join(cwd, 'file/config') },
    });
    expect(printed.stderr).toContain(
      `  profile   none: cannot write ${join(cwd, 'file/config/config.json')} (ENOTDIR)\n`,
    );
    expect(printed.stderr).toContain('  token     lkm tokens create --kind admin --name NAME --db ');
    expect(await stop()).toBe(0);
  });

  it('closes its port when its first line cannot be written', async () => {
    const cwd = tempFolder();
    const ran = await lkm(['serve', '--port', '0', '--json'], { cwd, stdout: 'ENOSPC' });
    expect(ran.code).toBe(13);
    expect(JSON.parse(ran.stderr).error.message).toBe('cannot write to stdout (ENOSPC)');
    expect((await lkm(['db', 'status', '--db', '.local/share/lkm/lkm.db'], { cwd })).code).toBe(0);
  });

  it.each([0o640, 0o604])('refuses a TLS key with mode %o, and shows the fix', async (mode) => {
    const cwd = tempFolder();
    writeFileSync(join(cwd, 'cert.pem'), selfSigned.cert);
    writeFileSync(join(cwd, 'key.pem'), selfSigned.key, { mode });
    const { code, stderr } = await lkm(['serve', '--tls-cert', 'cert.pem', '--tls-key', 'key.pem'], { cwd });
    expect([code, stderr]).toEqual([13, expect.stringContaining(`chmod 600 ${join(cwd, 'key.pem')}`)]);
  });

  it.each(['0.0.0.0', '::', '10.0.0.1', 'licences.example', '127.0.0.1.example'])(
    'does not listen on %s without TLS or a proxy that has it',
    async (host) => {
      const { code, stderr } = await lkm(['serve', '--host', host, '--port', '0']);
      expect([code, stderr]).toEqual([13, expect.stringContaining('where tokens could be overheard')]);
    },
  );

  it('listens beyond this machine behind a proxy', async () => {
    const { printed, stop } = await started(['--host', '0.0.0.0', '--behind-proxy', '10.0.0.0/8']);
    expect(await stop()).toBe(0);
    expect(printed.stderr).toContain('ready at http://0.0.0.0:');
  });

  it('reads certificate and key again at SIGHUP, and keeps them when the new ones are none', async () => {
    const cwd = tempFolder();
    writeFileSync(join(cwd, 'cert.pem'), selfSigned.cert);
    writeFileSync(join(cwd, 'key.pem'), selfSigned.key, { mode: 0o600 });
    const hangup = new EventTarget();
    const { printed, stop } = await started(['--tls-cert', 'cert.pem', '--tls-key', 'key.pem'], { cwd, hangup });
    const port = Number(/ready at https:\/\/127\.0\.0\.1:(\d+)/.exec(printed.stderr)?.[1]);
    /** The certificate that a new connection gets. */
    const shown = async () => {
      const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
      await once(socket, 'secureConnect');
      const { fingerprint256 } = socket.getPeerCertificate();
      socket.destroy();
      return fingerprint256;
    };
    const fingerprint = (cert: string) => new X509Certificate(cert).fingerprint256;
    expect(await shown()).toBe(fingerprint(selfSigned.cert));
    const next = createSelfSigned({ names: ['127.0.0.1'], from: NOW, until: NOW + 86_400_000 });
    writeFileSync(join(cwd, 'cert.pem'), next.cert);
    writeFileSync(join(cwd, 'key.pem'), next.key);
    const said = async (text: string) => {
      hangup.dispatchEvent(new Event('hangup'));
      await vi.waitFor(() => expect(printed.stderr).toContain(text));
    };
    await said('certificate and key read again\n');
    expect(await shown()).toBe(fingerprint(next.cert));
    writeFileSync(join(cwd, 'cert.pem'), 'nothing');
    await said('warning: certificate and key stay as they were: cert.pem does not hold a certificate\n');
    writeFileSync(join(cwd, 'cert.pem'), `${next.cert}${selfSigned.cert.slice(0, 300)}`);
    await said('stay as they were: cert.pem does not hold certificates that OpenSSL takes, each of them whole');
    const old = createSelfSigned({ names: ['127.0.0.1'], from: NOW - 86_400_000, until: NOW - 1_000 });
    writeFileSync(join(cwd, 'cert.pem'), old.cert);
    writeFileSync(join(cwd, 'key.pem'), old.key);
    await said('stay as they were: the certificate expired on Nov 21');
    expect(await shown()).toBe(fingerprint(next.cert));
    expect(await stop()).toBe(0);
  });

  it('warns of a certificate that has expired, and takes no chain that is broken', async () => {
    const cwd = tempFolder();
    const old = createSelfSigned({ names: ['127.0.0.1'], from: NOW - 86_400_000, until: NOW - 1_000 });
    writeFileSync(join(cwd, 'cert.pem'), old.cert);
    writeFileSync(join(cwd, 'key.pem'), old.key, { mode: 0o600 });
    const argv = ['--tls-cert', 'cert.pem', '--tls-key', 'key.pem'];
    const { printed, stop } = await started(argv, { cwd });
    expect(await stop()).toBe(0);
    expect(printed.stderr).toContain('warning: the certificate expired on Nov 21');
    writeFileSync(join(cwd, 'cert.pem'), `${old.cert}${selfSigned.cert.slice(0, 300)}`);
    const broken = await lkm(['serve', '--port', '0', '--db', 'lkm.db', ...argv], { cwd });
    expect(broken).toMatchObject({ code: 13, stderr: expect.stringContaining('certificates that OpenSSL takes') });
  });

  it.each(['86401', '3000000', '1h', '-1'])('takes no --drain %s', async (seconds) => {
    const { code, stderr } = await lkm(['serve', `--drain=${seconds}`]);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('0 to 86400') });
  });

  it('says whether the secrets in its database are sealed', async () => {
    const cwd = tempFolder();
    const plain = await started([], { cwd });
    expect(plain.printed.stderr).toMatch(
      /^ {2}secrets {3}plain in the database; how to seal them: lkm db rekey --help$/m,
    );
    await plain.stop();
    const LKM_MASTER_KEY = Buffer.alloc(32, 7).toString('base64');
    const sealed = await started(['--db', 'sealed.db'], { cwd, env: { LKM_MASTER_KEY } });
    expect(sealed.printed.stderr).toMatch(/^ {2}secrets {3}sealed under the master key$/m);
    expect(sealed.printed.stderr).not.toContain(LKM_MASTER_KEY);
    await sealed.stop();
  });

  it('shows a new token on a terminal, and nowhere else', async () => {
    const onTerminal = await started([], { terminal: true, env: { NO_COLOR: '1' } });
    expect(onTerminal.printed.stderr).toMatch(
      /^ready at http:\S+\n {2}database {2}\S+ \(new\)\n {2}token {5}lkm_admin_\w+ \(shown once\)\n/,
    );
    await onTerminal.stop();
    const inLog = await started([]);
    expect(inLog.printed.stderr).not.toContain('lkm_admin_');
    await inLog.stop();
  });

  it('writes its log as JSON in a pipe, for people on a terminal, and as it is told', async () => {
    const logOf = async (argv: string[], terminal: boolean) => {
      const cwd = tempFolder();
      const { printed, stop } = await started(argv, { cwd, terminal, env: { NO_COLOR: '1' } });
      await fetch(`${/ready at (\S+)/.exec(printed.stderr)?.[1]}/.well-known/jwks.json`);
      await stop();
      const lines = printed.stderr.split('\n').filter((line) => line.includes('jwks.json'));
      expect(lines.length).toBeGreaterThan(0);
      return lines.every((line) => line.startsWith('{')) ? 'json' : 'pretty';
    };
    expect(await logOf([], false)).toBe('json');
    expect(await logOf([], true)).toBe('pretty');
    expect(await logOf(['--log-format', 'auto'], false)).toBe('json');
    expect(await logOf(['--log-format', 'pretty'], false)).toBe('pretty');
    expect(await logOf(['--log-format', 'json'], true)).toBe('json');
  });

  it('keeps the clock it is given', async () => {
    const cwd = tempFolder();
    const { printed, stop } = await started(['--clock', '2030-01-01T00:00:00Z'], { cwd });
    expect(printed.stderr).toContain('this is a test clock: it stands at 2030-01-01T00:00:00.000Z');
    const { stdout } = await lkm(['products', 'create', '--name', 'x', '--fields', 'createdAt'], { cwd });
    expect(stdout).toBe('2030-01-01T00:00:00.000Z\n');
    await stop();
  });

  it('keeps the limits it is given', async () => {
    const limits = [
      '--lookup-limit',
      '1',
      '--max-connections',
      '9',
      '--max-connections-per-address',
      '1',
      '--drain',
      '0',
    ];
    const cwd = tempFolder();
    const { printed, stop } = await started(['--json', ...limits], { cwd });
    const { port, url } = JSON.parse(printed.stdout);
    const { token } = JSON.parse(readFileSync(join(cwd, '.config/lkm/config.json'), 'utf8')).profiles.local;
    const { productId, licenseKey } = absentIds;
    const look = async () => {
      const headers = { Authorization: `Bearer ${token}`, Connection: 'close' };
      return (await fetch(`${url}/key?${new URLSearchParams({ productId, licenseKey })}`, { headers })).status;
    };
    expect([await look(), await look()]).toEqual([404, 429]);
    using held = openConnection(port);
    held.send('GET /health HTTP/1.1', 'Host: localhost', '', '');
    await held.until(/200/);
    using refused = openConnection(port);
    expect(await refused.end()).toMatch(/^HTTP\/1\.1 503 /);
    held.send('half of a request');
    expect(await stop()).toBe(0);
  });

  it('ends with 13 and one clear line when the port is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const { code, stderr } = await lkm(['serve', '--port', String(port)]);
    expect(code).toBe(13);
    expect(stderr).toContain(`${port}`);
    taken.close();
  });

  it.each([
    [['--port', '65536'], "--port: '65536' is not a whole number from 0 to 65535"],
    [['--log-format', 'xml'], "--log-format: 'xml' is not one of auto, pretty, json, none"],
    [['--rate-limit', '0'], "--rate-limit: '0' is neither a whole number from 1 to 999999999 nor 'off'"],
    [['--max-connections', '0'], "--max-connections: '0' is not a whole number from 1 to 999999999"],
    [['--lookup-limit', 'none'], "--lookup-limit: 'none' is neither a whole number from 1 to 999999999 nor 'off'"],
    [['--drain', '1s'], "--drain: '1s' is not a whole number from 0 to 86400"],
    [['--clock', 'tomorrow'], "--clock: 'tomorrow' is not an instant"],
    [['--tls-cert', 'cert.pem'], '--tls-cert and --tls-key go together'],
  ])('refuses %s', async (argv, says) => {
    const { code, stderr } = await lkm(['serve', ...argv]);
    expect(code).toBe(2);
    expect(stderr).toContain(says);
  });
});
