import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { describe, expect, it, vi } from 'vitest';
import { expired, renewed, selfSigned } from '../support/certificates.ts';
import { occupiedPort } from '../support/ports.ts';
import { openConnection } from '../support/raw-http.ts';
import { startReceiver } from '../support/receiver.ts';
import { absentIds } from '../support/requests.ts';
import { lkm, tempFolder } from './fake-io.ts';
import { scriptedService } from './scripted-service.ts';
import { started } from './started.ts';

const profilesIn = (cwd: string) => JSON.parse(readFileSync(join(cwd, '.config/lkm/config.json'), 'utf8'));

describe('lkm serve', () => {
  it('says where it listens, stores its token for its owner alone, and ends well when told to', async () => {
    const cwd = tempFolder();
    const { printed, stop } = await started(['--json'], { cwd });
    const { url, port, ...ready } = JSON.parse(printed.stdout);
    const db = join(cwd, '.local/share/lkm/lkm.db');
    expect(ready).toEqual({ event: 'ready', pid: 4121, db, secrets: 'plain' });
    expect(url).toBe(`http://127.0.0.1:${port}`);
    expect(profilesIn(cwd)).toMatchObject({
      currentProfile: 'local',
      profiles: { local: { baseUrl: url, token: expect.stringMatching(/^lkm_admin_/), db } },
    });
    expect(statSync(join(cwd, '.config/lkm/config.json')).mode & 0o777).toBe(0o600);
    expect(statSync(join(cwd, '.config/lkm')).mode & 0o777).toBe(0o700);
    expect((await lkm(['products', 'create', '--name', 'Engine Pro'], { cwd })).code).toBe(0);
    expect(await stop()).toBe(0);
    await expect(fetch(url)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  });

  it('keeps the token of each new database, also of one that was removed, and finds it again', async () => {
    const cwd = tempFolder();
    const names = [];
    for (const db of ['a.db', 'b.db', 'a.db', 'removed', 'a.db']) {
      if (db === 'removed') rmSync(join(cwd, 'a.db'));
      else {
        const { printed, stop } = await started(['--db', db], { cwd });
        names.push(/^ {2}profile {3}(\S+)$/m.exec(printed.stderr)?.[1]);
        expect((await lkm(['-p', 'local', 'products', 'list'], { cwd })).code).toBe(0);
        await stop();
      }
    }
    expect(names).toEqual(['local', 'local', 'local', 'local']);
    const { local, ...others } = profilesIn(cwd).profiles;
    const stored = [local, ...Object.values<typeof local>(others)];
    expect(stored.map(({ db }) => db).sort()).toEqual(['a.db', 'a.db', 'b.db'].map((db) => join(cwd, db)));
    expect(new Set(stored.map(({ token }) => token)).size).toBe(3);
  });

  it('that was killed gets no token sent to what listens at its address since', async () => {
    const cwd = tempFolder();
    const { stop } = await started(['--db', 'a.db'], { cwd });
    const list = (...more: string[]) => lkm(['products', 'list', ...more], { cwd, isRunning: (pid) => pid !== 4121 });
    for (const profile of [[], ['-p', 'local']]) {
      const { code, stderr } = await list(...profile);
      expect({ code, stderr }).toEqual({ code: 13, stderr: expect.stringContaining('local is not running') });
    }
    await stop();
  });

  it('is local while it runs, the newest in place of others, each with its own token', async () => {
    const cwd = tempFolder();
    const first = await started(['--db', 'a.db'], { cwd });
    const second = await started(['--db', 'b.db'], { cwd });
    const create = (name: string, profile: string) =>
      lkm(['-p', profile, 'products', 'create', '--name', name], { cwd });
    expect((await create('newest', 'local')).code).toBe(0);
    expect((await create('older', 'local-2')).code).toBe(0);
    await second.stop();
    expect((await create('older still', 'local-2')).code).toBe(0);
    expect(await create('none', 'local')).toMatchObject({
      code: 13,
      stderr: `error: the server of profile local is not running\n  Nothing was sent.\n  Start it:    lkm serve --db ${join(cwd, 'b.db')}\n  Without it:  --db ${join(cwd, 'b.db')}\n`,
    });
    await first.stop();
    const names = async (db: string) =>
      (await lkm(['products', 'list', '--db', db, '--fields', 'name'], { cwd })).stdout.trim().split('\n').sort();
    expect([await names('a.db'), await names('b.db')]).toEqual([['older', 'older still'], ['newest']]);
  });

  it('leaves no profile without a token when it ends, and its token goes to no other program at its port', async () => {
    const cwd = tempFolder();
    const { printed, stop } = await started(['--db', 'a.db', '--json'], { cwd });
    const { url } = JSON.parse(printed.stdout);
    await stop();
    const { fetch, seen } = scriptedService([200, { action: 'products.list', status: true, data: [], code: 0 }]);
    const ask = (env: Record<string, string>) => lkm(['products', 'list', '--base-url', url], { cwd, env, fetch });
    expect(await ask({})).toMatchObject({ code: 4, stderr: expect.stringContaining('a server that has ended') });
    expect(await ask({ LKM_TOKEN: 'lkm_scoped_one' })).toMatchObject({ code: 0 });
    expect(seen.map(({ authorization }) => authorization)).toEqual(['Bearer lkm_scoped_one']);
    await lkm(['auth', 'logout', 'local'], { cwd });
    await (await started(['--db', 'a.db'], { cwd })).stop();
    expect(profilesIn(cwd)).toMatchObject({ currentProfile: null, profiles: {} });
    const none = await lkm(['-p', 'local', 'products', 'list'], { cwd });
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('no server of this user is running') });
  });

  it('is said not to run where one that was killed has left its profile', async () => {
    const cwd = tempFolder();
    const { printed, stop } = await started(['--db', 'a.db', '--json'], { cwd });
    const left = profilesIn(cwd);
    await stop();
    writeFileSync(join(cwd, '.config/lkm/config.json'), JSON.stringify(left));
    const db = join(cwd, 'a.db');
    expect(await lkm(['-p', 'local', 'products', 'list', '--max-retries', '0'], { cwd })).toMatchObject({
      code: 11,
      stderr: `error: no server runs at ${JSON.parse(printed.stdout).url}\n  Nothing was sent.\n  Start it:    lkm serve --db ${db}\n  Without it:  --db ${db}\n`,
    });
  });

  it('serves a new database where its token cannot be stored, and says how to make one', async () => {
    const LKM_CONFIG_DIR = '/dev/null/config';
    const { printed, stop } = await started(['--db', 'a.db'], { env: { LKM_CONFIG_DIR } });
    expect(printed.stderr).toContain(`  profile   none: cannot write ${LKM_CONFIG_DIR}/config.json (ENOTDIR)\n`);
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

  /** A folder with `cert.pem` and `key.pem`. */
  const withTls = ({ cert, key }: { cert: string; key: string }, mode = 0o600, cwd = tempFolder()) => {
    writeFileSync(join(cwd, 'cert.pem'), cert);
    writeFileSync(join(cwd, 'key.pem'), key);
    chmodSync(join(cwd, 'key.pem'), mode);
    return cwd;
  };
  const tls = ['--db', 'lkm.db', '--tls-cert', 'cert.pem', '--tls-key', 'key.pem'];

  it('reads certificate and key again at SIGHUP, and keeps them when the new ones are none', async () => {
    const cwd = withTls(selfSigned);
    const hangup = new EventTarget();
    const { printed, stop } = await started(tls, { cwd, hangup });
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
    for (const [pair, says] of [
      [renewed, 'certificate and key read again\n'],
      [
        { ...renewed, cert: `${renewed.cert}${selfSigned.cert.slice(0, 300)}` },
        'warning: certificate and key stay as they were: cert.pem and key.pem are not a certificate and its key',
      ],
      [expired, 'stay as they were: the certificate expired on Nov 21'],
    ] as const) {
      withTls(pair, 0o600, cwd);
      hangup.dispatchEvent(new Event('hangup'));
      await vi.waitFor(() => expect(printed.stderr).toContain(says));
      expect(await shown()).toBe(fingerprint(renewed.cert));
    }
    expect(await stop()).toBe(0);
  });

  it.each([
    [expired, 0o640, 'chmod 600'],
    [expired, 0o604, 'chmod 600'],
    [{ ...expired, key: selfSigned.key }, 0o600, 'cert.pem and key.pem are not a certificate and its key'],
    [{ ...expired, cert: 'nothing' }, 0o600, 'cert.pem and key.pem are not a certificate and its key'],
  ])('takes no certificate and key that do not go together or that others can read (%#)', async (pair, mode, says) => {
    const { code, stderr } = await lkm(['serve', '--port', '0', ...tls], { cwd: withTls(pair, mode) });
    expect([code, stderr]).toEqual([13, expect.stringContaining(says)]);
  });

  it('warns of a certificate that has expired, and takes the key from stdin', async () => {
    const { printed, stop } = await started([...tls.slice(0, -1), '-'], { cwd: withTls(expired), stdin: expired.key });
    expect(await stop()).toBe(0);
    expect(printed.stderr).toContain('warning: the certificate expired on Nov 21');
    expect(printed.stderr).toContain('ready at https://');
  });

  it('listens beyond this machine with TLS, or behind a proxy that has it', async () => {
    for (const host of ['0.0.0.0', '::', '10.0.0.1', 'licences.example', '127.0.0.1.example']) {
      const { code, stderr } = await lkm(['serve', '--host', host, '--port', '0']);
      expect([code, stderr]).toEqual([13, expect.stringContaining('where tokens could be overheard')]);
    }
    const { printed, stop } = await started(['--host', '0.0.0.0', '--behind-proxy', '10.0.0.0/8']);
    expect(await stop()).toBe(0);
    expect(printed.stderr).toContain('ready at http://0.0.0.0:');
  });

  it.each<[terminal: boolean, env: Record<string, string>, token: RegExp, secrets: string]>([
    [true, {}, /\(new\)\n {2}token {5}lkm_admin_\w+ \(shown once\)\n/, 'plain in the database; how to seal them:'],
    [false, {}, /\(new\)\n {2}profile /, 'plain in the database; how to seal them: lkm db rekey --help'],
    [false, { LKM_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') }, /\(new\)/, 'sealed under the master key'],
  ])(
    'shows a new token on a terminal (%s) only, and whether secrets are sealed',
    async (terminal, env, token, secrets) => {
      const { printed, stop } = await started([], { terminal, env: { NO_COLOR: '1', ...env } });
      await stop();
      expect(printed.stderr).toMatch(token);
      expect(printed.stderr).toContain(`  secrets   ${secrets}`);
      expect(printed.stderr).not.toContain(env.LKM_MASTER_KEY ?? 'no key');
      expect(printed.stderr.includes('lkm_admin_')).toBe(terminal);
    },
  );

  it.each([
    ['json', false, []],
    ['pretty', true, []],
    ['pretty', false, ['--log-format', 'pretty']],
    ['json', true, ['--log-format', 'json']],
  ])('writes its log as %s where a terminal is %s, with %j', async (format, terminal, argv) => {
    const { printed, stop } = await started(argv, { terminal, env: { NO_COLOR: '1' } });
    await fetch(`${/ready at (\S+)/.exec(printed.stderr)?.[1]}/.well-known/jwks.json`);
    await stop();
    const lines = printed.stderr.split('\n').filter((line) => line.includes('jwks.json'));
    expect(lines.map((line) => (line.startsWith('{') ? 'json' : 'pretty'))).toEqual([format]);
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
    const limits = ['--lookup-limit=1', '--max-connections=9', '--max-connections-per-address=1', '--drain=0'];
    const cwd = tempFolder();
    const { printed, stop } = await started(['--json', ...limits], { cwd });
    const { port, url } = JSON.parse(printed.stdout);
    const { token } = profilesIn(cwd).profiles.local;
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

  it('signs webhooks in the header that it is given', async () => {
    await using receiver = await startReceiver();
    const cwd = tempFolder();
    const header = ['--webhook-signature-header', 'X-Shop-Signature'];
    const { stop } = await started(['--allow-private-webhooks', ...header], { cwd });
    const create = `webhooks create --url ${receiver.url} --signature timestamped -q`;
    expect((await lkm(create.split(' '), { cwd })).code).toBe(0);
    await expect.poll(() => receiver.received.length).toBe(1);
    expect(receiver.received[0]?.headers).toHaveProperty('x-shop-signature');
    await stop();
  });

  it('ends with 13 and one clear line when the port is taken', async () => {
    await using taken = await occupiedPort();
    const { code, stderr } = await lkm(['serve', '--port', String(taken.port)]);
    expect([code, stderr]).toEqual([13, expect.stringContaining(`port ${taken.port} on 127.0.0.1 is in use`)]);
  });

  it.each([
    ['--port 65536', "--port: '65536' is not a whole number from 0 to 65535"],
    ['--log-format xml', "--log-format: 'xml' is not one of auto, pretty, json, none"],
    ['--rate-limit 0', "--rate-limit: '0' is neither a whole number from 1 to 999999999 nor 'off'"],
    ['--db-connections 2', '--db-connections is at least 3'],
    ['--max-connections 0', "--max-connections: '0' is not a whole number from 1 to 999999999"],
    ['--drain 86401', "--drain: '86401' is not a whole number from 0 to 86400"],
    ['--webhook-signature-header a:b', "--webhook-signature-header: 'a:b' is not the name of a header"],
    ['--webhook-signature-header Webhook-Id', "'Webhook-Id' is a header that means something else"],
    ['--clock tomorrow', "--clock: 'tomorrow' is not an instant"],
    ['--tls-cert cert.pem', '--tls-cert and --tls-key go together'],
  ])('refuses %s', async (options, says) => {
    const { code, stderr } = await lkm(`serve ${options}`.split(' '));
    expect([code, stderr]).toEqual([2, expect.stringContaining(says)]);
  });
});
