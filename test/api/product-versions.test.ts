import { describe, expect, it } from 'vitest';
import { engines } from '../support/engines.ts';
import { scenarios } from '../support/scenario.ts';
import { createWorld, type World } from '../support/world.ts';

interface Subject {
  readonly editor: string;
  /** Version 1.0 of it. */
  readonly first: string;
}

const MADE = '2026-11-21T10:00:00.000Z';
const LATER = '2026-11-21T11:00:00.000Z';

async function oneVersion(world: World): Promise<Subject> {
  const editor = (await world.product('Editor')).id;
  const made = await world.call('admin', 'POST', '/product/version', { productId: editor, version: '1.0' });
  return { editor, first: made.body.data.id };
}

const missing = { status: 400, code: 1, message: 'Missing required params' };
const scopeMissing = { status: 403, code: 1, message: 'Insufficient permissions for this operation' };
const noVersion = { status: 404, code: 1, message: 'Version not found' };
const ABSENT = 'prod_00000000000000000000000000';

const add = ({ editor }: Subject) => ({ body: { productId: editor, version: '2.1', description: 'Autumn' } });

scenarios<Subject>('products.createVersion', oneVersion, [
  {
    name: 'adds an active version, which the product then shows behind those it has',
    at: LATER,
    as: ({ editor }) => ({ scopes: ['product:write'], productIds: [editor] }),
    request: add,
    expect: {
      status: 200,
      body: {
        data: {
          id: expect.stringMatching(/^ver_[0-9a-z]{26}$/),
          version: '2.1',
          description: 'Autumn',
          active: true,
          createdAt: LATER,
        },
        code: 0,
      },
    },
    wrote: { product_versions: 1 },
    afterwards: async (world, { editor }, { body }) => {
      const shown = await world.call('admin', 'GET', `/product/by-id?productId=${editor}`);
      const first = { id: expect.any(String), version: '1.0', description: null, active: true, createdAt: MADE };
      expect(shown.body.data.versions).toEqual([first, body.data]);
    },
  },
  {
    name: 'refuses a name that the product has',
    as: 'admin',
    request: ({ editor }) => ({ body: { productId: editor, version: '1.0' } }),
    expect: { status: 409, code: 12, message: 'The product has a version of this name' },
  },
  {
    name: 'refuses a blank name',
    as: 'admin',
    request: ({ editor }) => ({ body: { productId: editor, version: ' ' } }),
    expect: missing,
  },
  { name: 'refuses a token that may only read', as: 'read-only', request: add, expect: scopeMissing },
  {
    name: 'finds no product that does not exist',
    as: 'admin',
    request: { body: { productId: ABSENT, version: '2.1' } },
    expect: { status: 404, code: 1, message: 'Product not found' },
  },
  {
    name: 'refuses a product that the token is not for as one that does not exist',
    as: { scopes: ['product:write'], productIds: [ABSENT] },
    request: add,
    expect: { status: 404, code: 1, message: 'Product not found' },
  },
]);

const stop = ({ first }: Subject) => ({ body: { versionId: first, active: false } });

const stopped = {
  status: 200,
  body: ({ first }: Subject) => ({
    data: { id: first, version: '1.0', description: null, active: false, createdAt: MADE },
    code: 0,
  }),
};

scenarios<Subject>('products.updateVersion', oneVersion, [
  { name: 'makes a version inactive', as: 'admin', request: stop, expect: stopped, wrote: {} },
  {
    name: 'makes a version inactive for a token of its product, which names it',
    as: ({ editor }) => ({ scopes: ['product:write'], productIds: [editor] }),
    request: ({ first, editor }) => ({ body: { versionId: first, active: false, productId: editor } }),
    expect: stopped,
    wrote: {},
  },
  {
    name: 'refuses a token of some products that names none',
    as: ({ editor }) => ({ scopes: ['product:write'], productIds: [editor] }),
    request: stop,
    expect: scopeMissing,
  },
  {
    name: 'finds no version of another product',
    as: { scopes: ['product:write'], productIds: [ABSENT] },
    request: ({ first }) => ({ body: { versionId: first, active: false, productId: ABSENT } }),
    expect: noVersion,
  },
  {
    name: 'finds no version that does not exist',
    as: 'admin',
    request: { body: { versionId: 'ver_0', active: true } },
    expect: noVersion,
  },
  { name: 'refuses a token that may only read', as: 'read-only', request: stop, expect: scopeMissing },
]);

describe.each(engines)('the version of a licence on $name', (engine) => {
  it('is shown with the licence, alone and in lists', async () => {
    await using world = await createWorld({ engine });
    const { editor: productId, first } = await oneVersion(world);
    const licenseKey = await world.key({ productId });
    await world.sql(`update licenses set version_id = '${first}'`);
    const version = { id: first, version: '1.0', description: null, active: true };
    expect(await world.license({ productId, licenseKey })).toMatchObject({ versionId: first, version });
    const list = await world.call('admin', 'GET', '/key/list');
    expect(list.body.data).toMatchObject([{ versionId: first, version }]);
  });
});
