import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Fixture } from './database.ts';
import { start } from './measure.ts';

/** Checks out a revision and builds it, into a folder. Takes about a minute; needs the npm registry or a filled cache. */
export function buildEarlier(revision: string, folder: string): void {
  const cwd = dirname(import.meta.dirname);
  const archive = execFileSync('git', ['archive', revision], { cwd, maxBuffer: 1_073_741_824 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'ignore' });
}

const SEED_CONNECTIONS = 16;

/** Makes a database of `count` keys with nothing but the command and the API, which all versions share. */
export async function seed(root: string, count: number): Promise<Fixture> {
  const folder = mkdtempSync(join(tmpdir(), 'lkm-bench-'));
  const db = join(folder, 'bench.db');
  const lkm = (...words: string[]) =>
    execFileSync(process.execPath, [join(root, 'bin/lkm.js'), ...words, '--db', db], {
      env: { PATH: process.env.PATH, HOME: folder },
      stdio: ['ignore', 'pipe', 'ignore'],
      encoding: 'utf8',
    }).trim();
  lkm('db', 'migrate');
  const productId = lkm('products', 'create', '--name', 'bench', '-q');
  const token = lkm('tokens', 'create', '--kind', 'admin', '--name', 'bench', '-q');
  const fixture = { db, folder, token, productId, remove: async () => rmSync(folder, { recursive: true }) };
  const server = await start({ server: 'lkm serve', root, fixture: { ...fixture, keys: [] } });
  const keys: string[] = [];
  const createUntilEnough = async () => {
    while (keys.length < count) {
      const input = { productId, expiryDate: '2099-01-01T00:00:00.000Z' };
      keys.push((await server.call<{ key: string }>('POST', '/create-key', input)).key);
    }
  };
  await Promise.all(Array.from({ length: SEED_CONNECTIONS }, createUntilEnough));
  await server.stop();
  return { ...fixture, keys };
}
