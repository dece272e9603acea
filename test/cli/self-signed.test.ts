import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import { createSelfSigned } from '../../src/server/http/transport/self-signed.ts';
import { lkm, NOW, type Surroundings, tempFolder } from './fake-io.ts';
import { started } from './started.ts';

const DAY_MS = 86_400_000;

/** A server that has signed its certificate itself, at the real time: certificates are judged by it. */
async function selfSigning(cwd: string, argv: readonly string[] = [], surroundings: Surroundings = {}) {
  const server = await started(['--tls-self-signed', '--db', 'lkm.db', '--json', ...argv], {
    ...{ cwd, now: Date.now() },
    ...surroundings,
  });
  const { url, port, certificate } = JSON.parse(server.printed.stdout);
  return { ...server, url: String(url), port: Number(port), certificate: readFileSync(certificate, 'utf8') };
}

/** The profile reaches its server. */
const expectTrusted = async (cwd: string) =>
  expect((await lkm(['-p', 'local', 'products', 'list'], { cwd })).code).toBe(0);

const profilesIn = (cwd: string) => JSON.parse(readFileSync(join(cwd, '.config/lkm/config.json'), 'utf8')).profiles;

describe('lkm serve --tls-self-signed', () => {
  it('serves HTTPS to its profile, and to nothing else', async () => {
    const cwd = tempFolder();
    const { url, stop, certificate } = await selfSigning(cwd);
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect((await lkm(['products', 'create', '--name', 'Editor'], { cwd })).code).toBe(0);
    const listed = await lkm(['-p', 'local', 'products', 'list', '--fields', 'name'], { cwd });
    expect(listed).toMatchObject({ code: 0, stdout: 'Editor\n' });
    const { local } = profilesIn(cwd);
    expect(local).toEqual({ baseUrl: url, token: local.token, db: join(cwd, 'lkm.db'), ca: certificate });

    await expect(fetch(`${url}/health`)).rejects.toMatchObject({ cause: { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' } });
    const env = { LKM_BASE_URL: url, LKM_TOKEN: local.token };
    const stranger = await lkm(['products', 'list', '--max-retries', '0'], { env });
    expect(stranger.code).toBe(11);
    expect(stranger.stderr).toMatch(/certificate is not signed by an authority/);
    const elsewhere = ['products', 'list', '--base-url', url.replace('127.0.0.1', 'localhost'), '--max-retries', '0'];
    const ran = await lkm(elsewhere, { cwd, env: { LKM_TOKEN: local.token } });
    expect(ran).toMatchObject({ code: 11, stderr: expect.stringMatching(/certificate is not signed by an authority/) });
    expect(await stop()).toBe(0);
  });

  it('is not trusted any more once another server, with another certificate, has its port', async () => {
    const cwd = tempFolder();
    const { port, stop } = await selfSigning(cwd);
    await stop();
    let requests = 0;
    const until = Date.now() + DAY_MS;
    const other = createSelfSigned({ names: ['localhost', '127.0.0.1'], from: Date.now() - DAY_MS, until });
    const thief = createServer(other, (_, response) => {
      requests += 1;
      response.end('{"action":"products.list","status":true,"data":[],"code":0}');
    }).listen(port, '127.0.0.1');
    await once(thief, 'listening');
    // The same request, to show that there is somebody who would answer.
    const fooled = createClient({ baseUrl: `https://127.0.0.1:${port}`, token: 'x', ca: other.cert, maxRetries: 0 });
    await expect(fooled.products.list({})).resolves.toBeDefined();
    expect(requests).toBe(1);
    const { code, stderr } = await lkm(['-p', 'local', 'products', 'list', '--max-retries', '0'], { cwd });
    thief.close();
    expect([code, stderr]).toEqual([11, expect.stringMatching(/certificate is not signed by an authority/)]);
    expect(requests).toBe(1);
  });

  it('is trusted by a profile that logs in at the same address', async () => {
    const cwd = tempFolder();
    const { url, stop, certificate } = await selfSigning(cwd);
    const { stdout: token } = await lkm(['tokens', 'create', '--kind', 'read-only', '--name', 'reader'], { cwd });
    const login = ['auth', 'login', '--with-token', '--insecure-storage', '--base-url', url];
    expect(await lkm([...login, '-p', 'reader'], { cwd, stdin: token })).toMatchObject({ code: 0 });
    expect(profilesIn(cwd).reader).toMatchObject({ baseUrl: url, ca: certificate });
    expect((await lkm(['-p', 'reader', 'products', 'list'], { cwd })).code).toBe(0);
    await stop();
  });

  it('keeps both beside the database for their owner alone, takes them again, and makes them anew when they differ', async () => {
    const cwd = tempFolder();
    const first = await selfSigning(cwd);
    await first.stop();
    const [key, cert] = [join(cwd, 'lkm.db-tls-key.pem'), join(cwd, 'lkm.db-tls-cert.pem')];
    expect([key, cert].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600]);
    const second = await selfSigning(cwd);
    await second.stop();
    expect(second.certificate).toBe(first.certificate);
    chmodSync(key, 0o640);
    const refused = await lkm(['serve', '--tls-self-signed', '--db', 'lkm.db', '--port', '0'], { cwd });
    expect([refused.code, refused.stderr]).toEqual([13, expect.stringContaining(`chmod 600 ${key}`)]);
    chmodSync(key, 0o600);
    // As a process leaves them that was killed between the two.
    const until = Date.now() + DAY_MS;
    writeFileSync(key, createSelfSigned({ names: ['localhost'], from: Date.now() - DAY_MS, until }).key);
    const third = await selfSigning(cwd);
    await third.stop();
    expect(third.certificate).not.toBe(first.certificate);
  });

  it('makes another before it ends, and for another host; the profile follows', async () => {
    const cwd = tempFolder();
    const first = await selfSigning(cwd, [], { now: Date.now() - 671 * DAY_MS });
    await first.stop();
    const second = await selfSigning(cwd);
    expect(second.certificate).not.toBe(first.certificate);
    await expectTrusted(cwd);
    await second.stop();
    const third = await selfSigning(cwd, ['--host', '127.0.0.2']);
    expect(third.certificate).not.toBe(second.certificate);
    await expectTrusted(cwd);
    await third.stop();
    expect(profilesIn(cwd).local.ca).toBe(third.certificate);
    const plain = await started(['--db', 'lkm.db'], { cwd });
    await expectTrusted(cwd);
    await plain.stop();
    expect(profilesIn(cwd).local.ca).toBeUndefined();
  });

  it.each<[argv: string[], message: string]>([
    [['--tls-cert', 'a', '--tls-key', 'b'], '--tls-cert and --tls-key name one'],
    [
      ['--host', '0.0.0.0'],
      '--tls-self-signed needs the host name or address that clients use; --host 0.0.0.0 is not one',
    ],
    [['--host', '::'], '--host :: is not one'],
    [['--db', 'postgres://lkm@localhost/lkm'], 'PostgreSQL has none'],
    [['--', 'true'], '--tls-self-signed does not go with a command behind --'],
  ])('is refused with %j', async (argv, message) => {
    const { code, stderr } = await lkm(['serve', '--tls-self-signed', '--port', '0', ...argv]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});

describe('a certificate that a server signs itself', () => {
  const names = ['localhost', 'licences.example', '127.0.0.1', '10.1.2.3', '::1', '2001:db8::7'];

  it('is for its names, of a server, and signs nothing else', () => {
    const { cert, key } = createSelfSigned({ names, from: NOW, until: NOW + 730 * DAY_MS });
    const certificate = new X509Certificate(cert);
    expect(certificate.checkPrivateKey(createPrivateKey(key))).toBe(true);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(certificate.ca).toBe(false);
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    for (const name of names) {
      const isAddress = /^[\d.]+$|:/.test(name);
      expect(isAddress ? certificate.checkIP(name) : certificate.checkHost(name)).toBe(name);
    }
    expect([certificate.checkHost('evil.example'), certificate.checkIP('10.1.2.4')]).toEqual([undefined, undefined]);
    expect(Date.parse(certificate.validTo) - Date.parse(certificate.validFrom)).toBe(730 * DAY_MS);
  });
});
