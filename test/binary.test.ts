import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'lkm-binary-'));
const binary = join(folder, 'lkm');
const made = 'release/binary';

/** Without a PATH, and in a home of its own: nothing of this machine can help. */
const env = { PATH: '', HOME: join(folder, 'home') };

const lkm = (argv: readonly string[], options: { input?: string; env?: Record<string, string> } = {}): string =>
  execFileSync(binary, argv, {
    cwd: folder,
    encoding: 'utf8',
    input: options.input ?? '',
    env: { ...env, ...options.env },
    stdio: ['pipe', 'pipe', 'ignore'],
  }).trim();

beforeAll(() => {
  execFileSync(process.execPath, ['tools/build-binary.ts'], { stdio: 'ignore' });
  const [name = ''] = globSync('lkm-*-*', { cwd: made, exclude: ['*.json'] });
  copyFileSync(join(made, name), binary);
  mkdirSync(env.HOME);
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the single file', () => {
  it('runs the tour, and knows its version', () => {
    expect(lkm(['quickstart'])).toContain('machine_mismatch');
    expect(lkm(['--version'])).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version);
  });

  it('serves, logs in, issues, signs and verifies', async () => {
    const server = spawn(binary, ['serve', '--db', 'lkm.db', '--port', '0', '--json'], { cwd: folder, env });
    const { value } = await createInterface(server.stdout)[Symbol.asyncIterator]().next();
    const { url } = JSON.parse(String(value));
    const token = lkm(['tokens', 'create', '--kind', 'admin', '--name', 'me', '-p', 'local']);
    lkm(['auth', 'login', '--base-url', url, '--with-token'], { input: token });
    const product = lkm(['products', 'create', '--name', 'Engine']);
    const key = lkm(['keys', 'create', '-P', product]);
    lkm(['keys', 'sign', key, '-P', product, '--host-id', 'build-01', '-o', 'build-01.lic']);
    expect(lkm(['keys', 'verify', 'build-01.lic', '--host-id', 'build-01', '-q'])).toBe('ok');
    expect(lkm(['keys', 'list', '-P', product, '-q'])).toBe(key);
    const page = await (await fetch(`${url}/docs`)).text();
    for (const [, path] of page.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)) {
      expect({ path, status: (await fetch(`${url}/${path}`)).status }).toEqual({ path, status: 200 });
    }
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGTERM');
    expect(await ended).toBe(0);
  });

  it('has checksums, and a list of the packages in it', () => {
    for (const line of readFileSync(join(made, 'SHA256SUMS'), 'utf8').trim().split('\n')) {
      const [sum, name = ''] = line.split('  ');
      expect(
        createHash('sha256')
          .update(readFileSync(join(made, name)))
          .digest('hex'),
      ).toBe(sum);
    }
    const [name = ''] = globSync('*.cdx.json', { cwd: made });
    const { bomFormat, metadata, components } = JSON.parse(readFileSync(join(made, name), 'utf8'));
    expect({ bomFormat, name: metadata.component.name }).toEqual({ bomFormat: 'CycloneDX', name: 'lkm' });
    const names = components.map((component: { name: string }) => component.name);
    expect(names).toEqual(expect.arrayContaining(['node', 'zod', 'pg', 'commander', 'swagger-ui-dist']));
    expect(names).not.toContain('vitest');
  });
});
