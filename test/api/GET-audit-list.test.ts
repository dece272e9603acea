import { expect } from 'vitest';
import { scenarios } from '../support/scenario.ts';
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

scenarios('audit.list', audited, [
  {
    name: 'lists what was done, and what was refused for lack of rights',
    as: 'admin',
    request: {},
    expect: {
      status: 200,
      body: ({ customerId }: { customerId: string }) => ({
        data: [
          { ...shared, seq: 1, resource: { type: 'customer', id: customerId }, outcome: 'done', details: {} },
          { ...shared, seq: 2, resource: null, outcome: 'refused', details: { reason: 'scopeMissing' } },
        ],
        meta: { last: 2, head: { seq: 2, hash } },
        code: 0,
      }),
    },
  },
  {
    name: 'lists a part, and masks addresses for a read-only token',
    as: 'read-only',
    request: { query: { after: '1', limit: '1' } },
    expect: {
      status: 200,
      body: {
        data: [expect.objectContaining({ seq: 2, address: '203.0.*.*', salt: null })],
        meta: { last: 2, head: { seq: 2, hash } },
        code: 0,
      },
    },
  },
  {
    name: 'shows nothing of another account',
    as: 'other admin',
    request: {},
    expect: { status: 200, body: { data: [], meta: { last: 0, head: { seq: 0, hash: '0'.repeat(64) } }, code: 0 } },
  },
  {
    name: 'refuses a token that is limited to some products',
    as: { scopes: ['audit:read'], productIds: ['prod_00000000000000000000000000'] },
    request: {},
    expect: { status: 403, code: 1, message: 'Insufficient permissions for this operation' },
  },
  {
    name: 'refuses a number that is none',
    as: 'admin',
    request: { query: { after: '-1' } },
    expect: { status: 400, code: 1, message: 'Missing required params' },
  },
]);

scenarios('audit.checkpoints', audited, [
  {
    name: 'lists the signed checkpoints',
    as: 'read-only',
    request: {},
    expect: {
      status: 200,
      body: {
        data: [
          {
            ...{ accountId: expect.stringMatching(/^acc_/), seq: 2, hash, at: STARTED_AT },
            ...{ kid: expect.any(String), signature: expect.stringMatching(/^[\w-]{86}$/) },
          },
        ],
        meta: { last: 2 },
        code: 0,
      },
    },
  },
  {
    name: 'lists those behind a row',
    as: 'admin',
    request: { query: { after: '2' } },
    expect: { status: 200, body: { data: [], meta: { last: 2 }, code: 0 } },
  },
  {
    name: 'refuses a number that is none',
    as: 'admin',
    request: { query: { limit: '0' } },
    expect: { status: 400, code: 1, message: 'Missing required params' },
  },
]);
