import type { Client } from '../../../client/client.ts';
import { toInstant } from '../../../domain/time.ts';
import type { CommandContext } from '../../context.ts';
import { LocalError } from '../../failure/errors.ts';
import { asOwnerOf } from '../../request/connection.ts';

const products = [
  { name: 'Engine Pro', versions: ['1.0', '1.1', '2.0'], isFloating: false },
  { name: 'Studio', versions: ['2026.1', '2026.2'], isFloating: false },
  { name: 'Render Farm', versions: ['5.3'], isFloating: true },
] as const;

const customers = (
  'Ada Analytics, Aurora Games, Birchwood Design, Blue Harbor Media, Brücke & Söhne, Cedar Labs, Copperfield Studios, ' +
  'Delta Robotics, Fjord Systems, Granite Press, Hanami Arts, Ivy Street Software, Juniper Health, Kestrel Maps, ' +
  'Lumière Films, Meridian Audio, Northwind Tools, Orchard Bank, Pico Instruments, Quill & Ink, Río Verde Energía, ' +
  'Saffron Foods, Tidal Research, Umbra Optics'
).split(', ');

const plans = [
  { plan: 'solo', slots: 1, months: 12, weight: 5 },
  { plan: 'team', slots: 5, months: 12, weight: 6 },
  { plan: 'business', slots: 25, months: 24, weight: 2 },
  { plan: 'site', slots: null, months: null, weight: 1 },
  { plan: 'trial', slots: 2, months: 1, weight: 3 },
].flatMap((plan) => Array.from({ length: plan.weight }, () => plan));

const hosts = ['build', 'ci', 'desk', 'laptop', 'mac', 'render', 'studio', 'ws'];

const DAY_MS = 86_400_000;
const OPENED_DAYS = 84;
const SALES = 60;

/**
 * Fills a new database with the sales of twelve weeks by real requests, with a clock that runs through them. A seed
 * determines the sales; keys and ids are new. Returns an admin token. Throws `LocalError` for a database with data.
 */
export async function seedDatabase(
  db: string,
  { seed, now }: { readonly seed: number; readonly now: number },
  context: CommandContext,
): Promise<string> {
  let time = now - OPENED_DAYS * DAY_MS;
  return asOwnerOf(db, context, { create: true, clock: () => time }, async (client, { created }) => {
    if (!created) {
      throw new LocalError(`${db} has data already`, ['--seed is for a new database: name one that does not exist.']);
    }
    const { token } = await client.tokens.create({ name: 'local', kind: 'admin', expiresAt: null });
    const shop: Shop = { client, products: [], customerIds: [] };
    // A second between objects, so that lists have a fixed order.
    for (const { name, versions, isFloating } of products) {
      time += 1_000;
      const { id } = await client.products.create({ name });
      for (const version of versions) await client.products.createVersion({ productId: id, version });
      shop.products.push({ id, isFloating });
    }
    for (const name of customers) {
      time += 1_000;
      shop.customerIds.push((await client.customers.create({ name, email: emailOf(name) })).id);
    }
    const random = seededRandom(seed);
    for (let sale = 0; sale < SALES; sale++) {
      // Sales increase over time.
      time = now - Math.floor(OPENED_DAYS * DAY_MS * (1 - Math.sqrt((sale + 1) / (SALES + 1))));
      await sell(shop, random, time);
    }
    time = now;
    return token;
  });
}

/** A reserved domain (RFC 2606). */
function emailOf(name: string): string {
  const words = name.normalize('NFD').replaceAll(/[^a-zA-Z0-9]+/g, ' ');
  return `it@${words.trim().replaceAll(' ', '-').toLowerCase()}.example`;
}

interface Shop {
  readonly client: Client;
  readonly products: { readonly id: string; readonly isFloating: boolean }[];
  readonly customerIds: string[];
}

/** Issues a key and activates some devices. `random` returns numbers from 0 to below 1. */
async function sell({ client, products, customerIds }: Shop, random: () => number, time: number): Promise<void> {
  const one = <T>(things: readonly T[]) => things[Math.floor(random() * things.length)] as T;
  const product = one(products);
  const { plan, slots, months } = one(plans);
  const end = months === null ? null : toInstant(time + Math.round(months * 30.4) * DAY_MS);
  const { key } = await client.keys.create({
    productId: product.id,
    customerId: one(customerIds),
    usesPerKey: slots,
    expiryDate: end,
    ...(product.isFloating && { licenseType: 'floating', maxConcurrentSessions: slots ?? 10 }),
    metadata: { plan, ...(plan === 'trial' && { is_trial: true }) },
  });
  const address = { productId: product.id, licenseKey: key };
  const used = product.isFloating ? 0 : Math.floor(random() * (Math.min(slots ?? 8, 8) + 1));
  const host = one(hosts);
  for (let device = 1; device <= used; device++) {
    const hostId = `${host}-${String(device).padStart(2, '0')}`;
    if (random() < 0.25) await client.keys.sign({ ...address, hostId, ttl: 30 * 86_400 });
    else await client.keys.activate({ ...address, hostId });
  }
  if (random() < 0.04) await client.keys.block({ ...address, note: 'chargeback' });
}

/** mulberry32: small, and even enough for a demonstration. */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
