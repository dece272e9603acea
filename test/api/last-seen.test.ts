import { describe, expect, it } from 'vitest';
import { engines } from '../support/engines.ts';
import { answers, row, scenarios } from '../support/scenario.ts';
import { checkOut, signedBy } from '../support/sessions.ts';
import { type Shop, shopWith, shownDevice } from '../support/shop.ts';
import { type Address, createWorld, STARTED_AT, type World } from '../support/world.ts';

/** The first day of a world, and some later ones. */
const FIRST = STARTED_AT.slice(0, 10);
const NEXT = '2026-11-22';
const noonOf = (day: string) => `${day}T12:00:00.000Z`;

const seenOn = async (world: World, address: Address) => {
  const { lastSeenOn, devices } = await world.license(address);
  return { license: lastSeenOn, devices: devices.map(({ lastSeenOn: day }) => day) };
};

type Use = (world: World, address: Address) => Promise<unknown>;

const send =
  (path: string, body: object): Use =>
  async (world, address) => {
    const { status } = await world.call('admin', 'POST', path, { ...address, ...body });
    expect(status).toBe(200);
  };

const activate = send('/key/activate', { hostId: 'host-1' });
const checkoutOf =
  (hostId?: string): Use =>
  (world, address) =>
    checkOut(world, address, hostId ? { hostId } : {});

/** What an application does a day later, and what it then is seen as: the licence, and its device `host-1`. */
const uses: readonly (readonly [name: string, use: Use, license: string, device: string])[] = [
  ['an activation that is repeated', activate, NEXT, NEXT],
  ['a licence file', send('/key/sign', { hostId: 'host-1', ttl: 3_600 }), NEXT, NEXT],
  ['a session of the device', checkoutOf('host-1'), NEXT, NEXT],
  ['a session of nobody', checkoutOf(), NEXT, FIRST],
  ['a session of another host', checkoutOf('host-2'), NEXT, FIRST],
  ['a look-up', (world, address) => world.license(address), FIRST, FIRST],
  ['a change by the vendor', send('/key/block', {}), FIRST, FIRST],
  [
    'a refused use',
    (world, address) => world.call('admin', 'POST', '/key/sign', { ...address, hostId: 'a b' }),
    FIRST,
    FIRST,
  ],
];

describe.each(engines)('lastSeenOn on $name', (engine) => {
  const open = async (world: World): Promise<Address> => {
    const { address } = await shopWith({ licenseType: 'floating', expiryDate: null }, 'host-1')(world);
    return address;
  };

  it.each(uses)('is the day of %s', async (_, use, license, device) => {
    await using world = await createWorld({ engine });
    const address = await open(world);
    expect(await seenOn(world, address)).toEqual({ license: FIRST, devices: [FIRST] });
    world.setNow(noonOf(NEXT));
    await use(world, address);
    expect(await seenOn(world, address)).toEqual({ license, devices: [device] });
  });

  it('is the day of the last heartbeat, and not of one that is refused', async () => {
    await using world = await createWorld({ engine });
    const address = await open(world);
    world.setNow('2026-11-21T23:55:00.000Z');
    const session = await checkOut(world, address, { hostId: 'host-1' });
    world.setNow('2026-11-22T00:01:00.000Z');
    const beat = (signature: object) =>
      world.call('client', 'POST', '/key/heartbeat', { ...address, ...signedBy(session), ...signature });
    expect((await beat({ signature: '0'.repeat(64) })).status).toBe(403);
    expect(await seenOn(world, address)).toEqual({ license: FIRST, devices: [FIRST] });
    expect((await beat({})).status).toBe(200);
    expect(await seenOn(world, address)).toEqual({ license: NEXT, devices: [NEXT] });
  });

  it('does not change a licence otherwise, and is kept from applications', async () => {
    await using world = await createWorld({ engine });
    const address = await open(world);
    const { updatedAt } = await world.license(address);
    world.setNow(noonOf(NEXT));
    await activate(world, address);
    expect((await world.license(address)).updatedAt).toBe(updatedAt);
    const { body } = await world.call('client', 'GET', `/key?${new URLSearchParams({ ...address })}`);
    expect(body.data.license).toMatchObject({ activations: 1 });
    expect(body.data.license).not.toHaveProperty('lastSeenOn');
  });

  it('never goes back with the clock', async () => {
    await using world = await createWorld({ engine });
    const address = await open(world);
    world.setNow(noonOf('2026-11-20'));
    await checkOut(world, address, { hostId: 'host-1' });
    expect(await seenOn(world, address)).toEqual({ license: FIRST, devices: [FIRST] });
  });
});

interface Devices extends Shop {
  readonly late: Address;
}

/** Two keys of a customer and of nobody; `host-1` and `host-2` were seen on the first day, `host-3` on the next. */
async function openDevices(world: World): Promise<Devices> {
  const shop = await shopWith({}, 'host-1', 'host-2')(world);
  const late = { ...shop.address, licenseKey: await world.key({ productId: shop.address.productId }) };
  world.setNow(noonOf(NEXT));
  await world.activate(late, 'host-3');
  return { ...shop, late };
}

const listed = (next: unknown, ...hostIds: readonly string[]) =>
  answers(({ address, late, customerId }: Devices) => ({
    data: hostIds.map((hostId) => {
      const isLate = hostId === 'host-3';
      return {
        ...shownDevice({ hostId, ...(isLate && { lastSeenOn: NEXT, activationTime: noonOf(NEXT) }) }),
        licenseId: expect.stringMatching(/^lic_/),
        licenseKey: (isLate ? late : address).licenseKey,
        productId: address.productId,
        productName: 'Editor',
        ...(isLate
          ? { customerId: null, customerName: null, customerEmail: null }
          : { customerId, customerName: 'Zoë', customerEmail: 'zoe@example.com' }),
      };
    }),
    meta: { limit: expect.any(Number), next },
    code: 0,
  }));

scenarios<Devices>('devices.list', { given: openDevices, query: () => ({}), wrote: 'nothing' }, [
  row('lists the devices of all keys, oldest first', listed(null, 'host-1', 'host-2', 'host-3')),
  row('lists those that were not seen on a day or later', listed(null, 'host-1', 'host-2'), {
    send: { unseenSince: NEXT },
  }),
  row('lists none that were seen on that day', listed(null), { send: { unseenSince: FIRST } }),
  row('lists those of a customer', listed(null, 'host-1', 'host-2'), { send: ({ customerId }) => ({ customerId }) }),
  row('lists those of a product', listed(null), { send: ({ otherProductId }) => ({ productId: otherProductId }) }),
  row('lists a part, and says how to go on', listed(expect.stringMatching(/^dev_[0-9a-z]{26}$/), 'host-1'), {
    send: { limit: '1' },
  }),
  row(
    'masks keys and addresses for a read-only token',
    answers({
      data: Array.from({ length: 3 }, () =>
        expect.objectContaining({
          licenseKey: expect.stringMatching(/^\*{5}-\*{5}-\*{5}-\*{5}-\w{5}$/),
          ipAddress: '203.0.*.*',
        }),
      ),
      meta: { limit: 100, next: null },
      code: 0,
    }),
    { as: 'read-only', absent: ({ address }) => [address.licenseKey] },
  ),
  row('refuses a day that is none', 'invalidParams', { send: { unseenSince: '2026-02-30' } }),
  row('refuses a cursor of another list', 'invalidParams', { send: { cursor: 'lic_01jd7q6b9n3zt5c8y2x4w6v0qk' } }),
]);

describe.each(engines)('GET /key/list on $name', (engine) => {
  it('finds keys that nobody has used since a day, and unused ones by their creation', async () => {
    await using world = await createWorld({ engine });
    const { address, late } = await openDevices(world);
    const unused = await world.key({ productId: address.productId });
    const keysUnseen = async (unseenSince: string) => {
      const { body } = await world.call('admin', 'GET', `/key/list?unseenSince=${unseenSince}`);
      return body.data.map(({ key }: { key: string }) => key);
    };
    expect(await keysUnseen(NEXT)).toEqual([address.licenseKey]);
    expect(await keysUnseen('2026-11-23')).toEqual([unused, late.licenseKey, address.licenseKey]);
  });
});
