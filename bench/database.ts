import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cluster } from '../faults/world.ts';
import { prepare } from '../faults/world.ts';
import type { AccountId, Instant, ProductId } from '../src/contract/scalars.ts';
import { newId } from '../src/domain/ids.ts';
import type { License } from '../src/domain/license.ts';
import { mintKey } from '../src/domain/license-key.ts';
import { createRandom } from '../src/service/context.ts';
import { openStore } from '../src/store/store.ts';
import { licenseWith } from '../test/domain/examples.ts';

/** A database made for measuring. */
export interface Fixture {
  readonly db: string;
  /** Its own, for whatever else a server writes. */
  readonly folder: string;
  readonly token: string;
  readonly productId: string;
  /** A sample of its keys; each is unlimited and never expires. */
  readonly keys: readonly string[];
  remove(): Promise<void>;
}

const SAMPLE = 1_000;

/** Makes a database that holds `count` keys: a SQLite file, or on a PostgreSQL server. */
export async function makeDatabase(count: number, cluster?: Cluster): Promise<Fixture> {
  const folder = mkdtempSync(join(tmpdir(), 'lkm-bench-'));
  const db = cluster ? await cluster.createDatabase() : join(folder, 'bench.db');
  const { accountId, token, productId } = await prepare(db);
  const keys = await fill(db, accountId as AccountId, productId as ProductId, count);
  const every = Math.max(1, Math.floor(keys.length / SAMPLE));
  return {
    db,
    folder,
    token,
    productId,
    keys: keys.filter((_, index) => index % every === 0).slice(0, SAMPLE),
    async remove() {
      await cluster?.dropDatabase(db);
      rmSync(folder, { recursive: true });
    },
  };
}

async function fill(db: string, accountId: AccountId, productId: ProductId, count: number): Promise<string[]> {
  const store = await openStore(db);
  const keys: string[] = [];
  const start = Date.now() - count;
  for (let from = 0; from < count; from += 10_000) {
    await store.transaction(async (repositories) => {
      for (let index = from; index < Math.min(from + 10_000, count); index += 1) {
        const now = new Date(start + index).toISOString() as Instant;
        const license = freshLicense(accountId, productId, now);
        keys.push(license.key);
        await repositories.keys.insert(license);
      }
    });
  }
  await store.close();
  return keys;
}

export const random = createRandom();

/** A fresh licence that is unlimited and never expires. */
export const freshLicense = (accountId: AccountId, productId: ProductId, now: Instant): License =>
  licenseWith({
    ...{ id: newId('lic', now, random(10)), accountId, productId, key: mintKey(random(15)) },
    ...{ createdAt: now, updatedAt: now },
  });
