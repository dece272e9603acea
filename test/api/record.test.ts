import { expect } from 'vitest';
import { answers, row, scenarios } from '../support/scenario.ts';
import { PEER, STARTED_AT, type World } from '../support/world.ts';

/** A customer that was created, and a mutation that was refused for lack of rights. */
async function audited(world: World) {
  const { id: customerId } = await world.customer();
  await world.call('read-only', 'POST', '/customer', { name: 'Mallory' });
  await world.sequence();
  return { customerId };
}

const hash = expect.stringMatching(/^[0-9a-f]{64}$/);
const shared = {
  id: expect.stringMatching(/^aud_/),
  at: STARTED_AT,
  actor: { type: 'token', id: expect.stringMatching(/^tok_/) },
  token: expect.stringMatching(/^tok_/),
  address: PEER,
  salt: expect.stringMatching(/^[\w-]{22}$/),
  door: 'http',
  request_id: expect.stringMatching(/^request-/),
  operation: 'customers.create',
  hash,
};
const noNames = { tokenName: 'made by the test', productName: null, customerName: null, customerEmail: null };

/** The first row for a token that sees nothing in full. */
const masked = {
  ...{ ...shared, seq: 1, address: '203.0.*.*', salt: null, outcome: 'done', details: {} },
  resource: { type: 'customer', id: expect.stringMatching(/^cus_/) },
};

scenarios<{ customerId: string }>('audit.list', { given: audited }, [
  row('lists what was done, and what was refused for lack of rights', {
    body: ({ customerId }: { customerId: string }) => ({
      data: [
        {
          ...{ ...shared, seq: 1, resource: { type: 'customer', id: customerId }, outcome: 'done', details: {} },
          ...{ ...noNames, customerName: 'Zoë' },
        },
        { ...shared, ...noNames, seq: 2, resource: null, outcome: 'refused', details: { reason: 'scopeMissing' } },
      ],
      meta: { last: 2, head: { seq: 2, hash } },
      code: 0,
    }),
  }),
  row(
    'lists a part, and masks addresses for a read-only token',
    answers({
      data: [expect.objectContaining({ seq: 2, address: '203.0.*.*', salt: null })],
      meta: { last: 2, head: { seq: 2, hash } },
      code: 0,
    }),
    { send: { after: '1', limit: '1' }, as: 'read-only' },
  ),
  ...(
    [
      ['nobody', {}, []],
      ['tokens', { tokenName: 'made by the test' }, ['token:read']],
      ['products', { productName: null }, ['product:read']],
      ['customers', { customerName: 'Zoë', customerEmail: null }, ['customer:read']],
    ] as const
  ).map(([whom, named, scopes]) =>
    row(
      `names ${whom} for who may list ${whom}`,
      answers({
        data: [{ ...masked, ...named }],
        meta: { last: 1, head: { seq: 2, hash } },
        code: 0,
      }),
      { send: { limit: '1' }, as: { scopes: ['audit:read', ...scopes] } },
    ),
  ),
  row('refuses a token that is limited to some products', 'scopeMissing', {
    as: { scopes: ['audit:read'], productIds: ['prod_00000000000000000000000000'] },
  }),
]);

scenarios('audit.checkpoints', { given: audited }, [
  row(
    'lists the signed checkpoints',
    answers({
      data: [
        {
          ...{ accountId: expect.stringMatching(/^acc_/), seq: 2, hash, at: STARTED_AT },
          ...{ kid: expect.any(String), signature: expect.stringMatching(/^[\w-]{86}$/) },
        },
      ],
      meta: { last: 2 },
      code: 0,
    }),
    { as: 'read-only' },
  ),
  row('lists those behind a row', answers({ data: [], meta: { last: 2 }, code: 0 }), { send: { after: '2' } }),
]);

/** A key with its customer, two devices, one of which was freed, and a product. */
async function eventful(world: World) {
  const { id: productId } = await world.product();
  const licenseKey = await world.key({ productId, newCustomer: { name: 'Zoë', email: 'zoe@example.com' } });
  await world.activate({ productId, licenseKey }, 'host-1', 'host-2');
  await world.call('admin', 'POST', '/deactivate-key', { productId, licenseKey, hostId: 'host-1' });
  const license = await world.license({ productId, licenseKey });
  await world.sequence();
  return { productId, licenseKey, licenseId: license.id };
}

type Eventful = Awaited<ReturnType<typeof eventful>>;

const ofTypes = (...types: readonly string[]) =>
  answers({ data: types.map((type) => expect.objectContaining({ type })), meta: { last: 8 }, code: 0 });

scenarios<Eventful>('events.list', { given: eventful }, [
  row(
    'lists events in the order of their numbers, keys masked, addresses as the token sees them',
    answers(({ productId, licenseId }: Eventful) => ({
      data: [
        {
          ...{ id: expect.stringMatching(/^evt_/), seq: 3, type: 'license.created', api_version: '2026-11-21' },
          ...{ created_at: STARTED_AT, resource_type: 'license', resource_id: licenseId, address: PEER },
          actor: { type: 'token', id: expect.stringMatching(/^tok_/) },
          request_id: expect.stringMatching(/^request-/),
          data: {
            productId,
            customerId: expect.stringMatching(/^cus_/),
            key: expect.stringMatching(/^(\*{5}-){4}\w{5}$/),
          },
          ...{ tokenName: 'made by the test', productName: 'Editor' },
          ...{ customerName: 'Zoë', customerEmail: 'zoe@example.com' },
        },
      ],
      meta: { last: 3 },
      code: 0,
    })),
    { send: { after: '2', limit: '1' }, absent: ({ licenseKey }) => [licenseKey] },
  ),
  row(
    'refuses one that is ahead of it, with where it is',
    ['aheadOfService', 'The service is at event 8: was it restored?'],
    {
      send: { after: '1000' },
      as: 'read-only',
    },
  ),
  row('says where it is to whoever asks', answers({ data: [], meta: { last: 8 }, code: 0 }), {
    send: { after: '2147483647' },
  }),
  row(
    'masks addresses for a read-only token',
    answers({ data: [expect.objectContaining({ address: '203.0.*.*' })], meta: { last: 1 }, code: 0 }),
    { send: { limit: '1' }, as: 'read-only' },
  ),
  row('lists events of some types', ofTypes('customer.created', 'device.activated', 'device.activated'), {
    send: { type: 'device.activated,customer.created' },
  }),
  row(
    'lists the events of a licence, with those of its devices',
    ofTypes(
      ...['license.created', 'device.activated', 'license.signed'],
      ...['device.activated', 'license.signed', 'device.deactivated'],
    ),
    { send: ({ licenseId }) => ({ resourceId: licenseId }) },
  ),
  row('refuses a token that is limited to some products', 'scopeMissing', {
    as: ({ productId }) => ({ scopes: ['event:read'], productIds: [productId] }),
  }),
]);
