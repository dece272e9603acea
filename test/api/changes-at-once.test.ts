import { describe, expect } from 'vitest';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { addVersion } from '../support/shop.ts';
import { tally, times } from './at-once.ts';

describe.each(engines)('changes of one key at once, on $name,', (engine) => {
  const it = testsOn(engine);

  it('happen once where all say the same ifUpdatedAt', async ({ world, productId }) => {
    const address = { productId, licenseKey: await world.key({ productId }) };
    for (let round = 0; round < 3; round += 1) {
      const { updatedAt: ifUpdatedAt } = await world.license(address);
      const answers = await times(20, (i) =>
        world.call('admin', 'PATCH', '/key', { ...address, maxActivations: 100 * round + i + 1, ifUpdatedAt }),
      );
      expect(tally(answers)).toEqual({ '200/0': 1, '409/5': 19 });
      const winner = answers.find(({ status }) => status === 200);
      expect(await world.license(address)).toEqual(winner?.body.data);
    }
  });

  it('are all kept where each is of another field, and each has an updatedAt of its own', async ({
    world,
    productId,
  }) => {
    await addVersion(world, productId);
    const address = { productId, licenseKey: await world.key({ productId }) };
    const entries = Array.from({ length: 16 }, (_, i) => [`entry ${i}`, i] as const);
    const fields = { maxActivations: 7, versionId: 'ver_1', customerCanSelfReset: false, heartbeatInterval: 600 };
    const changes = [
      ...Object.entries(fields).map(([name, value]) => ({ [name]: value })),
      ...entries.map((entry) => ({ metadata: Object.fromEntries([entry]) })),
    ];
    const answers = await times(20, (i) => world.call('admin', 'PATCH', '/key', { ...address, ...changes[i] }));
    expect(tally(answers)).toEqual({ '200/0': 20 });
    expect(new Set(answers.map(({ body }) => body.data.updatedAt)).size).toBe(20);
    expect(await world.license(address)).toMatchObject({ ...fields, metadata: Object.fromEntries(entries) });
  });

  it('never leave more devices than a new limit that was not forced', async ({ world, productId }) => {
    const address = { productId, licenseKey: await world.key({ productId, usesPerKey: '10' }) };
    await times(20, (i) =>
      i % 4 === 0
        ? world.call('admin', 'PATCH', '/key', { ...address, maxActivations: 3 })
        : world.call('admin', 'POST', '/key/sign', { ...address, hostId: `host-${i}`, ttl: 60 }),
    );
    const { maxActivations, activations, devices } = await world.license(address);
    expect(activations).toBe(devices.length);
    expect([3, 10]).toContain(maxActivations);
    expect(activations).toBeLessThanOrEqual(maxActivations ?? 0);
  });

  it('leave nothing of a key that is deleted meanwhile, and fail in no other way', async ({ world, productId }) => {
    const address = { productId, licenseKey: await world.key({ productId, licenseType: 'floating' }) };
    const requests = [
      () => world.call('admin', 'POST', '/key/checkout', address),
      (i: number) => world.call('admin', 'POST', '/key/sign', { ...address, hostId: `host-${i}`, ttl: 60 }),
      () => world.call('admin', 'POST', '/deactivate-key', address),
      () => world.call('admin', 'PATCH', '/key', { ...address, versionId: 'ver_1' }),
      () => world.call('admin', 'DELETE', `/key?${new URLSearchParams({ ...address, force: 'true' })}`),
    ];
    const answers = await times(40, (i) => requests[i % requests.length]?.(i) ?? Promise.reject(new Error()));
    expect(Object.keys(tally(answers)).filter((name) => !['200/0', '403/2', '404/1'].includes(name))).toEqual([]);
    const nothing = { licenses: [], devices: [], sessions: [], license_words: [] };
    expect(await world.contents()).toMatchObject(nothing);
  });

  it('give it to one new customer at a time, and to none that is deleted at that moment', async ({
    world,
    productId,
  }) => {
    const owners = await times(6, (i) => world.customer({ name: `C${i}` }));
    const address = { productId, licenseKey: await world.key({ productId, customerId: owners[0]?.id }) };
    const answers = await times(24, (i) => {
      const customerId = owners[i % 6]?.id ?? '';
      return i % 8 === 7
        ? world.call('admin', 'DELETE', `/customer/by-id?customerId=${customerId}`)
        : world.call('admin', 'POST', '/key/transfer', { ...address, customerId });
    });
    expect(Object.keys(tally(answers)).filter((name) => !['200/0', '404/2'].includes(name))).toEqual([]);
  });
});

describe.each(engines)('new keys at once, on $name,', (engine) => {
  const it = testsOn(engine);

  it('share no reference, and those that are refused make no customer', async ({ world, productId }) => {
    const newCustomer = { name: 'Zoë', email: 'zoe@example.com' };
    const answers = await times(20, (i) =>
      world.call('admin', 'POST', '/create-key', { productId, reference: 'order-1', ...(i % 2 && { newCustomer }) }),
    );
    expect(tally(answers)).toEqual({ '200/0': 1, '409/10': 19 });
    const { licenses, customers = [] } = await world.contents();
    expect(licenses).toHaveLength(1);
    expect(customers.length).toBeLessThanOrEqual(1);
  });

  it('get one end, however many devices come first, and all files have it', async ({ world, productId }) => {
    const address = { productId, licenseKey: await world.key({ productId, expiresAfter: 'P1Y', usesPerKey: '5' }) };
    const answers = await times(20, (i) => {
      world.setNow(`2026-11-21T10:00:00.${100 + i}Z`);
      return world.call('admin', 'POST', '/key/sign', { ...address, hostId: `host-${i % 10}` });
    });
    const ends = answers
      .filter(({ status }) => status === 200)
      .map(({ body }) => JSON.parse(body.file).licenseToken.split('.')[1])
      .map((claims) => JSON.parse(Buffer.from(claims, 'base64url').toString()).licenseExp);
    expect(ends.length).toBeGreaterThanOrEqual(5);
    const { expirationDate } = await world.license(address);
    expect(new Set(ends)).toEqual(new Set([Math.floor(Date.parse(String(expirationDate)) / 1_000)]));
  });
});
