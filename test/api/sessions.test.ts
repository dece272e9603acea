import { expect, vi } from 'vitest';
import type { List } from '../../src/store/lists.ts';
import { scenarios } from '../support/scenario.ts';
import { checkOut, signedBy } from '../support/sessions.ts';
import { type Address, STARTED_AT, type World } from '../support/world.ts';

interface Subject {
  /** A floating key of the product Editor, with two sessions. */
  readonly editor: Address;
  /** A floating key of the product Viewer, with one session. */
  readonly viewer: Address;
  /** The ids of all three, oldest first. */
  readonly ids: readonly [string, string, string];
}

const missing = { status: 400, code: 1, message: 'Missing required params' };
const ended = { status: 404, code: 3, message: 'Session not found or ended' };
const noScope = { status: 403, code: 1, message: 'Insufficient permissions for this operation' };

async function given(world: World): Promise<Subject> {
  const floating = async (name: string): Promise<Address> => {
    const { id: productId } = await world.product(name);
    return { productId, licenseKey: await world.key({ productId, licenseType: 'floating', maxConcurrentSessions: 2 }) };
  };
  const editor = await floating('Editor');
  const viewer = await floating('Viewer');
  const first = await checkOut(world, editor, { hostId: 'host-1', deviceTag: 'desk', userIdentifier: 'zoe' });
  world.setNow('2026-11-21T10:00:01.000Z');
  const second = await checkOut(world, viewer);
  world.setNow('2026-11-21T10:00:02.000Z');
  const third = await checkOut(world, editor, { hostId: 'host-2' });
  return { editor, viewer, ids: [first.sessionId, second.sessionId, third.sessionId] };
}

/** The three sessions as they are listed. */
const listed = ({ ids }: Subject) =>
  [
    { id: ids[0], hostId: 'host-1', deviceTag: 'desk', userIdentifier: 'zoe', createdAt: STARTED_AT },
    { id: ids[1], hostId: null, deviceTag: 'No tag', userIdentifier: null, createdAt: '2026-11-21T10:00:01.000Z' },
    { id: ids[2], hostId: 'host-2', deviceTag: 'No tag', userIdentifier: null, createdAt: '2026-11-21T10:00:02.000Z' },
  ].map((session) => ({ ...session, expiresAt: session.createdAt.replace('T10:00', 'T10:15') }));

/** The answer with those of the three sessions that are named by their numbers. */
const some =
  (...numbers: readonly number[]) =>
  (subject: Subject) => ({ code: 0, data: listed(subject).filter((_, i) => numbers.includes(i)) });

scenarios<Subject>('sessions.list', given, [
  {
    name: 'lists the sessions of the account, oldest first, without their secrets',
    as: 'read-only',
    request: {},
    expect: { status: 200, body: some(0, 1, 2) },
    absent: () => ['secret', 'nonce'],
  },
  {
    name: 'lists those of a product',
    as: 'admin',
    request: ({ editor: { productId } }) => ({ query: { productId } }),
    expect: { status: 200, body: some(0, 2) },
  },
  {
    name: 'lists those of a key',
    as: 'admin',
    request: ({ viewer: { licenseKey } }) => ({ query: { licenseKey } }),
    expect: { status: 200, body: some(1) },
  },
  {
    name: 'lists none of a key of another product',
    as: 'admin',
    request: ({ editor: { productId }, viewer: { licenseKey } }) => ({ query: { productId, licenseKey } }),
    expect: { status: 200, body: some() },
  },
  {
    name: 'lists none of another account',
    as: 'other admin',
    request: {},
    expect: { status: 200, body: some() },
  },
  {
    name: 'lists no session from the instant on at which its lease ends',
    at: '2026-11-21T10:15:01.000Z',
    as: 'admin',
    request: {},
    expect: { status: 200, body: some(2) },
  },
  {
    name: 'lists a page, and says where it stands',
    as: 'admin',
    request: { query: { page: '2', limit: '2' } },
    expect: {
      status: 200,
      body: (subject: Subject) => ({ ...some(2)(subject), meta: { total: 3, page: 2, limit: 2, totalPages: 2 } }),
    },
  },
  {
    name: 'lists what is of the products of a token, and no more',
    as: ({ viewer: { productId } }) => ({ scopes: ['license:read'], productIds: [productId] }),
    request: { query: { limit: '10' } },
    expect: {
      status: 200,
      body: (subject: Subject) => ({ ...some(1)(subject), meta: { total: 1, page: 1, limit: 10, totalPages: 1 } }),
    },
  },
  {
    name: 'lists none of a product that the token may not touch',
    as: ({ viewer: { productId } }) => ({ scopes: ['license:read'], productIds: [productId] }),
    request: ({ editor: { productId } }) => ({ query: { productId } }),
    expect: { status: 200, body: some() },
  },
  {
    name: 'lists the sessions of all products of a token in one order',
    as: ({ editor, viewer }) => ({ scopes: ['license:read'], productIds: [viewer.productId, editor.productId] }),
    request: {},
    expect: { status: 200, body: some(0, 1, 2) },
  },
  {
    name: 'reads one page of the sessions of such products, and not all of them',
    given: async (world) => {
      const { sessions } = world.store.repositories;
      const { list } = sessions;
      vi.spyOn(sessions, 'list').mockImplementation((...of) => withoutAll(list(...of)));
    },
    as: ({ editor, viewer }) => ({ scopes: ['license:read'], productIds: [viewer.productId, editor.productId] }),
    request: { query: { page: '2', limit: '2' } },
    expect: {
      status: 200,
      body: (subject: Subject) => ({ ...some(2)(subject), meta: { total: 3, page: 2, limit: 2, totalPages: 2 } }),
    },
  },
  { name: 'refuses a page that is none', as: 'admin', request: { query: { page: '0' } }, expect: missing },
  { name: 'refuses a token of kind client', as: 'client', request: {}, expect: noScope },
]);

const released = { status: 200, body: { action: 'sessions.delete', status: true, code: 0 } };

scenarios<Subject>('sessions.delete', given, [
  {
    name: 'frees the seat at once',
    as: 'admin',
    request: ({ ids: [sessionId] }) => ({ query: { sessionId } }),
    expect: released,
    wrote: { sessions: -1 },
    afterwards: async (world, { editor }) => {
      await checkOut(world, editor);
    },
  },
  {
    name: 'ends the session: its next heartbeat is refused',
    as: { scopes: ['license:activate'] },
    request: ({ ids: [sessionId] }) => ({ query: { sessionId } }),
    expect: released,
    wrote: { sessions: -1 },
    afterwards: async (world, { editor, ids: [sessionId] }) => {
      const body = { ...editor, ...signedBy({ sessionId, sessionSecret: 'any', nextNonce: 'any' }) };
      expect((await world.call('client', 'POST', '/key/heartbeat', body)).body.code).toBe(3);
    },
  },
  {
    name: 'lets a token that is limited to products release a session of one of them',
    as: ({ editor: { productId } }) => ({ scopes: ['license:activate'], productIds: [productId] }),
    request: ({ editor: { productId }, ids: [sessionId] }) => ({ query: { sessionId, productId } }),
    expect: released,
    wrote: { sessions: -1 },
  },
  {
    name: 'refuses such a token that names no product',
    as: ({ editor: { productId } }) => ({ scopes: ['license:activate'], productIds: [productId] }),
    request: ({ ids: [sessionId] }) => ({ query: { sessionId } }),
    expect: missing,
  },
  {
    name: 'refuses such a token another product',
    as: ({ viewer: { productId } }) => ({ scopes: ['license:activate'], productIds: [productId] }),
    request: ({ editor: { productId }, ids: [sessionId] }) => ({ query: { sessionId, productId } }),
    expect: ended,
  },
  {
    name: 'refuses a session of another product than the one that is named',
    as: ({ viewer: { productId } }) => ({ scopes: ['license:activate'], productIds: [productId] }),
    request: ({ viewer: { productId }, ids: [sessionId] }) => ({ query: { sessionId, productId } }),
    expect: ended,
  },
  {
    name: 'refuses a session whose lease has ended',
    at: '2026-11-21T10:15:00.000Z',
    as: 'admin',
    request: ({ ids: [sessionId] }) => ({ query: { sessionId } }),
    expect: ended,
  },
  {
    name: 'refuses a session of another account',
    as: 'other admin',
    request: ({ ids: [sessionId] }) => ({ query: { sessionId } }),
    expect: ended,
  },
]);

/** A list of which no more than a page can be read. */
function withoutAll<T>(list: List<T>): List<T> {
  const all = () => {
    throw new Error('the whole list was read');
  };
  return { ...list, all, map: (show) => withoutAll(list.map(show)) };
}
