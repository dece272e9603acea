import { expect } from 'vitest';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { recordedOf } from '../support/recorded.ts';
import { row, scenarios } from '../support/scenario.ts';
import { blocked, revoked, shownDevice } from '../support/shop.ts';
import type { World } from '../support/world.ts';

interface Subject {
  readonly productId: string;
  readonly planId: string;
}

const END = '2026-12-05T23:59:59.000Z';
const trial = { name: 'Trial', isTrial: true, duration: 'P14D', maxActivations: 1, features: { export: true } };

async function withPlan(world: World): Promise<Subject> {
  const { id: productId } = await world.product();
  const { body } = await world.call('admin', 'POST', '/plan', { productId, ...trial });
  return { productId, planId: body.data.id };
}

const start = (world: World, subject: Subject, more: object = {}) =>
  world.call('client', 'POST', '/key/trial', { ...subject, hostId: 'host-1', ...more });

const started = async (world: World, subject: Subject) => void (await start(world, subject));

/** Replaces the key of a trial, and returns the new one. */
async function reissued(world: World, { productId }: Subject, licenseKey: string, overlap: string): Promise<string> {
  const { body } = await world.call('admin', 'POST', '/key/reissue', { productId, licenseKey, overlap });
  return body.key;
}

const shown = (message: string, hostId = 'host-1') => ({
  body: {
    ...{ code: 0, message, key: expect.stringMatching(/^([0-9A-Z]{5}-){4}[0-9A-Z]{5}$/), expirationDate: END },
    device: shownDevice({ hostId, ipAddress: '203.0.*.*' }),
  },
});

scenarios<Subject>(
  'keys.trial',
  {
    given: withPlan,
    as: 'client',
    body: (subject) => ({ ...subject, hostId: 'host-1' }),
    wrote: { licenses: 1, devices: 1, trials: 1 },
  },
  [
    row('issues a key by the plan, for this device alone, and activates it', shown('Trial started'), {
      afterwards: async (world, { productId, planId }, { body }) => {
        const license = await world.license({ productId, licenseKey: body.key });
        expect(license).toMatchObject({
          ...{ planId, allowedHosts: ['host-1'], maxActivations: 1, activations: 1, expirationDate: END },
          metadata: { features: { export: true }, is_trial: true },
        });
        const { events } = await recordedOf(world, 'keys.trial');
        expect(events.map(({ type }) => type)).toEqual(['license.created', 'device.activated']);
      },
    }),
    row(
      'returns the same key to the device while its trial runs, also of a plan that issues no more',
      shown('Trial running'),
      {
        given: async (world, subject) => {
          await started(world, subject);
          await world.sql('update plans set active = 0');
        },
        wrote: {},
      },
    ),
    row('gives the slot back to a device that was freed while its trial runs', shown('Trial running'), {
      given: async (world, subject) => {
        const { body } = await start(world, subject);
        const address = { productId: subject.productId, licenseKey: body.key };
        await world.call('admin', 'POST', '/deactivate-key', { ...address, hostId: 'host-1' });
      },
      wrote: { devices: 1 },
    }),
    row('returns no key but that which the trial began with, while it works', shown('Trial running'), {
      given: async (world, subject) => {
        const { key } = (await start(world, subject)).body;
        await reissued(world, subject, key, 'P7D');
      },
      wrote: {},
      afterwards: async (world, { productId }, { body }) => {
        const { key, previousKeyUntil } = await world.license({ productId, licenseKey: body.key });
        expect([key === body.key, previousKeyUntil]).toEqual([false, '2026-11-28T10:00:00.000Z']);
      },
    }),
    row('gives each device its own', shown('Trial started', 'host-2'), { given: started, send: { hostId: 'host-2' } }),
    row('sets the end with the first use where the plan says so', shown('Trial started'), {
      given: (world) =>
        world.sql(`update plans set terms = replace(terms, '"fromFirstUse":false', '"fromFirstUse":true')`),
    }),
    ...Object.entries<(world: World, subject: Subject) => Promise<void>>({
      'is over': async (world) => void world.setNow(END),
      'was blocked': blocked,
      'was revoked': revoked,
      'has another key, so that the first one works no more': async (world, subject) => {
        const { key } = (await start(world, subject)).body;
        await reissued(world, subject, await reissued(world, subject, key, 'P7D'), 'PT0S');
      },
      'has become a licence that was bought': (world) => world.sql('update licenses set is_trial = 0'),
      'was deleted': async (world, { productId }) => {
        const [{ key }] = (await world.call('admin', 'GET', '/key/list')).body.data;
        const query = new URLSearchParams({ productId, licenseKey: key, force: 'true' });
        await world.call('admin', 'DELETE', `/key?${query}`);
      },
    }).map(([what, ended]) =>
      row<Subject>(`refuses a device whose trial ${what}`, 'trialUsed', {
        given: async (world, subject) => {
          await started(world, subject);
          await ended(world, subject);
        },
      }),
    ),
    row('refuses a plan that is not for trials', 'planNotFound', {
      given: (world) => world.sql(`update plans set terms = replace(terms, '"isTrial":true', '"isTrial":false')`),
    }),
    row('refuses a plan that issues no more keys', 'planNotFound', {
      given: (world) => world.sql('update plans set active = 0'),
    }),
    row('refuses a product that is not active', 'productUnavailable', {
      given: (world) => world.sql('update products set active = 0'),
    }),
    row('refuses a token that has issued all its keys', 'issueLimit', {
      as: { scopes: ['license:activate'], maxIssues: 1 },
      given: async (world, subject) => {
        const rights = { scopes: ['license:activate'], maxIssues: 1 } as const;
        const { status } = await world.call(rights, 'POST', '/key/trial', { ...subject, hostId: 'host-2' });
        expect(status).toBe(200);
      },
    }),
  ],
);

const atOnce = engines.map((engine) => [engine, testsOn(engine)] as const);
for (const [engine, it] of atOnce) {
  it(`gives a device one trial, whatever asks for it at once, on ${engine.name}`, async ({ world }) => {
    const subject = await withPlan(world);
    const all = await Promise.all(Array.from({ length: 8 }, () => start(world, subject)));
    expect(new Set(all.map(({ status, body }) => `${status} ${body.key}`)).size).toBe(1);
    expect((await world.contents()).licenses).toHaveLength(1);
  });
}
