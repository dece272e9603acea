import { describe, expect } from 'vitest';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { checkOut } from '../support/sessions.ts';
import type { Address, World } from '../support/world.ts';

/** The ends of a licence after renewals by these durations, as days. */
async function renewed(world: World, address: Address, ...durations: readonly string[]): Promise<string[]> {
  const days: string[] = [];
  for (const duration of durations) {
    const { status, body } = await world.call('admin', 'POST', '/key/renew', { ...address, duration });
    expect(status).toBe(200);
    days.push(body.data.expirationDate.slice(0, 10));
  }
  return days;
}

const byMonths = (world: World, address: Address) => renewed(world, address, 'P1M', 'P1M', 'P1M');

describe.each(engines)('renewals by months, on $name,', (engine) => {
  const it = testsOn(engine);

  it('end on the last day of each month where the first end was the 31st', async ({ world, productId }) => {
    const licenseKey = await world.key({ productId, expiryDate: '2028-01-31T23:59:59Z' });
    expect(await byMonths(world, { productId, licenseKey })).toEqual(['2028-02-29', '2028-03-31', '2028-04-30']);
    expect(await world.license({ productId, licenseKey })).toMatchObject({ renewalDay: 31 });
  });

  it('lead back to 29 February by years', async ({ world, productId }) => {
    const licenseKey = await world.key({ productId, expiryDate: '2028-02-29T12:00:00Z' });
    const ends = await renewed(world, { productId, licenseKey }, 'P1Y', 'P1Y', 'P1Y', 'P1Y');
    expect(ends).toEqual(['2029-02-28', '2030-02-28', '2031-02-28', '2032-02-29']);
  });

  it.for<[string, (world: World, productId: string) => Promise<string>]>([
    [
      'of a term from now',
      async (world, productId) => {
        const address = { productId, licenseKey: await world.key({ productId }) };
        await world.call('admin', 'POST', '/key/renew', { ...address, duration: 'P1M', from: 'now' });
        return address.licenseKey;
      },
    ],
    [
      'of a plan',
      async (world, productId) => {
        const plan = { productId, name: 'Monthly', duration: 'P1M' };
        const { body } = await world.call('admin', 'POST', '/plan', plan);
        return world.key({ productId, planId: body.data.id });
      },
    ],
    [
      'that the first device begins',
      async (world, productId) => {
        const licenseKey = await world.key({ productId, expiresAfter: 'P1M' });
        await world.activate({ productId, licenseKey }, 'host-1');
        world.setNow('2027-02-01T10:00:00.000Z');
        await world.activate({ productId, licenseKey }, 'host-2');
        return licenseKey;
      },
    ],
    [
      'that the first session begins',
      async (world, productId) => {
        const licenseKey = await world.key({ productId, expiresAfter: 'P1M', licenseType: 'floating' });
        await checkOut(world, { productId, licenseKey });
        return licenseKey;
      },
    ],
  ])('count from the day on which a term began %s', async ([, make], { world, productId }) => {
    world.setNow('2027-01-31T10:00:00.000Z');
    const address = { productId, licenseKey: await make(world, productId) };
    expect(await world.license(address)).toMatchObject({ expirationDate: '2027-02-28T23:59:59.000Z', renewalDay: 31 });
    expect(await byMonths(world, address)).toEqual(['2027-03-31', '2027-04-30', '2027-05-31']);
  });

  it('count from the instant of the month that is the default', async ({ world, productId }) => {
    world.setNow('2027-01-31T10:00:00.000Z');
    const address = { productId, licenseKey: await world.key({ productId }) };
    expect(await world.license(address)).toMatchObject({ expirationDate: '2027-02-28T10:00:00.000Z', renewalDay: 31 });
    expect(await byMonths(world, address)).toEqual(['2027-03-31', '2027-04-30', '2027-05-31']);
  });

  it('end to the second where they are of hours', async ({ world, productId }) => {
    const address = { productId, licenseKey: await world.key({ productId }) };
    const wanted = { ...address, duration: 'P1DT2H', from: 'now' };
    const { body } = await world.call('admin', 'POST', '/key/renew', wanted);
    expect(body.data.expirationDate).toBe('2026-11-22T12:00:00.000Z');
  });

  it('count from now where they begin now, and from a new end that is set', async ({ world, productId }) => {
    const licenseKey = await world.key({ productId, expiryDate: '2027-01-31T10:00:00Z' });
    const address = { productId, licenseKey };
    expect(await renewed(world, address, 'P1M')).toEqual(['2027-02-28']);
    const { status } = await world.call('admin', 'PATCH', '/key', {
      ...address,
      expirationDate: '2027-02-28T10:00:00Z',
    });
    expect(status).toBe(200);
    expect(await byMonths(world, address)).toEqual(['2027-03-28', '2027-04-28', '2027-05-28']);
    world.setNow('2027-08-30T10:00:00.000Z');
    expect(await renewed(world, address, 'P6M', 'P1M')).toEqual(['2028-02-29', '2028-03-30']);
    world.setNow('2027-12-29T10:00:00.000Z');
    const now = await world.call('admin', 'POST', '/key/renew', { ...address, duration: 'P2M', from: 'now' });
    expect(now.body.data).toMatchObject({ expirationDate: '2028-02-29T23:59:59.000Z', renewalDay: null });
    expect(await renewed(world, address, 'P10D', 'P1M')).toEqual(['2028-03-10', '2028-04-10']);
  });

  it('go on in another database, where the key is imported with its day', async ({ world, productId }) => {
    const licenseKey = 'ACME-2019-0042-F3D9-77AB-10CE';
    const key = { productId, key: licenseKey, expirationDate: '2027-02-28T10:00:00Z' };
    const send = (more: object) => world.call('admin', 'POST', '/key/import', { ...key, ...more });
    for (const wrong of [
      { renewalDay: 28 },
      { renewalDay: 32 },
      { renewalDay: 31, expirationDate: '2027-02-27T10:00:00Z' },
      { renewalDay: 31, expirationDate: '2027-03-31T10:00:00Z' },
      { renewalDay: 31, expirationDate: null },
    ])
      expect(await send(wrong)).toMatchObject({ status: 400, headers: { 'lkm-invalid-fields': 'renewalDay' } });
    expect((await send({ renewalDay: 30 })).status).toBe(200);
    expect(await byMonths(world, { productId, licenseKey })).toEqual(['2027-03-30', '2027-04-30', '2027-05-30']);
  });
});
