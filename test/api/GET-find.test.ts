import { expect } from 'vitest';
import { answers, refuses, row, scenarios } from '../support/scenario.ts';
import type { World } from '../support/world.ts';

interface Shop {
  readonly editor: string;
  readonly viewer: string;
  readonly ada: string;
  readonly adaKey: string;
  readonly viewerKey: string;
  readonly earlierKey: string;
}

/** Two products; Ada has a key with an order and two devices, another key was exchanged, and Müller has none. */
async function openShop(world: World): Promise<Shop> {
  const editor = (await world.product('Editor')).id;
  const viewer = (await world.product('Viewer')).id;
  const ada = (await world.customer({ name: 'Ada Ltd', email: 'it@mill.example' })).id;
  await world.customer({ name: 'Jörg Müller' });
  const adaKey = await world.key({
    ...{ productId: editor, customerId: ada, usesPerKey: '5', reference: 'ORDER-77' },
    metadata: { invoice: 'RE-2026/1001', paid: true },
  });
  const sign = (hostId: string, deviceTag?: string) =>
    world.call('admin', 'POST', '/key/activate', { productId: editor, licenseKey: adaKey, hostId, deviceTag });
  await sign('laptop-4711');
  await sign('b7c1', 'Workshop PC');
  const earlierKey = await world.key({ productId: viewer });
  const address = { productId: viewer, licenseKey: earlierKey };
  const viewerKey = (await world.call('admin', 'POST', '/key/reissue', address)).body.key;
  return { editor, viewer, ada, adaKey, viewerKey, earlierKey };
}

const masked = (key: string) => `*****-*****-*****-*****-${key.slice(-5)}`;

const ofAda = ({ ada }: Shop) => ({ customerId: ada, customerName: 'Ada Ltd', customerEmail: 'it@mill.example' });
const nobody = { customerId: null, customerName: null, customerEmail: null };

type Found = Readonly<Record<string, unknown>>;

const keyOfAda =
  (by: string, matched: string | null = null, changes: (shop: Shop) => Found = () => ({})) =>
  (shop: Shop): Found => ({
    ...{ kind: 'key', by, matched: matched ?? shop.adaKey, licenseId: expect.stringMatching(/^lic_/) },
    ...{ key: shop.adaKey, productId: shop.editor, productName: 'Editor', ...ofAda(shop), ...changes(shop) },
  });

const viewerKey =
  (by: string) =>
  ({ viewer, viewerKey: key }: Shop): Found => ({
    ...{ kind: 'key', by, matched: key, licenseId: expect.stringMatching(/^lic_/), key },
    ...{ productId: viewer, productName: 'Viewer', ...nobody },
  });

const maskedViewerKey = (shop: Shop): Found => {
  const key = masked(shop.viewerKey);
  return { ...viewerKey('previousKey')(shop), key, matched: key };
};

const adaHerself =
  (by: string) =>
  (shop: Shop): Found => ({
    ...{ kind: 'customer', by, licenseId: null, key: null, productId: null, productName: null, ...ofAda(shop) },
    matched: { name: 'Ada Ltd', email: 'it@mill.example', id: shop.ada }[by],
  });

const finds = (...found: readonly ((shop: Shop) => Found)[]) =>
  answers<Shop>((shop: Shop) => ({ data: found.map((one) => one(shop)), meta: { limit: 20, more: false }, code: 0 }));

const hasMasked = (shop: Shop) => ({ key: masked(shop.adaKey) });
const withoutNames = (shop: Shop) => ({
  ...hasMasked(shop),
  productName: null,
  customerName: null,
  customerEmail: null,
});

scenarios<Shop>('search.find', { given: openShop, query: () => ({ text: 'nothing' }) }, [
  row('finds nothing by what nobody has', finds()),
  row('finds a key by all of it, in any case', finds(keyOfAda('key')), {
    send: ({ adaKey }) => ({ text: ` ${adaKey.toLowerCase()} ` }),
  }),
  ...['', '…', '...', '*****-*****-*****-*****-'].map((mask) =>
    row<Shop>(`finds a key by its last section as it is shown: ${mask}`, finds(keyOfAda('key')), {
      send: ({ adaKey }: Shop) => ({ text: mask + adaKey.slice(-5) }),
    }),
  ),
  row('finds a key by the one before it', finds(viewerKey('previousKey')), {
    send: ({ earlierKey }) => ({ text: earlierKey }),
  }),
  ...['', '…'].map((mask) =>
    row<Shop>(`finds a key by the last section of the one before it: ${mask}`, finds(viewerKey('previousKey')), {
      send: ({ earlierKey }) => ({ text: mask + earlierKey.slice(-5).toLowerCase() }),
    }),
  ),
  row('finds a key by the shown end of the one before it for who sees keys masked', finds(maskedViewerKey), {
    as: 'read-only',
    send: ({ earlierKey }) => ({ text: earlierKey.slice(-5) }),
  }),
  ...[4, 6, 11].map((length) =>
    row<Shop>(`finds no key by another part of the one before it for these: ${length}`, finds(), {
      as: 'read-only',
      send: ({ earlierKey }) => ({ text: earlierKey.slice(-length) }),
    }),
  ),
  row('finds a key by a part of its reference', finds(keyOfAda('reference', 'ORDER-77')), { send: { text: 'der-77' } }),
  row('finds a key by an order in its metadata', finds(keyOfAda('metadata', 'invoice=RE-2026/1001')), {
    send: { text: '2026/1001' },
  }),
  row('finds no key by a flag in its metadata', finds(), { send: { text: 'true' } }),
  row('finds a key by a host', finds(keyOfAda('device', 'laptop-4711')), { send: { text: '4711' } }),
  row('finds a key by the tag of a device', finds(keyOfAda('device', 'Workshop PC')), { send: { text: 'kshop' } }),
  row('finds a customer by a part of the name', finds(adaHerself('name')), { send: { text: 'ADA L' } }),
  row('finds a customer by a part of the address', finds(adaHerself('email')), { send: { text: '@mill' } }),
  row('finds a customer by its id', finds(adaHerself('id')), { send: ({ ada }) => ({ text: ada }) }),
  row(
    'finds a customer without accents',
    answers({
      data: [expect.objectContaining({ kind: 'customer', matched: 'Jörg Müller' })],
      meta: { limit: 20, more: false },
      code: 0,
    }),
    { send: { text: 'joerg muell' } },
  ),
  row(
    'gives so many of a kind as are asked for, and says that there are more',
    answers({
      data: [expect.objectContaining({ kind: 'customer', customerName: 'Jörg Müller' })],
      meta: { limit: 1, more: true },
      code: 0,
    }),
    {
      given: async (world) => {
        await world.customer({ name: 'Muller' });
        await world.call('admin', 'PUT', `/customer/by-id?customerId=${(await world.customer({ name: 'x' })).id}`, {
          name: 'Jörg Müller',
        });
      },
      send: { text: 'muller', limit: '1' },
    },
  ),
  row('shows a key masked to a caller that sees it so', finds(keyOfAda('device', 'laptop-4711', hasMasked)), {
    as: 'read-only',
    send: { text: 'laptop' },
  }),
  row('finds no customer without customer:read', finds(), {
    as: { scopes: ['license:read'] },
    send: { text: 'ada' },
  }),
  row(
    'names neither product nor customer to who may not list these',
    finds(keyOfAda('reference', 'ORDER-77', withoutNames)),
    {
      as: { scopes: ['license:read'] },
      send: { text: 'ORDER-77' },
    },
  ),
  ...['ada', 'ORDER-77', '4711'].map((text) =>
    row(`finds nothing of another product: ${text}`, finds(), {
      as: ({ viewer }: Shop) => ({ scopes: ['license:read', 'customer:read'], productIds: [viewer] }),
      send: { text },
    }),
  ),
  row('finds what is of its own product', finds(adaHerself('name')), {
    as: ({ editor }) => ({ scopes: ['license:read', 'customer:read'], productIds: [editor] }),
    send: { text: 'ada' },
  }),
  ...refuses<Shop>('invalidParams', { 'no text': { text: undefined }, 'too many': { limit: '101' } }),
]);
