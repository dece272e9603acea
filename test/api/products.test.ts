import { expect } from 'vitest';
import { scenarios } from '../support/scenario.ts';
import type { World } from '../support/world.ts';

interface Subject {
  /** Two products, Editor and, made a minute later, Viewer. */
  readonly editor: string;
  readonly viewer: string;
}

async function twoProducts(world: World): Promise<Subject> {
  const editor = (await world.product('Editor')).id;
  world.setNow('2026-11-21T10:01:00.000Z');
  return { editor, viewer: (await world.product('Viewer')).id };
}

const showEditor = ({ editor }: Subject) => ({
  id: editor,
  name: 'Editor',
  active: true,
  createdAt: '2026-11-21T10:00:00.000Z',
  updatedAt: '2026-11-21T10:00:00.000Z',
});

const showViewer = ({ viewer }: Subject) => ({
  id: viewer,
  name: 'Viewer',
  active: true,
  createdAt: '2026-11-21T10:01:00.000Z',
  updatedAt: '2026-11-21T10:01:00.000Z',
});

const missing = { status: 400, code: 1, message: 'Missing required params' };
const scopeMissing = { status: 403, code: 1, message: 'Insufficient permissions for this operation' };
const notFound = { status: 404, code: 1, message: 'Product not found' };
const ABSENT = 'prod_00000000000000000000000000';

scenarios<Subject>('products.list', twoProducts, [
  {
    name: 'lists all products, oldest first',
    as: 'admin',
    request: {},
    expect: {
      status: 200,
      body: (subject: Subject) => ({
        action: 'products.list',
        status: true,
        data: [showEditor(subject), showViewer(subject)],
        code: 0,
      }),
    },
  },
  {
    name: 'lists only the products that the token may touch',
    as: ({ viewer }) => ({ kind: 'read-only', productIds: [viewer] }),
    request: {},
    expect: {
      status: 200,
      body: (subject: Subject) => ({ action: 'products.list', status: true, data: [showViewer(subject)], code: 0 }),
    },
    absent: ({ editor }) => [editor, 'Editor'],
  },
  {
    name: 'gives one page, and says where it stands',
    as: 'admin',
    request: { query: { page: '2', limit: '1' } },
    expect: {
      status: 200,
      body: (subject: Subject) => ({
        action: 'products.list',
        status: true,
        data: [showViewer(subject)],
        meta: { total: 2, page: 2, limit: 1, totalPages: 2 },
        code: 0,
      }),
    },
  },
  {
    name: 'counts only the products that the token may touch',
    as: ({ viewer }) => ({ kind: 'read-only', productIds: [viewer] }),
    request: { query: { page: '1' } },
    expect: {
      status: 200,
      body: (subject: Subject) => ({
        action: 'products.list',
        status: true,
        data: [showViewer(subject)],
        meta: { total: 1, page: 1, limit: 100, totalPages: 1 },
        code: 0,
      }),
    },
    absent: ({ editor }) => [editor, 'Editor'],
  },
  { name: 'refuses a page of 1001', as: 'admin', request: { query: { limit: '1001' } }, expect: missing },
  { name: 'refuses a token that may not read products', as: 'client', request: {}, expect: scopeMissing },
]);

scenarios<Subject>('products.create', twoProducts, [
  {
    name: 'creates an active product',
    as: 'admin',
    request: { body: { name: 'Server' } },
    expect: {
      status: 201,
      body: {
        action: 'products.create',
        status: true,
        data: {
          id: expect.stringMatching(/^prod_[0-9a-z]{26}$/),
          name: 'Server',
          active: true,
          createdAt: '2026-11-21T10:01:00.000Z',
          updatedAt: '2026-11-21T10:01:00.000Z',
        },
        code: 0,
      },
    },
    wrote: { products: 1 },
    afterwards: async (world, _, { body }) => {
      const shown = await world.call('admin', 'GET', `/product/by-id?productId=${body.data.id}`);
      expect(shown.body.data).toEqual({ ...body.data, versions: [] });
    },
  },
  {
    name: 'creates a second product of one name',
    as: { scopes: ['product:write'] },
    request: { body: { name: 'Editor' } },
    expect: {
      status: 201,
      body: (subject: Subject) => ({
        action: 'products.create',
        status: true,
        data: { ...showViewer(subject), id: expect.not.stringContaining(subject.editor), name: 'Editor' },
        code: 0,
      }),
    },
    wrote: { products: 1 },
  },
  {
    name: 'keeps the id that a product had elsewhere',
    as: 'admin',
    request: { body: { name: 'Server', id: 'acme-product-0000000042' } },
    expect: {
      status: 201,
      body: (subject: Subject) => ({
        action: 'products.create',
        status: true,
        data: { ...showViewer(subject), id: 'acme-product-0000000042', name: 'Server' },
        code: 0,
      }),
    },
    wrote: { products: 1 },
  },
  {
    name: 'refuses an id that another product has',
    as: 'admin',
    request: ({ editor }) => ({ body: { name: 'Server', id: editor } }),
    expect: { status: 409, code: 13, message: 'A product with this id exists already' },
  },
  { name: 'refuses a blank name', as: 'admin', request: { body: { name: ' \u2003' } }, expect: missing },
  {
    name: 'refuses a name of 257 characters',
    as: 'admin',
    request: { body: { name: 'n'.repeat(257) } },
    expect: missing,
  },
  {
    name: 'refuses a token that may touch some products only',
    as: ({ editor }) => ({ kind: 'admin', productIds: [editor] }),
    request: { body: { name: 'Server' } },
    expect: scopeMissing,
  },
]);

scenarios<Subject>('products.get', twoProducts, [
  {
    name: 'shows one product',
    as: 'read-only',
    request: ({ editor }) => ({ query: { productId: editor } }),
    expect: {
      status: 200,
      body: (subject: Subject) => ({
        action: 'products.get',
        status: true,
        data: { ...showEditor(subject), versions: [] },
        code: 0,
      }),
    },
  },
  {
    name: 'refuses a product that is not there',
    as: 'admin',
    request: { query: { productId: ABSENT } },
    expect: notFound,
  },
  {
    name: 'refuses a product that the token may not touch as one that is not there',
    as: ({ viewer }) => ({ kind: 'admin', productIds: [viewer] }),
    request: ({ editor }) => ({ query: { productId: editor } }),
    expect: notFound,
  },
]);

/** What an update at noon answers, and what is shown from then on. */
const updated = (fields: { readonly name?: string; readonly active?: boolean }) => ({
  at: '2026-11-21T12:00:00.000Z',
  expect: {
    status: 200,
    body: (subject: Subject) => ({
      action: 'products.update',
      status: true,
      data: { ...showEditor(subject), updatedAt: '2026-11-21T12:00:00.000Z', ...fields },
      code: 0,
    }),
  },
  wrote: {},
  afterwards: async (world: World, subject: Subject) => {
    expect((await world.call('admin', 'GET', '/product')).body.data).toEqual([
      { ...showEditor(subject), updatedAt: '2026-11-21T12:00:00.000Z', ...fields },
      showViewer(subject),
    ]);
  },
});

scenarios<Subject>('products.update', twoProducts, [
  {
    name: 'renames a product and leaves the rest as it is',
    as: 'admin',
    request: ({ editor }) => ({ query: { productId: editor }, body: { name: 'Editor 2' } }),
    ...updated({ name: 'Editor 2' }),
  },
  {
    name: 'makes a product inactive',
    as: { scopes: ['product:write'] },
    request: ({ editor }) => ({ query: { productId: editor }, body: { active: false } }),
    ...updated({ active: false }),
  },
  {
    name: 'makes a product active again, under another name',
    given: (world) => world.sql(`update products set active = 0 where name = 'Editor'`),
    as: 'admin',
    request: ({ editor }) => ({ query: { productId: editor }, body: { name: 'Editor 2', active: true } }),
    ...updated({ name: 'Editor 2', active: true }),
  },
  {
    name: 'updates a product that the token may touch',
    as: ({ editor }) => ({ kind: 'admin', productIds: [editor] }),
    request: ({ editor }) => ({ query: { productId: editor }, body: { active: false } }),
    ...updated({ active: false }),
  },
  {
    name: 'keeps showing the keys of an inactive product',
    given: async (world, { editor: productId }) => {
      await world.key({ productId });
    },
    as: 'admin',
    request: ({ editor }) => ({ query: { productId: editor }, body: { active: false } }),
    ...updated({ active: false }),
  },
  {
    name: 'updates a product whose updatedAt is as the caller says',
    as: 'admin',
    request: ({ editor }) => ({
      query: { productId: editor },
      body: { active: false, ifUpdatedAt: '2026-11-21T10:00:00Z' },
    }),
    ...updated({ active: false }),
  },
  {
    name: 'refuses a product that was changed meanwhile, and says when',
    as: 'admin',
    request: ({ editor }) => ({
      query: { productId: editor },
      body: { active: false, ifUpdatedAt: '2026-11-21T09:00:00Z' },
    }),
    expect: { status: 409, code: 5, message: () => 'It was changed meanwhile, at 2026-11-21T10:00:00.000Z' },
  },
  {
    name: 'takes the id from the query, never from the body',
    as: 'admin',
    request: ({ editor, viewer }) => ({ query: { productId: editor }, body: { name: 'Editor 2', productId: viewer } }),
    ...updated({ name: 'Editor 2' }),
  },
  {
    name: 'refuses a body that changes nothing',
    as: 'admin',
    request: ({ editor }) => ({ query: { productId: editor }, body: {} }),
    expect: missing,
  },
  {
    name: 'refuses active as text',
    as: 'admin',
    request: ({ editor }) => ({ query: { productId: editor }, body: { active: 'false' } }),
    expect: missing,
  },
  {
    name: 'refuses a product that is not there',
    as: 'admin',
    request: { query: { productId: ABSENT }, body: { active: false } },
    expect: notFound,
  },
  {
    name: 'refuses a product that the token may not touch as one that is not there',
    as: ({ viewer }) => ({ kind: 'admin', productIds: [viewer] }),
    request: ({ editor }) => ({ query: { productId: editor }, body: { active: false } }),
    expect: notFound,
  },
]);
