import { expect } from 'vitest';
import { type Afterwards, answers, row, scenarios } from '../support/scenario.ts';
import { acted } from '../support/shop.ts';
import { STARTED_AT, type World } from '../support/world.ts';

interface Subject {
  /** Two products, Editor and, made a minute later, Viewer. */
  readonly editor: string;
  readonly viewer: string;
}

const ABSENT = 'prod_00000000000000000000000000';
const LATER = '2026-11-21T12:00:00.000Z';

async function twoProducts(world: World): Promise<Subject> {
  const editor = (await world.product('Editor')).id;
  world.setNow('2026-11-21T10:01:00.000Z');
  return { editor, viewer: (await world.product('Viewer')).id };
}

const product = (id: string, name: string, at: string) => ({
  ...{ id, name, slug: null, active: true },
  ...{ createdAt: at, updatedAt: at },
});
const editorOf = ({ editor }: Subject) => product(editor, 'Editor', STARTED_AT);
const viewerOf = ({ viewer }: Subject) => product(viewer, 'Viewer', '2026-11-21T10:01:00.000Z');

const shows = (action: string, data: (subject: Subject) => unknown, meta?: object) =>
  answers((subject: Subject) => acted(action, data(subject), meta));

const viewerOnly = ({ viewer }: Subject) => ({ kind: 'admin', productIds: [viewer] }) as const;

scenarios<Subject>('products.list', { given: twoProducts }, [
  row(
    'lists all products, oldest first',
    shows('products.list', (both) => [editorOf(both), viewerOf(both)]),
  ),
  row(
    'counts only those of the token',
    shows('products.list', (both) => [viewerOf(both)], { total: 1, page: 1, limit: 100, totalPages: 1 }),
    { send: { page: '1' }, as: viewerOnly },
  ),
]);

const withSlug = async (world: World, { editor }: Subject) =>
  void (await world.call('admin', 'PUT', `/product/by-id?productId=${editor}`, { slug: 'editor' }));

const createdAs = (fields: object) =>
  shows('products.create', (both) => ({
    ...viewerOf(both),
    id: expect.stringMatching(/^prod_[0-9a-z]{26}$/),
    ...fields,
  }));

scenarios<Subject>(
  'products.create',
  { given: twoProducts, body: () => ({ name: 'Server' }), wrote: { products: 1 } },
  [
    row('creates an active product', createdAs({ name: 'Server' }), {
      afterwards: async (world, _subject, { body }) => {
        const shown = await world.call('admin', 'GET', `/product/by-id?productId=${body.data.id}`);
        expect(shown.body.data).toEqual({ ...body.data, versions: [] });
      },
    }),
    row('keeps the id that a product had elsewhere', createdAs({ id: 'acme-product-0000000042', name: 'Server' }), {
      send: { id: 'acme-product-0000000042' },
    }),
    row('keeps a slug', createdAs({ name: 'Server', slug: 'server-2' }), { send: { slug: 'server-2' } }),
    row('refuses a slug that another product has', 'slugTaken', { send: { slug: 'editor' }, given: withSlug }),
    row('refuses an id that another product has', 'productTaken', { send: ({ editor }) => ({ id: editor }) }),
    row('refuses a token that may touch some products only', 'scopeMissing', { as: viewerOnly }),
  ],
);

const byId = { given: twoProducts, query: ({ editor }: Subject) => ({ productId: editor }) };

/** Of all operations on one product. */
const refusals = [
  row<Subject>('refuses a product that is not there', 'productNotFound', { query: { productId: ABSENT } }),
  row<Subject>('refuses a product that the token may not touch as one that is not there', 'productNotFound', {
    as: viewerOnly,
  }),
];

scenarios<Subject>('products.get', byId, [
  row(
    'shows one product',
    shows('products.get', (both) => ({ ...editorOf(both), versions: [] })),
    { as: 'read-only' },
  ),
  ...refusals.map((one) => ({ ...one, ...(one.query && { send: one.query }) })),
]);

const updated = (fields: object) =>
  shows('products.update', (both) => ({ ...editorOf(both), updatedAt: LATER, ...fields }));

/** The list then shows what was answered, and the other product as it was. */
const asAnswered: Afterwards<Subject> = async (world, subject, { body }) =>
  expect((await world.call('admin', 'GET', '/product')).body.data).toEqual([body.data, viewerOf(subject)]);

scenarios<Subject>('products.update', { ...byId, body: () => ({ active: false }), wrote: {} }, [
  row('renames a product and leaves the rest as it is, whatever id its body holds', updated({ name: 'Editor 2' }), {
    send: ({ viewer }) => ({ active: undefined, name: 'Editor 2', productId: viewer }),
    at: LATER,
    afterwards: asAnswered,
  }),
  row('makes a product inactive, and keeps showing its keys', updated({ active: false }), {
    given: async (world, { editor: productId }) => void (await world.key({ productId })),
    at: LATER,
    as: { scopes: ['product:write'] },
    afterwards: asAnswered,
  }),
  row('gives a product a slug', updated({ slug: 'editor-2' }), {
    send: { active: undefined, slug: 'editor-2' },
    at: LATER,
  }),
  row('refuses a slug that another product has', 'slugTaken', {
    send: { active: undefined, slug: 'viewer' },
    given: async (world, { viewer }) =>
      void (await world.call('admin', 'PUT', `/product/by-id?productId=${viewer}`, { slug: 'viewer' })),
  }),
  row('refuses a body that changes nothing', 'invalidParams', { send: { active: undefined } }),
  ...refusals,
]);

interface OfVersion extends Subject {
  /** Version 1.0 of the editor. */
  readonly first: string;
}

async function oneVersion(world: World): Promise<OfVersion> {
  const both = await twoProducts(world);
  world.setNow(STARTED_AT);
  const made = await world.call('admin', 'POST', '/product/version', { productId: both.editor, version: '1.0' });
  return { ...both, first: made.body.data.id };
}

const writerOf = ({ editor }: Subject) => ({ scopes: ['product:write'], productIds: [editor] }) as const;

const autumn = { version: '2.1', description: 'Autumn' };

const version = (fields: object) => ({ description: null, active: true, createdAt: STARTED_AT, ...fields });

scenarios<OfVersion>(
  'products.createVersion',
  {
    given: oneVersion,
    body: ({ editor }) => ({ productId: editor, ...autumn }),
    wrote: { product_versions: 1 },
  },
  [
    row(
      'adds an active version, which the product then shows behind those it has',
      answers({
        data: version({ id: expect.stringMatching(/^ver_[0-9a-z]{26}$/), ...autumn, createdAt: LATER }),
        code: 0,
      }),
      {
        at: LATER,
        as: writerOf,
        afterwards: async (world, { editor, first }: OfVersion, { body }) => {
          const shown = await world.call('admin', 'GET', `/product/by-id?productId=${editor}`);
          expect(shown.body.data.versions).toEqual([version({ id: first, version: '1.0' }), body.data]);
        },
      },
    ),
    row('refuses a name that the product has', 'versionTaken', { send: { version: '1.0' } }),
    row('finds no product that does not exist', 'productNotFound', { send: { productId: ABSENT } }),
  ],
);

const stopped = {
  body: ({ first }: OfVersion) => ({ data: version({ id: first, version: '1.0', active: false }), code: 0 }),
};

scenarios<OfVersion>(
  'products.updateVersion',
  { given: oneVersion, body: ({ first }) => ({ versionId: first, active: false }), wrote: {} },
  [
    row('makes a version inactive for a token of its product, which names it', stopped, {
      send: ({ editor }) => ({ productId: editor }),
      as: writerOf,
    }),
    row('refuses a token of some products that names none', 'scopeMissing', { as: writerOf }),
    row('finds no version of another product', 'versionNotFound', {
      send: { productId: ABSENT },
      as: { scopes: ['product:write'], productIds: [ABSENT] },
    }),
    row('finds no version that does not exist', 'versionNotFound', { send: { versionId: 'ver_0', active: true } }),
  ],
);
