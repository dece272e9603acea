import { expect } from 'vitest';
import { recordedOf } from '../support/recorded.ts';
import { row, scenarios } from '../support/scenario.ts';
import { another, type Shop, shopWith, unknownKeys } from '../support/shop.ts';

const BEFORE = '2027-01-01T00:00:00.000Z';
const _AFTER = '2027-03-15T00:00:00.000Z';

/** The licence with this end. */
const ending = (expirationDate: string) => ({
  body: ({ address }: Shop) => ({
    data: expect.objectContaining({ key: address.licenseKey, expirationDate, gracePeriod: 'P2W' }),
    code: 0,
  }),
});

scenarios<Shop>(
  'keys.renew',
  {
    // It ends with two weeks of grace.
    given: shopWith({ expiryDate: '2027-01-31T12:00:00Z', gracePeriod: 'P2W' }),
    body: ({ address }) => ({ ...address, duration: 'P1Y' }),
    wrote: {},
  },
  [
    row(
      'adds to the end while that is to come, by the calendar, and says so in the record',
      ending('2027-02-28T12:00:00.000Z'),
      {
        send: { duration: 'P1M' },
        at: BEFORE,
        afterwards: async (world, { address }, { body }) => {
          expect(await world.license(address)).toEqual(body.data);
          expect(body.data).toMatchObject({ graceUntil: '2027-03-14T12:00:00.000Z', updatedAt: BEFORE });
          expect((await recordedOf(world, 'keys.renew')).events).toEqual([
            {
              type: 'license.renewed',
              resource: { type: 'license', id: body.data.id },
              data: expect.objectContaining({ from: '2027-01-31T12:00:00.000Z', to: '2027-02-28T12:00:00.000Z' }),
            },
          ]);
        },
      },
    ),
    row('goes to the end of the year 9999 at most', ending('9999-12-31T23:59:59.999Z'), {
      send: { duration: 'P9999Y', from: 'later' },
    }),
    row('refuses a licence that never expires', 'noEnd', { given: another({ expiryDate: null }) }),
    ...unknownKeys(),
  ],
);
