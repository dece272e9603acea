import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Fixture } from './database.ts';
import { start } from './measure.ts';

/** An earlier version of lkm, built in a folder of its own. */
export interface Earlier {
  /** The folder of its checkout. */
  readonly root: string;
  remove(): void;
}

/** Checks out a revision and builds it. Takes about a minute; needs the npm registry or a filled cache. */
export function buildEarlier(revision: string): Earlier {
  const root = mkdtempSync(join(tmpdir(), 'lkm-bench-earlier-'));
  const archive = execFileSync('git', ['archive', revision], {
    cwd: dirname(import.meta.dirname),
    maxBuffer: 1_073_741_824,
  });
  execFileSync('tar', ['-x', '-C', root], { input: archive });
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: root, stdio: 'ignore' });
  return { root, remove: () => rmSync(root, { recursive: true, force: true }) };
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
      const response = await fetch(`${server.url}/create-key`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ productId, expiryDate: '2099-01-01T00:00:00.000Z' }),
      });
      keys.push(((await response.json()) as { key: string }).key);
    }
  };
  await Promise.all(Array.from({ length: SEED_CONNECTIONS }, createUntilEnough));
  await server.stop();
  return { ...fixture, keys };
}
