import { expect } from 'vitest';
import { answers, row, scenarios } from '../support/scenario.ts';
import type { World } from '../support/world.ts';

interface Shop {
  readonly editor: string;
  readonly viewer: string;
}

const NOW = '2026-11-21T10:00:00.000Z';
const none = { total: 0, active: 0, unused: 0, full: 0, expiring: 0, expired: 0, blocked: 0, revoked: 0, trial: 0 };

/** Mondays, the last one that of the week that is not over. */
const mondays = Array.from({ length: 12 }, (_, week) =>
  new Date(Date.UTC(2026, 7, 31 + 7 * week)).toISOString().slice(0, 10),
);

const perWeek = (counts: Readonly<Record<string, number>> = {}) =>
  mondays.map((week) => ({ week, count: counts[week] ?? 0 }));

const empty = {
  ...{ keys: none, products: [], devices: 0, sessions: 0, customers: 0, fullest: [], nextToExpire: [] },
  ...{ issuedPerWeek: perWeek(), activatedPerWeek: perWeek() },
};

/** Two products: keys of all kinds, a pool of five with three devices, a session, a customer. */
async function openShop(world: World): Promise<Shop> {
  world.setNow('2026-08-30T23:59:59.999Z');
  const editor = (await world.product('Editor')).id;
  const viewer = (await world.product('Viewer')).id;
  await world.key({ productId: editor, expiryDate: '2026-11-01T00:00:00Z' });
  world.setNow('2026-08-31T00:00:00.000Z');
  const pool = await world.key({ productId: editor, usesPerKey: '5', expiryDate: '2027-01-01T00:00:00Z' });
  await world.key({ productId: editor, expiryDate: null });
  await world.sql(`update licenses set vendor_disabled = 1 where expires_at is null`);
  world.setNow('2026-11-15T23:59:59.000Z');
  await world.activate({ productId: editor, licenseKey: pool }, 'one', 'two', 'three');
  world.setNow('2026-11-16T00:00:00.000Z');
  await world.customer();
  const single = await world.key({ productId: viewer, usesPerKey: '1', metadata: { is_trial: true } });
  await world.activate({ productId: viewer, licenseKey: single }, 'one');
  world.setNow(NOW);
  const floating = await world.key({ productId: viewer, licenseType: 'floating', expiryDate: null });
  await world.call('admin', 'POST', '/key/checkout', { productId: viewer, licenseKey: floating });
  return { editor, viewer };
}

const ofEditor = { ...none, total: 3, active: 1, expired: 1, blocked: 1 };
const ofViewer = { ...none, total: 2, active: 2, unused: 1, full: 1, expiring: 1, trial: 1 };
const all = { total: 5, active: 3, unused: 1, full: 1, expiring: 1, expired: 1, blocked: 1, revoked: 0, trial: 1 };

const pool = expect.objectContaining({ activations: 3, maxActivations: 5 });
const single = expect.objectContaining({ activations: 1, maxActivations: 1 });
const half = expect.objectContaining({ activations: 1, maxActivations: 2 });

const viewerOnly = {
  body: ({ viewer }: Shop) => ({
    data: {
      ...empty,
      keys: ofViewer,
      products: [{ productId: viewer, productName: 'Viewer', ...ofViewer }],
      ...{ devices: 1, sessions: 1, customers: null },
      issuedPerWeek: perWeek({ '2026-11-16': 2 }),
      activatedPerWeek: perWeek({ '2026-11-16': 1 }),
      nextToExpire: [single],
    },
    code: 0,
  }),
};

const everything = {
  body: ({ editor, viewer }: Shop) => ({
    data: {
      keys: all,
      products: expect.arrayContaining([
        { productId: editor, productName: 'Editor', ...ofEditor },
        { productId: viewer, productName: 'Viewer', ...ofViewer },
      ]),
      ...{ devices: 4, sessions: 1, customers: 1 },
      issuedPerWeek: perWeek({ '2026-08-31': 2, '2026-11-16': 2 }),
      activatedPerWeek: perWeek({ '2026-11-09': 3, '2026-11-16': 1 }),
      fullest: [pool],
      nextToExpire: [single, pool],
    },
    code: 0,
  }),
};

scenarios<Shop>('stats.get', { given: openShop }, [
  row('counts nothing where there is nothing', answers({ data: empty, code: 0 }), { as: 'other admin' }),
  row('counts keys by product and status, devices, sessions and customers', everything),
  row(
    'names no product without product:read',
    answers({
      data: expect.objectContaining({
        products: expect.arrayContaining([expect.not.objectContaining({ productName: 'Viewer' })]),
      }),
      code: 0,
    }),
    { as: ({ viewer }: Shop) => ({ scopes: ['license:read'], productIds: [viewer] }) },
  ),
  row('counts only the product that the token is for', viewerOnly, {
    as: ({ viewer }) => ({ kind: 'read-only', productIds: [viewer] }),
    absent: ({ editor }) => [editor],
  }),
  row(
    'orders the keys of two products among each other, whichever product comes first',
    answers({
      data: expect.objectContaining({ fullest: [pool, half], nextToExpire: [single, pool, half] }),
      code: 0,
    }),
    {
      given: async (world, { viewer: productId }) => {
        const licenseKey = await world.key({ productId, usesPerKey: '2', expiryDate: '2027-02-01T00:00:00Z' });
        await world.activate({ productId, licenseKey }, 'one');
      },
      as: ({ editor, viewer }) => ({ kind: 'read-only', productIds: [viewer, editor] }),
    },
  ),
  row(
    'counts nothing of a product that the token is not for',
    answers({ data: { ...empty, customers: null }, code: 0 }),
    {
      send: ({ editor }) => ({ productId: editor }),
      as: ({ viewer }) => ({ kind: 'read-only', productIds: [viewer] }),
    },
  ),
]);
