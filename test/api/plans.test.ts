import { expect } from 'vitest';
import { recordedOf } from '../support/recorded.ts';
import { answers, refuses, row, scenarios } from '../support/scenario.ts';
import { acted } from '../support/shop.ts';
import { STARTED_AT, type World } from '../support/world.ts';

interface Subject {
  readonly editor: string;
  readonly viewer: string;
  /** A plan of the editor. */
  readonly planId: string;
}

const LATER = '2026-11-21T12:00:00.000Z';

/** What a plan says that was created with nothing but its name. */
const plain = {
  ...{ id: expect.stringMatching(/^plan_[0-9a-z]{26}$/), active: true, maxActivations: null, duration: null },
  ...{ fromFirstUse: false, isTrial: false, gracePeriod: null, licenseType: 'node-locked' },
  ...{ maxConcurrentSessions: null, heartbeatInterval: 300, sessionLeaseDuration: 900, customerCanSelfReset: true },
  ...{ fingerprintMatch: null, features: {}, createdAt: STARTED_AT, updatedAt: STARTED_AT },
};

const pro = { name: 'Pro', maxActivations: 3, duration: 'P1Y', gracePeriod: 'P2W', features: { sso: true, seats: 5 } };

/** So many features. */
const features = (count: number, value: boolean | string) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`feature-${i}`.padEnd(64, '€'), value]));

async function onePlan(world: World): Promise<Subject> {
  const [editor, viewer] = [(await world.product('Editor')).id, (await world.product('Viewer')).id];
  const { body } = await world.call('admin', 'POST', '/plan', { productId: editor, ...pro });
  return { editor, viewer, planId: body.data.id };
}

const proOf = ({ editor, planId }: Subject) => ({ ...plain, ...pro, id: planId, productId: editor });
const viewerOnly = ({ viewer }: Subject) => ({ kind: 'admin', productIds: [viewer] }) as const;
const editorOnly = ({ editor }: Subject) => ({ kind: 'admin', productIds: [editor] }) as const;

scenarios<Subject>('plans.list', { given: onePlan }, [
  row(
    'lists all plans',
    answers((all: Subject) => acted('plans.list', [{ ...proOf(all), productName: 'Editor' }])),
    { as: 'read-only' },
  ),
  row('lists those of the products of a token', answers(acted('plans.list', [])), { as: viewerOnly }),
  row('lists those of a product', answers(acted('plans.list', [])), { send: ({ viewer }) => ({ productId: viewer }) }),
]);

scenarios<Subject>(
  'plans.create',
  { given: onePlan, body: ({ editor }) => ({ productId: editor, name: 'Basic' }), wrote: { plans: 1 } },
  [
    row(
      'creates an active plan of keys without limits that never expire',
      answers(({ editor }: Subject) => acted('plans.create', { ...plain, productId: editor, name: 'Basic' })),
      {
        as: editorOnly,
        afterwards: async (world) =>
          expect(await recordedOf(world, 'plans.create')).toMatchObject({ events: [{ type: 'plan.created' }] }),
      },
    ),
    row(
      'keeps all that it is told',
      answers(({ editor }: Subject) =>
        acted('plans.create', {
          ...{ ...plain, ...pro, productId: editor, name: 'Floating', licenseType: 'floating' },
          ...{ maxConcurrentSessions: 4, heartbeatInterval: 60, sessionLeaseDuration: 600, fingerprintMatch: 3 },
          ...{ customerCanSelfReset: false, fromFirstUse: true, isTrial: true },
        }),
      ),
      {
        send: {
          ...{ ...pro, name: 'Floating', licenseType: 'floating', maxConcurrentSessions: 4, heartbeatInterval: 60 },
          ...{ sessionLeaseDuration: 600, fingerprintMatch: 3, customerCanSelfReset: false },
          ...{ fromFirstUse: true, isTrial: true },
        },
      },
    ),
    row('refuses a name that the product has', 'planTaken', { send: { name: 'Pro' } }),
    row('refuses a product that is not there', 'productNotFound', {
      send: { productId: 'prod_00000000000000000000000000' },
    }),
    row('refuses a product that the token is not for', 'productNotFound', { as: viewerOnly }),
    ...refuses('invalidParams', {
      'a trial that never expires': { isTrial: true },
      'a first use that sets no end': { fromFirstUse: true },
      'sessions of a node-locked key': { maxConcurrentSessions: 2 },
      'more features than a licence file has room for': { features: features(40, 'x'.repeat(100)) },
    }),
  ],
);

const byId = { given: onePlan, query: ({ planId }: Subject) => ({ planId }) };

scenarios<Subject>('plans.get', byId, [
  row(
    'shows a plan',
    answers((all: Subject) => acted('plans.get', proOf(all))),
    { send: ({ editor }) => ({ productId: editor }), as: editorOnly },
  ),
  row('finds no plan of another product', 'planNotFound', { send: ({ viewer }) => ({ productId: viewer }) }),
  row('finds no plan that is not there', 'planNotFound', { send: { planId: 'plan_absent' } }),
]);

const changed = (fields: object) =>
  answers((all: Subject) => acted('plans.update', { ...proOf(all), ...fields, updatedAt: LATER }));

/** Issues a key by the plan, and returns how to look it up. */
async function issue(world: World, { editor, planId }: Subject, more: object = {}) {
  const { body } = await world.call('admin', 'POST', '/create-key', { productId: editor, planId, ...more });
  return { productId: editor, licenseKey: body.key };
}

scenarios<Subject>('plans.update', { ...byId, body: () => ({ name: 'Pro 2' }), wrote: {} }, [
  row('renames a plan, and leaves the rest as it is', changed({ name: 'Pro 2' }), { at: LATER }),
  row(
    'changes features of keys that are issued already, and of files that are signed from then on',
    {
      body: (all: Subject) =>
        acted('plans.update', { ...proOf(all), features: { sso: true, beta: 1 }, updatedAt: LATER }),
    },
    {
      send: { name: undefined, features: { seats: null, beta: 1 } },
      given: async (world, subject) => void (await issue(world, subject, { metadata: { features: { own: 'x' } } })),
      at: LATER,
      afterwards: async (world, { editor }) => {
        const [license] = (await world.call('admin', 'GET', `/key/list?productId=${editor}`)).body.data;
        expect(license.metadata.features).toEqual({ sso: true, beta: 1, own: 'x' });
        const address = { productId: editor, licenseKey: license.key };
        const { body } = await world.call('admin', 'POST', '/key/sign', { ...address, hostId: 'host-1' });
        const [, claims] = JSON.parse(body.file).licenseToken.split('.');
        expect(JSON.parse(Buffer.from(claims, 'base64url').toString()).features).toEqual(license.metadata.features);
        const { events } = await recordedOf(world, 'plans.update');
        expect(events).toMatchObject([{ type: 'plan.updated', data: { changed: ['features'], active: true } }]);
      },
    },
  ),
  row('changes limits of keys that are issued from then on, and of no others', changed({ maxActivations: 9 }), {
    send: { name: undefined, maxActivations: 9 },
    given: async (world, subject) => void (await issue(world, subject)),
    at: LATER,
    afterwards: async (world, subject) => {
      await issue(world, subject);
      const listed = (await world.call('admin', 'GET', `/key/list?planId=${subject.planId}`)).body.data;
      expect(listed.map(({ maxActivations }: { maxActivations: number }) => maxActivations)).toEqual([9, 3]);
      const { events } = await recordedOf(world, 'plans.update');
      expect(events).toMatchObject([{ data: { changed: ['maxActivations'] } }]);
    },
  }),
  row(
    'changes nothing that is so already, and tells nobody',
    answers((all: Subject) => acted('plans.update', proOf(all))),
    {
      send: pro,
      at: LATER,
      afterwards: async (world) => expect((await recordedOf(world, 'plans.update')).events).toEqual([]),
    },
  ),
  row('refuses the name of another plan of the product', 'planTaken', {
    given: async (world, { editor: productId }) =>
      void (await world.call('admin', 'POST', '/plan', { productId, name: 'Pro 2' })),
  }),
  row('refuses a plan that is not there', 'planNotFound', { query: { planId: 'plan_absent' } }),
  row('refuses a token of some products that does not name one', 'scopeMissing', { as: editorOnly }),
  ...refuses('invalidParams', {
    'a body that changes nothing': { name: undefined },
    'a trial that never expires': { isTrial: true, duration: null },
    'more features than a plan has, with those that it had': { features: features(39, true) },
    'features that are too long with those that it had': { features: features(10, 'x'.repeat(256)), name: undefined },
    'a report that comes later than the end of its lease': { heartbeatInterval: 1_000 },
  }),
]);
