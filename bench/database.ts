import { type ExecFileSyncOptionsWithStringEncoding, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepare } from '../faults/world.ts';
import type { AccountId, HostId, Instant, ProductId } from '../src/contract/scalars.ts';
import { newId } from '../src/domain/ids.ts';
import type { IpAddress } from '../src/domain/ip-address.ts';
import type { License } from '../src/domain/license.ts';
import { mintKey } from '../src/domain/license-key.ts';
import { createRandom } from '../src/service/context.ts';
import { openStore, type Repositories } from '../src/store/store.ts';
import { licenseWith } from '../test/domain/examples.ts';
import { type Fixture, start } from './measure.ts';

const folders = mkdtempSync(join(tmpdir(), 'lkm-bench-'));
process.once('exit', () => rmSync(folders, { recursive: true, force: true }));

/** Makes a folder that is there until this process ends. */
export const makeFolder = (): string => mkdtempSync(join(folders, 'f'));

/** Makes a database of `count` keys with nothing but the command and the API, which all versions share. */
export async function seed(root: string, count: number): Promise<Fixture> {
  const folder = makeFolder();
  const db = join(folder, 'bench.db');
  const env = { PATH: process.env.PATH, HOME: folder };
  const options: ExecFileSyncOptionsWithStringEncoding = { env, stdio: ['ignore', 'pipe', 'ignore'], encoding: 'utf8' };
  const lkm = (...words: string[]) =>
    execFileSync(process.execPath, [join(root, 'bin/lkm.js'), ...words, '--db', db], options).trim();
  lkm('db', 'migrate');
  const productId = lkm('products', 'create', '--name', 'bench', '-q');
  const token = lkm('tokens', 'create', '--kind', 'admin', '--name', 'bench', '-q');
  const keys: string[] = [];
  const fixture = { db, folder, token, productId, keys };
  const server = await start({ root, fixture: async () => fixture });
  const input = { productId, expiryDate: '2099-01-01T00:00:00.000Z' };
  const create = async () => {
    while (keys.length < count) keys.push((await server.call<{ key: string }>('POST', '/create-key', input)).key);
  };
  await Promise.all(Array.from({ length: 16 }, create));
  await server.stop();
  return fixture;
}

const SAMPLE = 1_000;
const DAY_MS = 86_400_000;
const TWO_YEARS_MS = 730 * DAY_MS;
const PER_TRANSACTION = 10_000;

const random = createRandom();
const instant = (ms: number) => new Date(ms).toISOString() as Instant;

/** A database of varied keys, with what requests name in it. */
export type Varied = Awaited<ReturnType<typeof makeVaried>>;

/**
 * Fills a database as a shop of two years would: most keys of one of ten products, for a year, a third with a customer,
 * a third in use, one in a hundred blocked, some trials and floating ones. Its `keys`, among them, are unlimited and never expire.
 */
export async function makeVaried(count: number) {
  const folder = makeFolder();
  const db = join(folder, 'bench.db');
  const { token, ...ids } = await prepare(db);
  const [accountId, productId] = [ids.accountId as AccountId, ids.productId as ProductId];
  const store = await openStore(db);
  const start = Date.now() - TWO_YEARS_MS;
  const at = (index: number) => instant(start + (index * TWO_YEARS_MS) / count);
  const insertMany = async (total: number, insert: (repositories: Repositories, index: number) => Promise<void>) => {
    for (let from = 0; from < total; from += PER_TRANSACTION) {
      await store.transaction(async (repositories) => {
        for (let index = from; index < Math.min(from + PER_TRANSACTION, total); index += 1)
          await insert(repositories, index);
      });
    }
  };
  const products = [productId];
  const customers: string[] = [];
  const keys: string[] = [];
  let middle: License | undefined;
  await insertMany(9, async ({ products: table }, index) => {
    const id = newId('prod', at(0), random(10)) as ProductId;
    await table.insert({ accountId, id, name: `Product ${index}`, now: at(0) });
    products.push(id);
  });
  await insertMany(Math.ceil(count / 5), async (repositories, index) => {
    const id = newId('cus', at(0), random(10));
    const name = `Customer${index} ${index % 1_000 === 0 ? 'Engines' : 'Ltd'}`;
    await repositories.customers.insert({ accountId, id, name, email: `it@customer${index}.example`, now: at(0) });
    customers.push(id);
  });
  await insertMany(count, async (repositories, index) => {
    const now = at(index);
    const id = newId('lic', now, random(10));
    const plain = { id, accountId, productId, key: mintKey(random(15)), createdAt: now, updatedAt: now };
    const isPlain = index % Math.ceil(count / SAMPLE) === 0;
    const license = licenseWith(isPlain ? plain : { ...plain, ...vary(index, now, products, customers) });
    if (isPlain) keys.push(license.key);
    if (index === Math.floor(count / 2)) middle = license;
    await repositories.keys.insert(license);
    // The server has nothing to catch up with while it is timed, nor below.
    if (license.expirationDate !== null && Date.parse(license.expirationDate) < Date.now())
      await repositories.licenseExpiries.markRecorded(license);
    for (let device = 0; device < license.activations; device += 1)
      await repositories.devices.insert(license, deviceOf(`host-${index}-${device}`, now));
  });
  const soon = instant(Date.now() + 31 * DAY_MS); // a running server records ends that are nearer than a month
  for (let isFull = true; isFull; ) {
    isFull = await store.transaction(async ({ licenseExpiries }) =>
      licenseExpiries.isFullBatch((await licenseExpiries.markSoon(accountId, soon)).length),
    );
  }
  await store.close();
  if (middle === undefined) throw new Error('a database without keys has no middle');
  // The licence in the middle: as many are newer as are older.
  const named = { customerId: customers[0] ?? '', key: middle.key, middle: middle.id, last: at(count - 1) };
  return { db, folder, token, productId, keys, ...named };
}

const deviceOf = (hostId: string, now: Instant) => ({
  ...{ id: newId('dev', now, random(10)), hostId: hostId as HostId, deviceTag: null, activationTime: now },
  ipAddress: '203.0.113.7' as IpAddress,
});

function vary(index: number, createdAt: Instant, products: readonly ProductId[], customers: readonly string[]) {
  const maxActivations = [null, 1, 1, 5, 5][index % 5] ?? null;
  return {
    ...(index % 5 === 0 && { productId: products[(index / 5) % 10] as ProductId }),
    customerId: index % 3 === 0 ? (customers[(index / 3) % customers.length] ?? null) : null,
    maxActivations,
    activations: index % 3 === 1 ? Math.min(1 + (index % 2), maxActivations ?? 1) : 0,
    expirationDate: index % 7 === 0 ? null : instant(Date.parse(createdAt) + 365 * DAY_MS),
    isTrial: index % 10 === 0,
    licenseType: index % 20 === 0 ? 'floating' : 'node-locked',
    vendorDisabled: index % 100 === 50,
    metadata: index % 10 === 1 ? { plan: 'pro', order: `A-${index}` } : {},
  } satisfies Partial<License>;
}
