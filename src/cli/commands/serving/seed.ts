import { type Client, createClient } from '../../../client/client.ts';
import { toInstant } from '../../../domain/time.ts';
import { LocalError } from '../../failure/errors.ts';
import type { Io } from '../../io.ts';
import { inProcessUrl, openInstance } from '../../request/connection.ts';
import { loadPreflight } from '../../request/operator.ts';
import { demoCustomers, demoHosts, demoPlans, demoProducts, type SeededRandom, seededRandom } from './demo-data.ts';

const DAY_MS = 86_400_000;

/** How long ago the demonstration shop opened. */
const OPENED_DAYS = 84;

/** How many keys it has sold since. */
const SALES = 60;

/** Each plan as often as its weight says. */
const plans = demoPlans.flatMap((plan) => Array.from({ length: plan.weight }, () => plan));

/** The database to fill, and where it is to be served. */
export interface SeedTarget {
  readonly db: string;
  readonly host: string;
  readonly port: number;
}

/** The shop, once it is open. */
interface Shop {
  readonly client: Client;
  readonly products: readonly { readonly id: string; readonly isFloating: boolean }[];
  readonly customerIds: readonly string[];
}

/**
 * Fills a new database with the sales of twelve weeks, by real requests at a clock that runs through them. The same seed
 * makes the same sales; keys and ids are new each time. Returns an admin token. Throws `LocalError` when there is data.
 *
 * @param now when the twelve weeks end, in milliseconds since 1970
 */
export async function seedDatabase(
  { db, host, port }: SeedTarget,
  { seed, now }: { readonly seed: number; readonly now: number },
  io: Io,
): Promise<string> {
  const { tryAddress } = await loadPreflight();
  // What cannot be served would stay behind, and its token be shown to nobody.
  const release = await tryAddress(host, port);
  await release();
  let time = now - OPENED_DAYS * DAY_MS;
  const instance = await openInstance(db, io, { create: true, clock: () => time });
  try {
    if (!instance.created) {
      throw new LocalError(`${db} has data already`, ['--seed is for a new database: name one that does not exist.']);
    }
    const { fetch, ownerToken } = instance;
    const client = createClient({ baseUrl: inProcessUrl, fetch, token: ownerToken });
    const { token } = await client.tokens.create({ name: 'local', kind: 'admin', expiresAt: null });
    const shop = await openShop(client, () => {
      time += 1_000;
    });
    const random = seededRandom(seed);
    for (let sale = 0; sale < SALES; sale++) {
      // More is sold as time goes by.
      time = now - Math.floor(OPENED_DAYS * DAY_MS * (1 - Math.sqrt((sale + 1) / (SALES + 1))));
      await sell(shop, random, time);
    }
    time = now;
    return token;
  } finally {
    await instance.close();
  }
}

/** A second passes between one thing and the next, so that lists are always in the same order. */
async function openShop(client: Client, tick: () => void): Promise<Shop> {
  const products: Shop['products'][number][] = [];
  for (const { name, versions, isFloating } of demoProducts) {
    tick();
    const { id } = await client.products.create({ name });
    for (const version of versions) await client.products.createVersion({ productId: id, version });
    products.push({ id, isFloating });
  }
  const customerIds: string[] = [];
  for (const customer of demoCustomers) {
    tick();
    customerIds.push((await client.customers.create(customer)).id);
  }
  return { client, products, customerIds };
}

/** Sells a key, and lets some of its devices use it. */
async function sell({ client, products, customerIds }: Shop, random: SeededRandom, time: number): Promise<void> {
  const product = random.one(products);
  const { plan, slots, months } = random.one(plans);
  const end = months === null ? null : toInstant(time + Math.round(months * 30.4) * DAY_MS);
  const { key } = await client.keys.create({
    productId: product.id,
    customerId: random.one(customerIds),
    usesPerKey: slots,
    expiryDate: end,
    ...(product.isFloating && { licenseType: 'floating', maxConcurrentSessions: slots ?? 10 }),
    metadata: { plan, ...(plan === 'trial' && { is_trial: true }) },
  });
  const address = { productId: product.id, licenseKey: key };
  const used = product.isFloating ? 0 : random.upTo(Math.min(slots ?? 8, 8));
  const host = random.one(demoHosts);
  for (let device = 1; device <= used; device++) {
    const hostId = `${host}-${String(device).padStart(2, '0')}`;
    if (random.happens(0.25)) await client.keys.sign({ ...address, hostId, ttl: 30 * 86_400 });
    else await client.keys.activate({ ...address, hostId });
  }
  if (random.happens(0.04)) await client.keys.block({ ...address, note: 'chargeback' });
}
