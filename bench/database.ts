import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepare } from '../faults/world.ts';
import type { AccountId, Instant, ProductId } from '../src/contract/scalars.ts';
import { newId } from '../src/domain/ids.ts';
import type { License } from '../src/domain/license.ts';
import { mintKey } from '../src/domain/license-key.ts';
import { createRandom } from '../src/service/context.ts';
import { openStore, type Repositories, type Store } from '../src/store/store.ts';
import { licenseWith } from '../test/domain/examples.ts';

/** A SQLite database made for measuring. */
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

interface Empty {
  readonly db: string;
  readonly accountId: string;
  readonly productId: string;
}

const SAMPLE = 1_000;

/** Makes a database that holds `count` keys, and what `fill` adds. */
export async function makeDatabase(count: number, fill?: (empty: Empty) => Promise<void>): Promise<Fixture> {
  const folder = mkdtempSync(join(tmpdir(), 'lkm-bench-'));
  const db = join(folder, 'bench.db');
  const { accountId, token, productId } = await prepare(db);
  const keys: string[] = [];
  const store = await openStore(db);
  const start = Date.now() - count;
  await insertMany(store, count, async (repositories, index) => {
    const now = new Date(start + index).toISOString() as Instant;
    const license = freshLicense(accountId as AccountId, productId as ProductId, now);
    if (index % Math.ceil(count / SAMPLE) === 0) keys.push(license.key);
    await repositories.keys.insert(license);
  });
  await store.close();
  await fill?.({ db, accountId, productId });
  return { db, folder, token, productId, keys, remove: async () => rmSync(folder, { recursive: true }) };
}

const PER_TRANSACTION = 10_000;

/** Calls `insert` so many times, in large transactions. */
export async function insertMany(
  store: Store,
  count: number,
  insert: (repositories: Repositories, index: number) => Promise<void>,
): Promise<void> {
  for (let from = 0; from < count; from += PER_TRANSACTION) {
    await store.transaction(async (repositories) => {
      for (let index = from; index < Math.min(from + PER_TRANSACTION, count); index += 1)
        await insert(repositories, index);
    });
  }
}

export const random = createRandom();

/** A fresh licence that is unlimited and never expires. */
export const freshLicense = (accountId: AccountId, productId: ProductId, now: Instant): License =>
  licenseWith({
    ...{ id: newId('lic', now, random(10)), accountId, productId, key: mintKey(random(15)) },
    ...{ createdAt: now, updatedAt: now },
  });
