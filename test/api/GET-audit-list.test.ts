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

scenarios('audit.list', { given: audited }, [
  row('lists what was done, and what was refused for lack of rights', {
    body: ({ customerId }: { customerId: string }) => ({
      data: [
        { ...shared, seq: 1, resource: { type: 'customer', id: customerId }, outcome: 'done', details: {} },
        { ...shared, seq: 2, resource: null, outcome: 'refused', details: { reason: 'scopeMissing' } },
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
