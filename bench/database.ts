import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AccountId, Instant, ProductId } from '../src/contract/scalars.ts';
import { openInstance } from '../src/server/instance.ts';
import { openStore } from '../src/store/open.ts';
import { freshLicense } from './license.ts';

/** A database made for measuring. */
export interface Fixture {
  readonly db: string;
  readonly token: string;
  readonly productId: string;
  /** A sample of its keys; each is unlimited and never expires. */
  readonly keys: readonly string[];
  remove(): void;
}

const SAMPLE = 1_000;

/** Makes a database that holds `count` keys. */
export async function makeDatabase(count: number): Promise<Fixture> {
  const folder = mkdtempSync(join(tmpdir(), 'lkm-bench-'));
  const db = join(folder, 'bench.db');
  const { accountId, token, productId } = await prepare(db);
  const keys = await fill(db, accountId, productId, count);
  const every = Math.max(1, Math.floor(keys.length / SAMPLE));
  return {
    db,
    token,
    productId,
    keys: keys.filter((_, index) => index % every === 0).slice(0, SAMPLE),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

async function prepare(db: string): Promise<{ accountId: AccountId; token: string; productId: ProductId }> {
  const instance = await openInstance({ db });
  const post = async (path: string, body: object) => {
    const answer = await instance.fetch(
      new Request(`http://127.0.0.1${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${instance.ownerToken}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    );
    return ((await answer.json()) as { data: { id: string; token: string } }).data;
  };
  const product = await post('/product', { name: 'bench' });
  const token = await post('/token', { kind: 'admin', name: 'bench' });
  await instance.close();
  return { accountId: instance.accountId, token: token.token, productId: product.id as ProductId };
}

async function fill(db: string, accountId: AccountId, productId: ProductId, count: number): Promise<string[]> {
  const store = await openStore(db, 0);
  const keys: string[] = [];
  const start = Date.now() - count;
  for (let from = 0; from < count; from += 10_000) {
    await store.transaction(async (rows) => {
      for (let index = from; index < Math.min(from + 10_000, count); index += 1) {
        const now = new Date(start + index).toISOString() as Instant;
        const license = freshLicense(accountId, productId, now);
        keys.push(license.key);
        await rows.keys.insert(license);
      }
    });
  }
  await store.close();
  return keys;
}
