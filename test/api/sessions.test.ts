import { expect } from 'vitest';
import { answers, row, scenarios } from '../support/scenario.ts';
import { checkOut, signedBy } from '../support/sessions.ts';
import { type Address, type As, STARTED_AT, type World } from '../support/world.ts';

interface Subject {
  /** A floating key of the product Editor, with two sessions. */
  readonly editor: Address;
  /** A floating key of the product Viewer, with one session. */
  readonly viewer: Address;
  /** The ids of all three, oldest first. */
  readonly ids: readonly [string, string, string];
}

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

/** A token of these products. */
const readerOf =
  (...keys: readonly ('editor' | 'viewer')[]) =>
  (subject: Subject): As => ({
    scopes: ['license:read', 'license:activate'],
    productIds: keys.map((key) => subject[key].productId),
  });

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

scenarios<Subject>('sessions.list', { given }, [
  row('lists the sessions of the account, oldest first, without their secrets', answers(some(0, 1, 2)), {
    as: 'read-only',
    absent: ['secret', 'nonce'],
  }),
  row('lists those of a product', answers(some(0, 2)), { send: ({ editor: { productId } }) => ({ productId }) }),
  row('lists those of a key', answers(some(1)), { send: ({ viewer: { licenseKey } }) => ({ licenseKey }) }),
  row('lists no session from the instant on at which its lease ends', answers(some(2)), {
    at: '2026-11-21T10:15:01.000Z',
  }),
  row(
    'lists the sessions of all products of a token in one order, and reads one page of them',
    answers((subject: Subject) => ({ ...some(2)(subject), meta: { total: 3, page: 2, limit: 2, totalPages: 2 } })),
    {
      send: { page: '2', limit: '2' },
      as: readerOf('viewer', 'editor'),
    },
  ),
]);

const released = { body: { action: 'sessions.delete', status: true, code: 0 } };

scenarios<Subject>(
  'sessions.delete',
  { given, query: ({ ids: [sessionId] }) => ({ sessionId }), wrote: { sessions: -1 } },
  [
    row('ends the session: its next heartbeat is refused', released, {
      as: { scopes: ['license:activate'] },
      afterwards: async (world, { editor, ids: [sessionId] }) => {
        const body = { ...editor, ...signedBy({ sessionId, sessionSecret: 'any', nextNonce: 'any' }) };
        expect((await world.call('client', 'POST', '/key/heartbeat', body)).body.code).toBe(3);
      },
    }),
    row('lets a token that is limited to products release a session of one of them', released, {
      send: ({ editor: { productId } }) => ({ productId }),
      as: readerOf('editor'),
    }),
    row('refuses such a token that names no product', 'invalidParams', {
      as: readerOf('editor'),
    }),
    row('refuses a session of another product than the one that is named', 'sessionNotFound', {
      send: ({ viewer: { productId } }) => ({ productId }),
      as: readerOf('viewer'),
    }),
    row('refuses a session whose lease has ended', 'sessionNotFound', {
      at: '2026-11-21T10:15:00.000Z',
    }),
  ],
);
