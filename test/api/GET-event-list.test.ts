import { expect } from 'vitest';
import { answers, row, scenarios } from '../support/scenario.ts';
import { PEER, STARTED_AT, type World } from '../support/world.ts';

/** A key with its customer, two devices, one of which was freed, and a product. */
async function eventful(world: World) {
  const { id: productId } = await world.product();
  const licenseKey = await world.key({
    productId,
    newCustomer: { name: 'Zoë', email: 'zoe@example.com' },
  });
  await world.activate({ productId, licenseKey }, 'host-1', 'host-2');
  await world.call('admin', 'POST', '/deactivate-key', { productId, licenseKey, hostId: 'host-1' });
  const license = await world.license({ productId, licenseKey });
  await world.sequence();
  return { productId, licenseKey, licenseId: license.id };
}

type Subject = Awaited<ReturnType<typeof eventful>>;

const types = (answer: { body: { data: { type: string }[] } }) => answer.body.data.map(({ type }) => type);

const licenseTypes = [
  ...['license.created', 'device.activated', 'license.signed'],
  ...['device.activated', 'license.signed', 'device.deactivated'],
];

scenarios<Subject>('events.list', { given: eventful }, [
  row(
    'lists events in the order of their numbers, keys masked, addresses as the token sees them',
    answers(({ productId, licenseId }: Subject) => ({
      data: [
        {
          id: expect.stringMatching(/^evt_/),
          seq: 3,
          type: 'license.created',
          api_version: '2026-11-21',
          created_at: STARTED_AT,
          resource_type: 'license',
          resource_id: licenseId,
          actor: { type: 'token', id: expect.stringMatching(/^tok_/) },
          request_id: expect.stringMatching(/^request-/),
          address: PEER,
          data: {
            productId,
            customerId: expect.stringMatching(/^cus_/),
            key: expect.stringMatching(/^(\*{5}-){4}\w{5}$/),
          },
        },
      ],
      meta: { last: 3 },
      code: 0,
    })),
    { send: { after: '2', limit: '1' }, absent: ({ licenseKey }) => [licenseKey, 'zoe@example.com', 'Zoë'] },
  ),
  row('says where the end is to one that is ahead of it', answers({ data: [], meta: { last: 8 }, code: 0 }), {
    send: { after: '1000' },
    as: 'read-only',
  }),
  row(
    'masks addresses for a read-only token',
    answers({ data: [expect.objectContaining({ address: '203.0.*.*' })], meta: { last: 1 }, code: 0 }),
    { send: { limit: '1' }, as: 'read-only' },
  ),
  row('lists events of some types', answers(expect.objectContaining({ meta: { last: 8 } })), {
    send: { type: 'device.activated,customer.created' },
    afterwards: async (_world, _subject, answer) =>
      expect(types(answer)).toEqual(['customer.created', 'device.activated', 'device.activated']),
  }),
  row('lists the events of a licence, with those of its devices', answers(expect.anything()), {
    send: ({ licenseId }) => ({ resourceId: licenseId }),
    afterwards: async (_world, _subject, answer) => expect(types(answer)).toEqual(licenseTypes),
  }),
  row('refuses a token that is limited to some products', 'scopeMissing', {
    as: ({ productId }) => ({ scopes: ['event:read'], productIds: [productId] }),
  }),
]);
