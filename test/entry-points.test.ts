import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Instant } from '../src/contract/scalars.ts';
import { createSigner, signLicenseFile, toJwk } from '../src/domain/license-file/sign.ts';
import { addSeconds } from '../src/domain/time.ts';
import { mintWebhookSecret, signedHeaders } from '../src/domain/webhooks/signature.ts';
import { hostId, licenseWith, privatePems, publicPemOf } from './domain/examples.ts';

const folder = mkdtempSync(join(tmpdir(), 'lkm-entry-points-'));

/** The packed package and nothing else. */
beforeAll(() => {
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder]);
  mkdirSync(join(folder, 'node_modules/lkm'), { recursive: true });
  const [tarball = ''] = globSync('*.tgz', { cwd: folder });
  execFileSync('tar', ['-xzf', tarball, '-C', 'node_modules/lkm', '--strip-components', '1'], { cwd: folder });
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true }));

describe('the packed package', () => {
  it('is small, runs nothing when it is installed, and brings nothing else', () => {
    const [tarball = ''] = globSync('*.tgz', { cwd: folder });
    expect(statSync(join(folder, tarball)).size).toBeLessThan(3_400_000);
    const { scripts, dependencies } = JSON.parse(readFileSync(join(folder, 'node_modules/lkm/package.json'), 'utf8'));
    expect(dependencies).toBeUndefined();
    const files = globSync('node_modules/lkm/**/*', { cwd: folder, withFileTypes: true }).filter((one) => one.isFile());
    const bytes = files.map(({ parentPath, name }) => statSync(join(parentPath, name)).size);
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(13_000_000);
    expect(['preinstall', 'install', 'postinstall'].filter((name) => name in scripts)).toEqual([]);
    expect(globSync('node_modules/lkm/**/*.node', { cwd: folder })).toEqual([]);
  });

  it('has entry points for programs', () => {
    copyFileSync('test/support/entry-point-program.mjs', join(folder, 'program.mjs'));
    expect(execFileSync(process.execPath, ['program.mjs'], { cwd: folder, encoding: 'utf8' })).toMatch(/ ok\n$/);
  });

  it('lkm/license-file verifies a file with the package alone', () => {
    const now = '2026-11-21T10:00:00.000Z' as Instant;
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
      const { verdict, claims } = verifyLicenseFile(text, { ...JSON.parse(options), now: new Date('${now}') });
      process.stdout.write(verdict + ' ' + claims.machine);
    `;
    writeFileSync(join(folder, 'app.mjs'), program);
    const run = (options: object) =>
      execFileSync(process.execPath, ['app.mjs', text, JSON.stringify(options)], { cwd: folder, encoding: 'utf8' });
    expect(run(options)).toBe('ok host-1');
    expect(run({ ...options, hostId: 'host-2' })).toBe('machine_mismatch host-1');
    expect(globSync('node_modules/*', { cwd: folder })).toEqual(['node_modules/lkm']);
  });

  it('lkm/webhooks verifies a webhook with the package alone', () => {
    const secret = mintWebhookSecret(new Uint8Array(32));
    const body = JSON.stringify({ id: 'evt_1', type: 'ping' });
    const headers = signedHeaders({ id: 'evt_1', timestamp: 1_800_000_000, body }, [secret]);
    writeFileSync(
      join(folder, 'receiver.mjs'),
      `import { verifyWebhook } from 'lkm/webhooks';
      const [headers, body, secret] = process.argv.slice(2);
      process.stdout.write(verifyWebhook(JSON.parse(headers), body, secret, { now: new Date(1_800_000_000_000) }).type);`,
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

  it.each(['license-file', 'webhooks'])('lkm/%s imports modules of Node.js only', (entry) => {
    const code = readFileSync(join(folder, 'node_modules/lkm', `dist/${entry}.js`), 'utf8');
    const imported = [...code.matchAll(/\bfrom\s+["']([^"']+)|\bimport\s*\(?\s*["']([^"']+)/g)].map(
      ([, a, b]) => a ?? b,
    );
    expect(imported.length).toBeGreaterThan(0);
    expect(imported.filter((name) => !name?.startsWith('node:'))).toEqual([]);
  });

  it('has the server and the command in its own files', () => {
    writeFileSync(
      join(folder, 'server.mjs'),
      `import { startServer } from 'lkm/server';
       const lines = [];
       const logTo = { write: (text) => lines.push(text) };
       const server = await startServer({ db: 'x.db', host: '127.0.0.1', port: 0, logFormat: 'pretty', logTo });
       const { status } = await fetch(server.url + '/stats');
       await server.close();
       process.stdout.write(status + ' ' + lines.length);`,
    );
    expect(execFileSync(process.execPath, ['server.mjs'], { cwd: folder, encoding: 'utf8' })).toMatch(/^401 [1-9]/);
    const bin = 'node_modules/lkm/bin/lkm.js';
    const env = { HOME: folder, LKM_DB: 'y.db' };
    const lkm = (...argv: string[]) =>
      execFileSync(process.execPath, [bin, ...argv], { cwd: folder, encoding: 'utf8', env });
    expect(lkm('quickstart')).toContain('machine_mismatch');
    expect(lkm('products', 'list', '--format', 'csv', '--create')).toMatch(/^id,name/);
  });

  it.each(['types-node-22', '@types/node', 'types-node-26'])('types programs strictly, beside %s', (types) => {
    mkdirSync(join(folder, types), { recursive: true });
    rmSync(join(folder, types, 'node'), { force: true });
    symlinkSync(resolve('node_modules', types), join(folder, types, 'node'));
    writeFileSync(
      join(folder, 'program.ts'),
      `import { createClient } from 'lkm';
       import { contract } from 'lkm/contract';
       import { verifyLicenseFile } from 'lkm/license-file';
       import { startServer } from 'lkm/server';
       const serving: Promise<{ readonly url: string }> = startServer({
         db: 'x.db', host: '127.0.0.1', port: 0, logFormat: 'none', logTo: process.stderr,
       });
       const client = createClient({ baseUrl: 'https://x.example', token: 't' });
       const made: Promise<{ key: string }> = client.keys.create({ productId: 'prod_1' });
       // @ts-expect-error: there is no such field
       void client.keys.create({ productIdentifier: 'prod_1' });
       const path: string = contract.keys.create.path;
       const verdict: string = verifyLicenseFile('', { keys: [], hostId: 'h' }).verdict;
       export { made, path, serving, verdict };`,
    );
    const config = {
      compilerOptions: {
        strict: true,
        noEmit: true,
        module: 'nodenext',
        target: 'es2023',
        types: ['node'],
        typeRoots: [join(folder, types)],
        skipLibCheck: false,
      },
      files: ['program.ts'],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    const { stdout } = spawnSync(resolve('node_modules/.bin/tsc'), ['-p', '.'], { cwd: folder, encoding: 'utf8' });
    expect(stdout).toBe('');
  });
});
