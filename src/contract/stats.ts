import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { ListedLicense } from './keys/lists.ts';
import { data } from './reply.ts';
import { Count, ProductId, resource, shown, shownId } from './scalars.ts';

const counts = {
  total: Count.describe('All keys: active, expired, blocked and revoked ones'),
  active: Count.describe('Neither blocked, nor revoked, nor expired'),
  unused: Count.describe('Active, without a device'),
  full: Count.describe('Active, without a free activation slot'),
  expiring: Count.describe('Active, and expiring within 30 days'),
  expired: Count.describe('Expired, and neither blocked nor revoked'),
  blocked: Count.describe('Disabled by the vendor until it is unblocked'),
  revoked: Count.describe('Revoked by the vendor for ever'),
  trial: Count.describe('Trials, whatever else they are'),
};

/** How many keys there are, by status. */
export type KeyCounts = Record<keyof typeof counts, number>;

const productName = shown('The name of the product; absent without `product:read`', 'Editor').optional();

const Monday = z.iso.date().meta({ description: 'Its Monday, UTC', examples: ['2026-11-16'] });
const Weeks = z.array(z.looseObject({ week: Monday, count: Count }));

export const Stats = resource('Stats', 'Statistics of keys, devices, sessions and customers', {
  keys: z.looseObject(counts).meta({ id: 'KeyCounts', description: 'How many keys, by status' }),
  products: z
    .array(z.looseObject({ productId: shownId(ProductId), productName, ...counts }))
    .describe('The same by product'),
  devices: Count.describe('How many devices hold a slot'),
  sessions: Count.describe('How many sessions are leased now'),
  customers: Count.nullable().describe('How many customers the account has; null for some products only'),
  issuedPerWeek: Weeks.describe('Keys created in each of the last 12 weeks, oldest first; the last is not over'),
  activatedPerWeek: Weeks.describe('How many of the devices were activated in each of those weeks'),
  fullest: z.array(ListedLicense).describe('Up to 20 active keys with several slots and a device, the fullest first'),
  nextToExpire: z.array(ListedLicense).describe('Up to 20 active keys, those that expire next first'),
});
export type Stats = z.output<typeof Stats>;

export const stats = {
  /** Counts keys, devices, sessions and customers. Source: decision 0052. */
  get: endpoint('GET /stats', 'license:read', {
    summary: 'Count keys, devices and sessions',
    description:
      'Counts keys by product and status, devices, sessions and customers, and names the keys that run full or expire ' +
      'next. A token that is limited to some products gets the statistics of these only.',
    query: z.object({ productId: ProductId.optional().describe('Only this product') }),
    readsMany: true,
    reply: data('GetStatsResponse', Stats),
    example: { productId: 'prod_01jd7q3v6ye2wb8x5k9m4n0r7t' },
  }),
};
