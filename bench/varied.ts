import type { AccountId, HostId, Instant, ProductId } from '../src/contract/scalars.ts';
import { newId } from '../src/domain/ids.ts';
import type { IpAddress } from '../src/domain/ip-address.ts';
import type { License } from '../src/domain/license.ts';
import { openStore } from '../src/store/store.ts';
import { freshLicense, insertMany, random } from './database.ts';

/** What a database of varied keys holds, as far as requests name it. */
export interface Varied {
  readonly customerId: string;
  /** A key in full. */
  readonly key: string;
  /** The id of the key in the middle: as many are newer as are older. */
  readonly middle: string;
  /** When the oldest and when the newest key was created. */
  readonly first: Instant;
  readonly last: Instant;
}

const YEARS = 2;
const DAY_MS = 86_400_000;
/** The server records ends that are so near, while it runs. */
const SOON_DAYS = 31;

/**
 * Fills a database as a shop of two years would: most keys of one of ten products, for a year, a third with a customer,
 * a third in use, one in a hundred blocked, some trials and floating ones.
 */
export async function fillVaried(
  db: string,
  accountId: AccountId,
  productId: ProductId,
  count: number,
): Promise<Varied> {
  const store = await openStore(db);
  const start = Date.now() - YEARS * 365 * DAY_MS;
  const at = (index: number) => new Date(start + (index * YEARS * 365 * DAY_MS) / count).toISOString() as Instant;
  const products = [productId];
  const customers: string[] = [];
  await insertMany(store, 9, async (repositories, index) => {
    const id = newId('prod', at(0), random(10)) as ProductId;
    await repositories.products.insert({ accountId, id, name: `Product ${index}`, now: at(0) });
    products.push(id);
  });
  await insertMany(store, Math.ceil(count / 5), async (repositories, index) => {
    const id = newId('cus', at(0), random(10));
    const name = `Customer${index} ${index % 1_000 === 0 ? 'Engines' : 'Ltd'}`;
    await repositories.customers.insert({ accountId, id, name, email: `it@customer${index}.example`, now: at(0) });
    customers.push(id);
  });
  let middle: License | undefined;
  await insertMany(store, count, async (repositories, index) => {
    const product = index % 5 === 0 ? products[(index / 5) % 10] : productId;
    const license = vary(freshLicense(accountId, product ?? productId, at(index)), index, customers);
    if (index === Math.floor(count / 2)) middle = license;
    await repositories.keys.insert(license);
    // The server has nothing to catch up with while it is timed, nor below.
    if (hasEnded(license)) await repositories.licenseExpiries.markRecorded(license);
    for (let device = 0; device < license.activations; device += 1) {
      const { createdAt: activationTime } = license;
      const hostId = `host-${index}-${device}` as HostId;
      const ipAddress = '203.0.113.7' as IpAddress;
      const id = newId('dev', activationTime, random(10));
      await repositories.devices.insert(license, { id, hostId, deviceTag: null, ipAddress, activationTime });
    }
  });
  const soon = new Date(Date.now() + SOON_DAYS * DAY_MS).toISOString() as Instant;
  for (let isFull = true; isFull; ) {
    isFull = await store.transaction(async ({ licenseExpiries }) =>
      licenseExpiries.isFullBatch((await licenseExpiries.markSoon(accountId, soon)).length),
    );
  }
  await store.close();
  if (middle === undefined) throw new Error('a database without keys has no middle');
  return { customerId: customers[0] ?? '', key: middle.key, middle: middle.id, first: at(0), last: at(count - 1) };
}

const hasEnded = ({ expirationDate }: License): boolean =>
  expirationDate !== null && Date.parse(expirationDate) < Date.now();

function vary(license: License, index: number, customers: readonly string[]): License {
  const maxActivations = [null, 1, 1, 5, 5][index % 5] ?? null;
  const end = Date.parse(license.createdAt) + 365 * DAY_MS;
  return {
    ...license,
    customerId: index % 3 === 0 ? (customers[(index / 3) % customers.length] ?? null) : null,
    maxActivations,
    activations: index % 3 === 1 ? Math.min(1 + (index % 2), maxActivations ?? 1) : 0,
    expirationDate: index % 7 === 0 ? null : (new Date(end).toISOString() as Instant),
    isTrial: index % 10 === 0,
    licenseType: index % 20 === 0 ? 'floating' : 'node-locked',
    vendorDisabled: index % 100 === 0,
    metadata: index % 10 === 1 ? { plan: 'pro', order: `A-${index}` } : {},
  };
}
