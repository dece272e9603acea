import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSigner, signLicenseFile, toJwk } from '../src/domain/license-file/sign.ts';
import { addSeconds, toInstant } from '../src/domain/time.ts';
import { mintWebhookSecret, signedHeaders } from '../src/domain/webhooks/signature.ts';
import { hostId, licenseWith, privatePems, publicPemOf } from './domain/examples.ts';

const folder = mkdtempSync(join(tmpdir(), 'lkm-door-'));
const installed = join(folder, 'node_modules/lkm');

/** Installs the tarball as npm would, without the packages that it depends on. */
beforeAll(() => {
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder]);
  const [tarball = ''] = globSync('*.tgz', { cwd: folder });
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', join(folder, tarball), '-C', installed, '--strip-components', '1']);
});

afterAll(() => rmSync(folder, { recursive: true }));

test('lkm/license-file verifies a file with nothing installed but the package itself', () => {
  const now = toInstant(Date.now());
  const text = signLicenseFile(createSigner(privatePems[0]), {
    id: 'fil_1',
    license: licenseWith(),
    customer: null,
    hostId,
    now,
    expiresAt: addSeconds(now, 3_600),
  });
  const options = { keys: [toJwk(publicPemOf(privatePems[0]))], hostId };
  const program = `
    import { verifyLicenseFile } from 'lkm/license-file';
    const [text, options] = process.argv.slice(2);
    const { verdict, claims } = verifyLicenseFile(text, JSON.parse(options));
    process.stdout.write(verdict + ' ' + claims.machine);
  `;
  writeFileSync(join(folder, 'app.mjs'), program);
  const run = (options: object) =>
    execFileSync(process.execPath, ['app.mjs', text, JSON.stringify(options)], { cwd: folder, encoding: 'utf8' });
  expect(run(options)).toBe('ok host-1');
  expect(run({ ...options, hostId: 'host-2' })).toBe('machine_mismatch host-1');
  expect(globSync('node_modules/*', { cwd: folder })).toEqual(['node_modules/lkm']);
});

test('lkm/webhooks verifies a webhook with nothing installed but the package itself', () => {
  const secret = mintWebhookSecret(new Uint8Array(32));
  const body = JSON.stringify({ id: 'evt_1', type: 'ping' });
  const headers = signedHeaders({ id: 'evt_1', timestamp: Math.floor(Date.now() / 1_000), body }, [secret]);
  writeFileSync(
    join(folder, 'receiver.mjs'),
    `import { verifyWebhook } from 'lkm/webhooks';
    const [headers, body, secret] = process.argv.slice(2);
    process.stdout.write(verifyWebhook(JSON.parse(headers), body, secret).type);`,
  );
  const verify = (text: string) =>
    execFileSync(process.execPath, ['receiver.mjs', JSON.stringify(headers), text, secret], {
      cwd: folder,
      encoding: 'utf8',
      stdio: 'pipe',
    });
  expect(verify(body)).toBe('ping');
  expect(() => verify(`${body} `)).toThrow('not signed with this secret');
});

test.each(['license-file', 'webhooks'])('lkm/%s imports modules of Node.js only', (door) => {
  const code = readFileSync(join(installed, `dist/${door}.js`), 'utf8');
  const imported = [...code.matchAll(/\bfrom\s+["']([^"']+)|\bimport\s*\(?\s*["']([^"']+)/g)].map(([, a, b]) => a ?? b);
  expect(imported.length).toBeGreaterThan(0);
  expect(imported.filter((name) => !name?.startsWith('node:'))).toEqual([]);
});
