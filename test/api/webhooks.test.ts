import { expect } from 'vitest';
import { listEndpoints } from '../../src/contract/index.ts';
import { absentIds, type EndpointName, validRequests } from '../support/requests.ts';
import { type Scenario, scenarios } from '../support/scenario.ts';
import { STARTED_AT, type World } from '../support/world.ts';

interface Subject {
  readonly id: string;
  readonly secret: string;
}

const LATER = '2026-11-21T11:00:00.000Z';
const URL = 'https://hooks.example.com/lkm?door=7';
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;

async function oneWebhook(world: World): Promise<Subject> {
  const made = await world.call('admin', 'POST', '/webhook', { url: URL, types: ['license.created'] });
  await world.sequence();
  return { id: made.body.data.id, secret: made.body.data.secret };
}

const shown = (changes: object = {}) => ({
  id: expect.stringMatching(/^whk_[0-9a-z]{26}$/),
  url: URL,
  types: ['license.created'],
  description: null,
  reveal: false,
  ordered: false,
  active: true,
  apiVersion: '2026-11-21',
  lastSeq: 0,
  failingSince: null,
  disabledAt: null,
  disabledReason: null,
  previousSecretUntil: null,
  createdAt: STARTED_AT,
  updatedAt: STARTED_AT,
  ...changes,
});

const acted = (name: string, data: unknown) => ({ action: `webhooks.${name}`, status: true, data, code: 0 });
const refusedUrl = (why: string) => ({ status: 400, code: 6, message: () => `Webhook URL refused: ${why}` });

/** The rows that every operation has: who may not, what is not there, a database that fails. */
function commonRows(name: EndpointName): Scenario<Subject>[] {
  const endpoint = listEndpoints().find((each) => each.name === name)?.endpoint;
  if (endpoint === undefined) throw new Error(`no endpoint ${name}`);
  const own = ({ id }: Subject) => validRequests[name]({ ...absentIds, webhookId: id });
  const rows: Scenario<Subject>[] = [
    {
      name: 'refuses a token that is limited to some products',
      as: { scopes: ['webhook:read', 'webhook:write'], productIds: [absentIds.productId] },
      request: own,
      expect: { status: 403, code: 1, message: 'Insufficient permissions for this operation' },
    },
    {
      name: 'refuses what is not well-formed',
      as: 'admin',
      request: endpoint.body ? { body: {} } : { query: name === 'webhooks.list' ? { page: '-1' } : { webhookId: '' } },
      expect: { status: 400, code: 1, message: 'Missing required params' },
    },
  ];
  if (!endpoint.errors.includes('webhookNotFound')) return rows;
  return [
    ...rows,
    {
      name: 'finds none that does not exist',
      as: 'admin',
      request: validRequests[name](absentIds),
      expect: { status: 404, code: 1, message: 'Webhook not found' },
    },
    {
      name: 'finds none of another account',
      as: 'other admin',
      request: own,
      expect: { status: 404, code: 1, message: 'Webhook not found' },
    },
  ];
}

const create = { body: { url: URL } };

scenarios<Subject>('webhooks.create', oneWebhook, [
  {
    name: 'shows the secret once, and begins behind what has happened',
    at: LATER,
    as: { scopes: ['webhook:write'] },
    request: {
      body: { url: URL, types: ['device.activated', 'device.activated'], description: 'shop', ordered: true },
    },
    expect: {
      status: 201,
      body: acted('create', {
        ...shown({ types: ['device.activated'], description: 'shop', ordered: true, lastSeq: 1 }),
        ...{ createdAt: LATER, updatedAt: LATER, secret: expect.stringMatching(SECRET) },
      }),
    },
    wrote: { webhooks: 1 },
    afterwards: async (world, _, { body }) => {
      const again = await world.call('admin', 'GET', '/webhook');
      expect(again.text).not.toContain(body.data.secret);
      await world.sequence();
      const events = await world.call('admin', 'GET', `/event/list?resourceId=${body.data.id}`);
      expect(events.body.data).toMatchObject([{ type: 'webhook.created', data: { host: 'hooks.example.com' } }]);
      expect(events.text).not.toContain('door');
    },
  },
  {
    name: 'sends keys in full for a token that sees them',
    as: { scopes: ['webhook:write', 'license:reveal'] },
    request: { body: { url: URL, reveal: true, active: false } },
    expect: { status: 201, body: expect.objectContaining({ action: 'webhooks.create' }) },
    wrote: { webhooks: 1 },
  },
  {
    name: 'sends keys in full for nobody else',
    as: { scopes: ['webhook:write'] },
    request: { body: { url: URL, reveal: true } },
    expect: { status: 403, code: 1, message: 'Insufficient permissions for this operation' },
  },
  {
    name: 'refuses plain HTTP',
    as: 'admin',
    request: { body: { url: 'http://hooks.example.com/' } },
    expect: refusedUrl('it must begin with https://'),
  },
  {
    name: 'refuses a private address',
    as: 'admin',
    request: { body: { url: 'https://[::ffff:169.254.169.254]/latest/meta-data' } },
    expect: refusedUrl('its address is not public'),
  },
  {
    name: 'refuses a user name',
    as: 'admin',
    request: { body: { url: 'https://me:secret@hooks.example.com/' } },
    expect: refusedUrl('it must not hold a user name or password'),
  },
  {
    name: 'refuses a type that does not exist',
    as: 'admin',
    request: { body: { url: URL, types: ['license.eaten'] } },
    expect: { status: 400, code: 1, message: 'Missing required params' },
  },
  {
    name: 'refuses the one too many',
    given: async (world) => {
      for (let made = 1; made < 100; made += 1) await world.call('admin', 'POST', '/webhook', create.body);
    },
    as: 'admin',
    request: create,
    expect: { status: 409, code: 14, message: 'The account has as many webhooks as it may have' },
  },
  ...commonRows('webhooks.create'),
]);

scenarios<Subject>('webhooks.list', oneWebhook, [
  {
    name: 'lists them without their secrets',
    as: 'admin',
    request: {},
    expect: { status: 200, body: acted('list', [shown()]) },
    absent: ({ secret }) => [secret, secret.slice(6)],
  },
  {
    name: 'shows no more than the origin to whom may only read',
    as: 'read-only',
    request: { query: { page: '1' } },
    expect: {
      status: 200,
      body: {
        ...acted('list', [shown({ url: 'https://hooks.example.com/…' })]),
        meta: { total: 1, page: 1, limit: 100, totalPages: 1 },
      },
    },
    absent: () => ['door'],
  },
  {
    name: 'shows nothing of another account',
    as: 'other admin',
    request: {},
    expect: { status: 200, body: acted('list', []) },
  },
  ...commonRows('webhooks.list'),
]);

scenarios<Subject>('webhooks.get', oneWebhook, [
  {
    name: 'shows one',
    as: 'admin',
    request: ({ id }) => ({ query: { webhookId: id } }),
    expect: { status: 200, body: acted('get', shown()) },
    absent: ({ secret }) => [secret],
  },
  ...commonRows('webhooks.get'),
]);

const revealing: Scenario<Subject>['given'] = (world, { id }) =>
  world.sql(`update webhooks set reveal = 1 where id = '${id}'`);

scenarios<Subject>('webhooks.update', oneWebhook, [
  {
    name: 'changes what is given',
    at: LATER,
    as: 'admin',
    request: ({ id }) => ({
      query: { webhookId: id },
      body: { types: null, description: 'shop', active: false, ifUpdatedAt: STARTED_AT },
    }),
    expect: {
      status: 200,
      body: acted('update', shown({ types: null, description: 'shop', active: false, updatedAt: LATER })),
    },
    wrote: {},
  },
  {
    name: 'lets a disabled one go on where it stopped',
    given: (world) =>
      world.sql(
        `update webhooks set active = 0, disabled_at = '${STARTED_AT}', disabled_reason = 'failing', failing_since = '${STARTED_AT}'`,
      ),
    at: LATER,
    as: 'admin',
    request: ({ id }) => ({ query: { webhookId: id }, body: { active: true } }),
    expect: { status: 200, body: acted('update', shown({ updatedAt: LATER })) },
    wrote: {},
  },
  {
    name: 'lets nobody send keys in full who does not see them',
    as: { scopes: ['webhook:write'] },
    request: ({ id }) => ({ query: { webhookId: id }, body: { reveal: true } }),
    expect: { status: 403, code: 1, message: 'Insufficient permissions for this operation' },
  },
  {
    name: 'lets nobody have keys sent elsewhere who does not see them',
    given: revealing,
    as: { scopes: ['webhook:write'] },
    request: ({ id }) => ({ query: { webhookId: id }, body: { url: 'https://mine.example.com' } }),
    expect: { status: 403, code: 1, message: 'Insufficient permissions for this operation' },
  },
  {
    name: 'lets whoever sees keys have them sent elsewhere',
    given: revealing,
    as: { scopes: ['webhook:write', 'license:reveal'] },
    request: ({ id }) => ({ query: { webhookId: id }, body: { url: 'https://mine.example.com/' } }),
    expect: {
      status: 200,
      body: acted('update', shown({ url: 'https://mine.example.com/', reveal: true, updatedAt: expect.any(String) })),
    },
    wrote: {},
  },
  {
    name: 'refuses a URL that nothing may be sent to',
    as: 'admin',
    request: ({ id }) => ({ query: { webhookId: id }, body: { url: 'https://localhost./' } }),
    expect: refusedUrl('it names this machine'),
  },
  {
    name: 'refuses a change of what somebody else has changed',
    as: 'admin',
    request: ({ id }) => ({ query: { webhookId: id }, body: { active: false, ifUpdatedAt: LATER } }),
    expect: { status: 409, code: 5, message: () => `It was changed meanwhile, at ${STARTED_AT}` },
  },
  {
    name: 'refuses a change of nothing',
    as: 'admin',
    request: ({ id }) => ({ query: { webhookId: id }, body: { ifUpdatedAt: STARTED_AT } }),
    expect: { status: 400, code: 1, message: 'Missing required params' },
  },
  ...commonRows('webhooks.update'),
]);

scenarios<Subject>('webhooks.delete', oneWebhook, [
  {
    name: 'removes it with its deliveries',
    given: async (world, { id }) => world.sql(deliverySql(world, id, 1, 'delivered')),
    as: 'admin',
    request: ({ id }) => ({ query: { webhookId: id } }),
    expect: { status: 200, body: { action: 'webhooks.delete', status: true, code: 0 } },
    wrote: { webhooks: -1, webhook_deliveries: -1 },
  },
  ...commonRows('webhooks.delete'),
]);

const inactive: Scenario<Subject>['given'] = (world) => world.sql('update webhooks set active = 0');
const refusedInactive = { status: 409, code: 15, message: 'Webhook is not active' };

scenarios<Subject>('webhooks.test', oneWebhook, [
  {
    name: 'records a ping for it',
    as: { scopes: ['webhook:write'] },
    request: ({ id }) => ({ body: { webhookId: id } }),
    expect: { status: 200, body: ({ id }: Subject) => acted('test', { webhookId: id, afterSeq: 1, at: STARTED_AT }) },
    wrote: {},
    afterwards: async (world, { id }) => {
      await world.sequence();
      const events = await world.call('admin', 'GET', '/event/list?type=ping');
      expect(events.body.data).toMatchObject([{ seq: 2, type: 'ping', resource_type: 'webhook', resource_id: id }]);
    },
  },
  {
    name: 'refuses one that is not active',
    given: inactive,
    as: 'admin',
    request: ({ id }) => ({ body: { webhookId: id } }),
    expect: refusedInactive,
  },
  ...commonRows('webhooks.test'),
]);

scenarios<Subject>('webhooks.rotate', oneWebhook, [
  {
    name: 'shows a new secret once, beside which the old one signs for a day',
    at: LATER,
    as: 'admin',
    request: ({ id }) => ({ body: { webhookId: id } }),
    expect: {
      status: 200,
      body: acted('rotate', {
        ...shown({ previousSecretUntil: '2026-11-22T11:00:00.000Z', updatedAt: LATER }),
        secret: expect.stringMatching(SECRET),
      }),
    },
    wrote: {},
    absent: ({ secret }) => [secret],
  },
  {
    name: 'ends the old one at once where no time is left to it',
    at: LATER,
    as: 'admin',
    request: ({ id }) => ({ body: { webhookId: id, overlap: 0 } }),
    expect: {
      status: 200,
      body: acted('rotate', { ...shown({ updatedAt: LATER }), secret: expect.stringMatching(SECRET) }),
    },
    wrote: {},
    afterwards: async (world, { secret }) => {
      expect(JSON.stringify(await world.contents())).not.toContain(secret.slice(6));
    },
  },
  ...commonRows('webhooks.rotate'),
]);

scenarios<Subject>('webhooks.replay', oneWebhook, [
  {
    name: 'goes back to a number, and forgets what failed behind it',
    given: async (world, { id }) => {
      await world.customer();
      await world.customer();
      await world.sequence();
      await world.sql("update webhooks set last_seq = 3, retry_at = '2026-11-21T12:00:00.000Z'");
      await world.sql(deliverySql(world, id, 1, 'retrying'));
      await world.sql(deliverySql(world, id, 2, 'delivered'));
      await world.sql(deliverySql(world, id, 3, 'dead'));
    },
    as: 'admin',
    request: ({ id }) => ({ body: { webhookId: id, after: 1 } }),
    expect: { status: 200, body: ({ id }: Subject) => acted('replay', { webhookId: id, events: 2 }) },
    wrote: { webhook_deliveries: -1 },
    afterwards: async (world, { id }) => {
      const { lastSeq, retryAt } = (await world.store.repositories.webhooks.find(world.accounts.acme, id)) ?? {};
      expect({ lastSeq, retryAt }).toEqual({ lastSeq: 1, retryAt: '2026-11-21T10:00:05.000Z' });
    },
  },
  {
    name: 'never goes forward',
    as: 'admin',
    request: ({ id }) => ({ body: { webhookId: id, after: 1_000 } }),
    expect: { status: 200, body: ({ id }: Subject) => acted('replay', { webhookId: id, events: 0 }) },
    wrote: {},
    afterwards: async (world, { id }) => {
      expect(await world.store.repositories.webhooks.find(world.accounts.acme, id)).toMatchObject({ lastSeq: 0 });
    },
  },
  {
    name: 'sends what was not accepted at once',
    given: async (world, { id }) => {
      for (const [seq, state] of [
        [1, 'retrying'],
        [2, 'delivered'],
        [3, 'dead'],
      ] as const)
        await world.sql(deliverySql(world, id, seq, state));
    },
    at: LATER,
    as: 'admin',
    request: ({ id }) => ({ body: { webhookId: id, failed: true } }),
    expect: { status: 200, body: ({ id }: Subject) => acted('replay', { webhookId: id, events: 2 }) },
    wrote: {},
    afterwards: async (world, { id }) => {
      const { webhooks, deliveries } = world.store.repositories;
      expect(await webhooks.find(world.accounts.acme, id)).toMatchObject({ retryAt: LATER });
      const of = { accountId: world.accounts.acme, webhookId: id };
      expect(await deliveries.list(of, { below: 9, limit: 9, state: 'retrying' })).toMatchObject([
        { seq: 3, attempts: 0, nextAttemptAt: LATER },
        { seq: 1, attempts: 0, nextAttemptAt: LATER },
      ]);
    },
  },
  {
    name: 'refuses both, and neither',
    as: 'admin',
    request: ({ id }) => ({ body: { webhookId: id, after: 1, failed: true } }),
    expect: { status: 400, code: 1, message: 'Missing required params' },
  },
  {
    name: 'refuses one that is not active',
    given: inactive,
    as: 'admin',
    request: ({ id }) => ({ body: { webhookId: id, after: 0 } }),
    expect: refusedInactive,
  },
  ...commonRows('webhooks.replay'),
]);

scenarios<Subject>('webhooks.deliveries', oneWebhook, [
  {
    name: 'lists them newest first, a part at a time',
    given: async (world, { id }) => {
      for (const seq of [1, 2, 3]) await world.sql(deliverySql(world, id, seq, seq === 2 ? 'dead' : 'retrying'));
    },
    as: 'read-only',
    request: ({ id }) => ({ query: { webhookId: id, limit: '2' } }),
    expect: {
      status: 200,
      body: { data: [delivery(3, 'retrying'), delivery(2, 'dead')], meta: { limit: 2, next: '2' }, code: 0 },
    },
    afterwards: async (world, { id }) => {
      const path = `/webhook/deliveries?webhookId=${id}`;
      const rest = await world.call('admin', 'GET', `${path}&limit=2&cursor=2`);
      expect(rest.body).toEqual({ data: [delivery(1, 'retrying')], meta: { limit: 2, next: null }, code: 0 });
      const dead = await world.call('admin', 'GET', `${path}&state=dead`);
      expect(dead.body.data).toEqual([delivery(2, 'dead')]);
    },
  },
  ...commonRows('webhooks.deliveries'),
]);

function delivery(seq: number, state: 'delivered' | 'retrying' | 'dead') {
  return {
    ...{ seq, eventId: `evt_${seq}`, type: 'license.created', state, attempts: 1, status: null, error: 'refused' },
    ...{ answer: null, durationMs: 3, attemptedAt: STARTED_AT },
    nextAttemptAt: state === 'retrying' ? '2026-11-21T10:00:05.000Z' : null,
  };
}

function deliverySql(world: World, id: string, seq: number, state: 'delivered' | 'retrying' | 'dead'): string {
  const { eventId, type, attempts, error, durationMs, attemptedAt, nextAttemptAt } = delivery(seq, state);
  const texts = [eventId, type, state].map((text) => `'${text}'`);
  const next = nextAttemptAt === null ? 'null' : `'${nextAttemptAt}'`;
  return `insert into webhook_deliveries values ('${world.accounts.acme}', '${id}', ${seq}, ${texts.join()}, ${attempts},
    null, '${error}', null, ${durationMs}, '${attemptedAt}', ${next})`;
}
