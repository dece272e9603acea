import { expect } from 'vitest';
import { test as it } from '../support/fixtures.ts';
import { answers, type Row, refuses, row, scenarios } from '../support/scenario.ts';
import { acted } from '../support/shop.ts';
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
  ...{ id: expect.stringMatching(/^whk_[0-9a-z]{26}$/), url: URL, types: ['license.created'], description: null },
  ...{
    reveal: false,
    ordered: false,
    signatures: ['standard'],
    active: true,
    lastSeq: 0,
    waiting: 0,
    failingSince: null,
    lastError: null,
    pausedUntil: null,
  },
  ...{ disabledAt: null, disabledReason: null, previousSecretUntil: null },
  ...{ createdAt: STARTED_AT, updatedAt: STARTED_AT },
  ...changes,
});

const aheadOfService = ['aheadOfService', 'The service is at event 1: was it restored?'] as const;
const refusedUrl = (why: string) => ['webhookUrlRefused', `Webhook URL refused: ${why}`] as const;

const byId = { given: oneWebhook, query: ({ id }: Subject) => ({ webhookId: id }) };
const inBody = { given: oneWebhook, body: ({ id }: Subject) => ({ webhookId: id }) };

/** The row that every operation has. */
const ofAll = row<Subject>('refuses a token that is limited to some products', 'scopeMissing', {
  as: { scopes: ['webhook:read', 'webhook:write'], productIds: ['prod_00000000000000000000000000'] },
});

/** Those of every operation on one webhook. */
const ofOne: readonly Row<Subject>[] = [
  ofAll,
  row('finds none of another account', 'webhookNotFound', { as: 'other admin' }),
];

scenarios<Subject>('webhooks.create', { given: oneWebhook, body: () => ({ url: URL }), wrote: { webhooks: 1 } }, [
  row(
    'shows the secret once, and begins behind what has happened',
    answers(
      acted('webhooks.create', {
        ...shown({ types: ['device.activated'], description: 'shop', ordered: true, lastSeq: 1 }),
        ...{ createdAt: LATER, updatedAt: LATER, secret: expect.stringMatching(SECRET) },
      }),
    ),
    {
      send: { types: ['device.activated', 'device.activated'], description: 'shop', ordered: true },
      at: LATER,
      as: { scopes: ['webhook:write'] },
      afterwards: async (world, _, { body }) => {
        const again = await world.call('admin', 'GET', '/webhook');
        expect(again.text).not.toContain(body.data.secret);
        await world.sequence();
        const events = await world.call('admin', 'GET', `/event/list?resourceId=${body.data.id}`);
        expect(events.body.data).toMatchObject([{ type: 'webhook.created', data: { host: 'hooks.example.com' } }]);
        expect(events.text).not.toContain('door');
      },
    },
  ),
  row('sends keys in full for nobody who does not see them', 'scopeMissing', {
    send: { reveal: true },
    as: { scopes: ['webhook:write'] },
  }),
  row(
    'takes the forms of its signatures',
    answers(
      acted('webhooks.create', {
        ...shown({ types: null, signatures: ['timestamped', 'standard'] }),
        ...{ lastSeq: 1, secret: expect.stringMatching(SECRET) },
      }),
    ),
    { send: { signatures: ['timestamped', 'standard'] } },
  ),
  row('refuses plain HTTP', refusedUrl('it must begin with https://'), { send: { url: 'http://hooks.example.com/' } }),
  row('refuses the one too many', 'webhookLimit', {
    given: async (world) => {
      for (let made = 1; made < 100; made += 1) await world.call('admin', 'POST', '/webhook', { url: URL });
    },
  }),
  ofAll,
]);

scenarios<Subject>('webhooks.list', { given: oneWebhook }, [
  row('lists them without their secrets', answers(acted('webhooks.list', [shown()])), {
    absent: ({ secret }) => [secret, secret.slice(6)],
  }),
  row(
    'shows no more than the origin to whom may only read',
    answers(acted('webhooks.list', [shown({ url: 'https://hooks.example.com/…' })])),
    { as: 'read-only', absent: ['door'] },
  ),
  ofAll,
]);

scenarios<Subject>('webhooks.get', byId, [
  row('shows one', answers(acted('webhooks.get', shown())), { absent: ({ secret }) => [secret] }),
  ...ofOne,
]);

scenarios<Subject>('webhooks.update', { ...byId, body: () => ({ active: false }), wrote: {} }, [
  row(
    'changes what is given',
    answers(
      acted(
        'webhooks.update',
        shown({ types: null, description: 'shop', active: false, waiting: 1, updatedAt: LATER }),
      ),
    ),
    { send: { types: null, description: 'shop' }, at: LATER },
  ),
  row(
    'changes the forms of its signatures, and says so',
    answers(acted('webhooks.update', shown({ signatures: ['timestamped'], updatedAt: LATER }))),
    {
      send: { active: undefined, signatures: ['timestamped'] },
      at: LATER,
      afterwards: async (world, { id }) => {
        await world.sequence();
        const events = await world.call('admin', 'GET', `/event/list?resourceId=${id}&type=webhook.updated`);
        expect(events.body.data).toMatchObject([{ data: { changed: ['signatures'] } }]);
      },
    },
  ),
  row('lets a disabled one go on where it stopped', answers(acted('webhooks.update', shown({ updatedAt: LATER }))), {
    send: { active: true },
    given: (world) =>
      world.sql(`update webhooks set active = 0, disabled_at = '${STARTED_AT}', disabled_reason = 'failing',
        failing_since = '${STARTED_AT}'`),
    at: LATER,
  }),
  row('goes on with no event that is not there yet', aheadOfService, { send: { active: true, from: 900 } }),
  ...refuses('invalidParams', {
    'where to go on, of one that does not': { active: false, from: 1 },
    'where to go on, and no more': { active: undefined, from: 'now' },
    'to go on with the event before the first': { active: true, from: 0 },
  }),
  row('lets nobody send keys in full who does not see them', 'scopeMissing', {
    send: { reveal: true },
    as: { scopes: ['webhook:write'] },
  }),
  row('lets nobody have keys sent elsewhere who does not see them', 'scopeMissing', {
    send: { url: 'https://mine.example.com' },
    given: (world) => world.sql('update webhooks set reveal = 1'),
    as: { scopes: ['webhook:write'] },
  }),
  row('refuses a URL that nothing may be sent to', refusedUrl('it names this machine'), {
    send: { url: 'https://localhost./' },
  }),
  row('refuses a change of nothing', 'invalidParams', { send: { active: undefined } }),
  ...ofOne,
]);

scenarios<Subject>('webhooks.delete', byId, [
  row('removes it with its deliveries', answers({ action: 'webhooks.delete', status: true, code: 0 }), {
    given: (world, { id }) => deliver(world, id, 'delivered'),
    wrote: { webhooks: -1, webhook_deliveries: -1 },
  }),
  ...ofOne,
]);

const inactive: Row<Subject>['given'] = (world) => world.sql('update webhooks set active = 0');

scenarios<Subject>('webhooks.test', inBody, [
  row(
    'records a ping for it',
    answers(({ id }: Subject) => acted('webhooks.test', { webhookId: id, afterSeq: 1, at: STARTED_AT })),
    {
      as: { scopes: ['webhook:write'] },
      wrote: {},
      afterwards: async (world, { id }) => {
        await world.sequence();
        const events = await world.call('admin', 'GET', '/event/list?type=ping');
        expect(events.body.data).toMatchObject([{ seq: 2, type: 'ping', resource_type: 'webhook', resource_id: id }]);
      },
    },
  ),
  row('refuses one that is not active', 'webhookInactive', { given: inactive }),
  ...ofOne,
]);

it('no longer says when a secret ends that has ended', async ({ world }) => {
  const { id: webhookId } = (await world.call('admin', 'POST', '/webhook', { url: 'https://shop.example.com/' })).body
    .data;
  const rotated = await world.call('admin', 'POST', '/webhook/rotate', { webhookId, overlap: 60 });
  const { previousSecretUntil } = rotated.body.data;
  world.setNow(previousSecretUntil);
  const { body } = await world.call('admin', 'GET', `/webhook/by-id?webhookId=${webhookId}`);
  expect(body.data.previousSecretUntil).toBeNull();
});

scenarios<Subject>('webhooks.rotate', { ...inBody, wrote: {} }, [
  row(
    'shows a new secret once, beside which the old one signs for a day',
    answers(
      acted('webhooks.rotate', {
        ...shown({ previousSecretUntil: '2026-11-22T11:00:00.000Z', updatedAt: LATER }),
        secret: expect.stringMatching(SECRET),
      }),
    ),
    { at: LATER, absent: ({ secret }) => [secret] },
  ),
  row(
    'ends the old one at once where no time is left to it',
    answers(acted('webhooks.rotate', { ...shown({ updatedAt: LATER }), secret: expect.stringMatching(SECRET) })),
    {
      send: { overlap: 0 },
      at: LATER,
      afterwards: async (world, { secret }) => {
        expect(JSON.stringify(await world.contents())).not.toContain(secret.slice(6));
      },
    },
  ),
  ...ofOne,
]);

scenarios<Subject>('webhooks.replay', { ...inBody, body: ({ id }) => ({ webhookId: id, after: 0 }), wrote: {} }, [
  row(
    'goes back to a number, and forgets what failed behind it',
    answers(({ id }: Subject) => acted('webhooks.replay', { webhookId: id, events: 2 })),
    {
      send: { after: 1 },
      given: async (world, { id }) => {
        await world.customer();
        await world.customer();
        await world.sequence();
        await world.sql("update webhooks set last_seq = 3, retry_at = '2026-11-21T12:00:00.000Z'");
        await deliver(world, id, 'waiting', 'delivered', 'waiting');
      },
      wrote: { webhook_deliveries: -1 },
      afterwards: async (world, { id }) => {
        const { lastSeq, retryAt } = (await world.store.repositories.webhooks.find(world.accounts.acme, id)) ?? {};
        expect({ lastSeq, retryAt }).toEqual({ lastSeq: 1, retryAt: '2026-11-21T10:00:05.000Z' });
      },
    },
  ),
  ...refuses('invalidParams', { nothing: { after: undefined } }),
  row('refuses one that is not active', 'webhookInactive', { given: inactive }),
  ...ofOne,
]);

scenarios<Subject>('webhooks.deliveries', byId, [
  row(
    'lists them newest first, a part at a time',
    answers({ data: [delivery(3, 'waiting'), delivery(2, 'delivered')], meta: { limit: 2, next: '2' }, code: 0 }),
    {
      send: { limit: '2' },
      given: (world, { id }) => deliver(world, id, 'waiting', 'delivered', 'waiting'),
      afterwards: async (world, { id }) => {
        const path = `/webhook/deliveries?webhookId=${id}`;
        const rest = await world.call('admin', 'GET', `${path}&limit=2&cursor=2`);
        expect(rest.body).toEqual({ data: [delivery(1, 'waiting')], meta: { limit: 2, next: null }, code: 0 });
        const delivered = await world.call('admin', 'GET', `${path}&state=delivered`);
        expect(delivered.body.data).toEqual([delivery(2, 'delivered')]);
        await world.sql('update webhooks set active = 0');
        await world.sequence();
        const stopped = await world.call('admin', 'GET', `${path}&state=waiting`);
        const nextAttemptAt = null;
        expect(stopped.body.data).toEqual([3, 1].map((seq) => ({ ...delivery(seq, 'waiting'), nextAttemptAt })));
      },
    },
  ),
  ...ofOne,
]);

type State = 'delivered' | 'waiting';

function delivery(seq: number, state: State) {
  return {
    ...{ seq, eventId: `evt_${seq}`, type: 'license.created', state, attempts: 1, status: null, error: 'refused' },
    ...{ answer: null, durationMs: 3, attemptedAt: STARTED_AT },
    nextAttemptAt: state === 'waiting' ? '2026-11-21T10:00:05.000Z' : null,
  };
}

/** Writes deliveries in these states, numbered from 1 on. */
async function deliver(world: World, webhookId: string, ...states: readonly State[]): Promise<void> {
  for (const [index, state] of states.entries()) {
    const { nextAttemptAt } = delivery(index + 1, state);
    const next = nextAttemptAt === null ? 'null' : `'${nextAttemptAt}'`;
    await world.sql(`insert into webhook_deliveries values ('${world.accounts.acme}', '${webhookId}', ${index + 1},
      'evt_${index + 1}', 'license.created', '${state}', 1, null, 'refused', null, 3, '${STARTED_AT}', ${next})`);
  }
}
