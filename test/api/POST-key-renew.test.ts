import { expect } from 'vitest';
import { recordedOf } from '../support/recorded.ts';
import { scenarios } from '../support/scenario.ts';
import type { Address, World } from '../support/world.ts';

interface Subject {
  /** A key that ends on 31 January 2027, 12:00, with two weeks of grace. */
  readonly address: Address;
  readonly otherProductId: string;
}

const BEFORE = '2027-01-01T00:00:00.000Z';
const AFTER = '2027-03-15T00:00:00.000Z';
const missing = { status: 400, code: 1, message: 'Missing required params' };
const notFound = { status: 404, code: 1, message: 'License not found' };
const noEnd = { status: 409, code: 7, message: 'License has no end' };

/** The licence with this end. */
const ending = (expirationDate: string) => ({
  status: 200,
  body: ({ address }: Subject) => ({
    data: expect.objectContaining({ key: address.licenseKey, expirationDate, gracePeriod: 'P2W' }),
    code: 0,
  }),
});

/** A key of the same product, with other terms. */
const another =
  (terms: Readonly<Record<string, unknown>>) =>
  async (world: World, { address: { productId } }: Subject) => ({
    address: { productId, licenseKey: await world.key({ productId, ...terms }) },
  });

scenarios<Subject>(
  'keys.renew',
  async (world) => {
    const { id: productId } = await world.product();
    const terms = { expiryDate: '2027-01-31T12:00:00Z', gracePeriod: 'P2W' };
    const address = { productId, licenseKey: await world.key({ productId, ...terms }) };
    return { address, otherProductId: (await world.product('Viewer')).id };
  },
  [
    {
      name: 'adds to the end while that is to come, by the calendar, and says so in the record',
      at: BEFORE,
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, duration: 'P1M' } }),
      expect: ending('2027-02-28T12:00:00.000Z'),
      wrote: {},
      afterwards: async (world, { address }, { body }) => {
        expect(await world.license(address)).toEqual(body.data);
        expect(body.data).toMatchObject({ graceUntil: '2027-03-14T12:00:00.000Z', updatedAt: BEFORE });
        const { events } = await recordedOf(world, 'keys.renew');
        expect(events).toEqual([
          {
            type: 'license.renewed',
            resource: { type: 'license', id: body.data.id },
            data: expect.objectContaining({ from: '2027-01-31T12:00:00.000Z', to: '2027-02-28T12:00:00.000Z' }),
          },
        ]);
      },
    },
    {
      name: 'adds to now once the licence has expired',
      at: AFTER,
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, duration: 'P1Y' } }),
      expect: ending('2028-03-15T00:00:00.000Z'),
      wrote: {},
      afterwards: async (world, { address }) => {
        expect((await world.call('admin', 'POST', '/key/sign', { ...address, hostId: 'host-1' })).status).toBe(200);
      },
    },
    {
      name: 'adds to the end of an expired licence where that is asked',
      at: AFTER,
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, duration: 'P1Y', from: 'end' } }),
      expect: ending('2028-01-31T12:00:00.000Z'),
      wrote: {},
    },
    {
      name: 'adds to now where that is asked, also when the end is to come',
      at: BEFORE,
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, duration: 'PT12H', from: 'now' } }),
      expect: ending('2027-01-01T12:00:00.000Z'),
      wrote: {},
    },
    {
      name: 'goes to the end of the year 9999 at most',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, duration: 'P9999Y', from: 'later' } }),
      expect: ending('9999-12-31T23:59:59.999Z'),
      wrote: {},
    },
    {
      name: 'refuses a licence that never expires',
      given: another({ expiryDate: null }),
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, duration: 'P1Y' } }),
      expect: noEnd,
    },
    {
      name: 'refuses a licence whose first use is to come',
      given: another({ expiresAfter: 'P1Y' }),
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, duration: 'P1Y', from: 'now' } }),
      expect: noEnd,
    },
    {
      name: 'refuses a licence that was changed meanwhile',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, duration: 'P1Y', ifUpdatedAt: '2026-11-21T09:00:00Z' } }),
      expect: { status: 409, code: 5, message: () => 'It was changed meanwhile, at 2026-11-21T10:00:00.000Z' },
    },
    ...Object.entries({
      'no duration': {},
      'a duration of no length': { duration: 'P0Y' },
      'a duration that is negative': { duration: '-P1Y' },
      'a duration of another form': { duration: '1y' },
      'a start that is unknown': { duration: 'P1Y', from: 'created' },
    }).map(([name, fields]) => ({
      name: `refuses ${name}`,
      as: 'admin' as const,
      request: ({ address }: Subject) => ({ body: { ...address, ...fields } }),
      expect: missing,
    })),
    {
      name: 'refuses a key of another account',
      as: 'other admin',
      request: ({ address }) => ({ body: { ...address, duration: 'P1Y' } }),
      expect: notFound,
    },
    {
      name: 'refuses a product that the token may not touch as one that is not there',
      as: ({ otherProductId }) => ({ scopes: ['license:write'], productIds: [otherProductId] }),
      request: ({ address }) => ({ body: { ...address, duration: 'P1Y' } }),
      expect: notFound,
    },
  ],
);
