import { expect } from 'vitest';
import { scenarios } from '../support/scenario.ts';
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

const ALL_TYPES = [
  'product.created',
  'customer.created',
  'license.created',
  'device.activated',
  'license.signed',
  'device.activated',
  'license.signed',
  'device.deactivated',
];

scenarios<Subject>('events.list', eventful, [
  {
    name: 'lists events in the order of their numbers, keys masked, addresses as the token sees them',
    as: 'admin',
    request: { query: { after: '2', limit: '1' } },
    expect: {
      status: 200,
      body: ({ productId, licenseId }: Subject) => ({
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
      }),
    },
    absent: ({ licenseKey }) => [licenseKey, 'zoe@example.com', 'Zoë'],
  },
  {
    name: 'says where to go on, also when nothing is left',
    as: 'read-only',
    request: { query: { after: '8' } },
    expect: { status: 200, body: { data: [], meta: { last: 8 }, code: 0 } },
  },
  {
    name: 'says where the end is to one that is ahead of it',
    as: 'read-only',
    request: { query: { after: '1000' } },
    expect: { status: 200, body: { data: [], meta: { last: 8 }, code: 0 } },
  },
  {
    name: 'masks addresses for a read-only token',
    as: 'read-only',
    request: { query: { limit: '1' } },
    expect: {
      status: 200,
      body: { data: [expect.objectContaining({ address: '203.0.*.*' })], meta: { last: 1 }, code: 0 },
    },
  },
  {
    name: 'lists all types in their order',
    as: { scopes: ['event:read'] },
    request: {},
    expect: { status: 200, body: expect.anything() },
    afterwards: async (_world, _subject, answer) => expect(types(answer)).toEqual(ALL_TYPES),
  },
  {
    name: 'lists events of some types',
    as: 'admin',
    request: { query: { type: 'device.activated,customer.created' } },
    expect: { status: 200, body: expect.objectContaining({ meta: { last: 8 } }) },
    afterwards: async (_world, _subject, answer) =>
      expect(types(answer)).toEqual(['customer.created', 'device.activated', 'device.activated']),
  },
  {
    name: 'lists the events of a licence, with those of its devices',
    as: 'admin',
    request: ({ licenseId }) => ({ query: { resourceId: licenseId } }),
    expect: { status: 200, body: expect.anything() },
    afterwards: async (_world, _subject, answer) => expect(types(answer)).toEqual(ALL_TYPES.slice(2)),
  },
  {
    name: 'lists the events of a licence of one type',
    as: 'admin',
    request: ({ licenseId }) => ({ query: { resourceId: licenseId, type: 'license.signed', limit: '1' } }),
    expect: { status: 200, body: expect.objectContaining({ meta: { last: 5 } }) },
  },
  {
    name: 'shows nothing of another account',
    as: 'other admin',
    request: ({ licenseId }) => ({ query: { resourceId: licenseId } }),
    expect: { status: 200, body: { data: [], meta: { last: 0 }, code: 0 } },
  },
  {
    name: 'refuses a token that is limited to some products',
    as: ({ productId }) => ({ scopes: ['event:read'], productIds: [productId] }),
    request: {},
    expect: { status: 403, code: 1, message: 'Insufficient permissions for this operation' },
  },
  {
    name: 'refuses a type that does not exist',
    as: 'admin',
    request: { query: { type: 'license.eaten' } },
    expect: { status: 400, code: 1, message: 'Missing required params' },
  },
]);
