import { expect } from 'vitest';
import { answers, row, scenarios, type Table } from '../support/scenario.ts';
import { checkOut, type SessionKeys, signedBy } from '../support/sessions.ts';
import {
  another,
  blocked,
  ofInactiveCustomer,
  refusesRevoked,
  type Shop,
  shopWith,
  unknownKeys,
  unusable,
} from '../support/shop.ts';
import { type Address, type As, STARTED_AT, type World } from '../support/world.ts';

const leased = (currentSessions: number, fields: object = {}) => ({
  body: {
    code: 0,
    message: 'Session checked out',
    sessionId: expect.stringMatching(/^ses_[0-9a-z]{26}$/),
    sessionSecret: expect.stringMatching(/^[\w-]{43}$/),
    nextNonce: expect.stringMatching(/^[\w-]{22}$/),
    expiresAt: '2026-11-21T10:15:00.000Z',
    heartbeatInterval: 300,
    currentSessions,
    maxSessions: 2,
    ...fields,
  },
});

/** A floating key of the same product, with other fields. */
const floating = (fields: object) => another({ licenseType: 'floating', ...fields });

const bothTaken = async (world: World, { address }: Shop): Promise<void> => {
  await checkOut(world, address);
  await checkOut(world, address);
};

scenarios<Shop>(
  'keys.checkout',
  {
    given: shopWith({ licenseType: 'floating', maxConcurrentSessions: 2, usesPerKey: '1' }),
    as: 'client',
    body: ({ address }) => address,
    wrote: { sessions: 1 },
  },
  [
    row('leases a seat for a named host and user, and takes no activation slot', leased(1), {
      send: { hostId: 'host-1', deviceTag: 'build agent', userIdentifier: 'zoe@example.com' },
      afterwards: async (world, { address }) => {
        expect(await world.license(address)).toMatchObject({ activations: 0, activated: false, devices: [] });
      },
    }),
    row(
      'leases a seat again from the instant its lease has run out',
      leased(1, { expiresAt: '2026-11-21T10:30:00.000Z' }),
      { given: bothTaken, at: '2026-11-21T10:15:00.000Z', wrote: { sessions: -1 } },
    ),
    row('refuses when all seats are taken, up to the last millisecond of the leases', 'sessionLimit', {
      given: bothTaken,
      at: '2026-11-21T10:14:59.999Z',
    }),
    row('refuses a host that is not on the list of allowed ones', 'deviceNotAllowed', {
      send: { hostId: 'host-9' },
      given: floating({ allowedHosts: ['host-1'] }),
    }),
    row('refuses a node-locked licence', 'wrongLicenseType', { given: another({}) }),
    ...unusable,
    ...unknownKeys(),
  ],
);

interface OfSession extends Shop {
  /** A session of host-1, leased at 10:00 for 15 minutes. */
  readonly session: SessionKeys;
  /** The value that its first heartbeat signed. */
  readonly firstNonce?: string;
}

const minute = (at: number) => `2026-11-21T10:${String(at).padStart(2, '0')}:00.000Z`;

const prolonged = (expiresAt: string, nextNonce: unknown = expect.stringMatching(/^[\w-]{22}$/)) => ({
  body: { code: 0, message: 'Session prolonged', expiresAt, nextNonce },
});

const send = async (world: World, { address, session }: OfSession, path: string) => {
  const { status, body } = await world.call('client', 'POST', path, { ...address, ...signedBy(session) });
  expect(status).toBe(200);
  return body;
};

/** The session has sent its first heartbeat `times` times at 10:05, as a client does that lost the response. */
const withFirstHeartbeat =
  (times: number) =>
  async (world: World, subject: OfSession): Promise<Pick<OfSession, 'session' | 'firstNonce'>> => {
    world.setNow(minute(5));
    const nonces = new Set<string>();
    for (let sent = 0; sent < times; sent += 1) nonces.add((await send(world, subject, '/key/heartbeat')).nextNonce);
    const [nextNonce = '', ...others] = nonces;
    expect(others).toEqual([]);
    return { session: { ...subject.session, nextNonce }, firstNonce: subject.session.nextNonce };
  };

const signedFirst = ({ session, firstNonce }: OfSession) => signedBy(session, firstNonce);

const ofSession: Pick<Table<OfSession>, 'given' | 'as' | 'body'> = {
  given: async (world) => {
    const allowedHosts = ['host-1', 'host-2'];
    const shop = await shopWith({ licenseType: 'floating', maxConcurrentSessions: 2, allowedHosts })(world);
    return { ...shop, session: await checkOut(world, shop.address, { hostId: 'host-1' }) };
  },
  as: 'client',
  body: ({ address, session }) => ({ ...address, ...signedBy(session) }),
};

scenarios<OfSession>('keys.heartbeat', { ...ofSession, wrote: {} }, [
  row('starts the lease anew, and hands out another nonce', prolonged(minute(20)), {
    at: minute(5),
    absent: ({ session }) => [session.nextNonce, session.sessionSecret],
  }),
  row(
    'tells a client that lost the response the same nonce again',
    answers(({ session }: OfSession) => prolonged(minute(21), session.nextNonce).body),
    { send: signedFirst, given: withFirstHeartbeat(1), at: minute(6) },
  ),
  row(
    'refuses the previous nonce a third time, so that a request that was seen keeps no session alive',
    'signatureRefused',
    { send: signedFirst, given: withFirstHeartbeat(2), at: minute(6) },
  ),
  row('refuses a signature under another secret', 'signatureRefused', {
    send: ({ session }) => signedBy({ ...session, sessionSecret: session.sessionSecret.slice(1) }),
  }),
  row('refuses the session of another key', 'sessionNotFound', { given: another({ licenseType: 'floating' }) }),
  row('lets sessions go on that are more than there are seats now', prolonged(minute(15)), {
    given: (world) => world.sql('update licenses set max_sessions = 0'),
  }),
  row('refuses a host that is no longer on the list of allowed ones', 'deviceNotAllowed', {
    given: (world) => world.sql(`update licenses set allowed_hosts = '["host-2"]'`),
  }),
  row('refuses a licence from the instant of its expiry on', 'licenseExpired', {
    given: (world) => world.sql(`update licenses set expires_at = '${minute(5)}'`),
    at: minute(5),
  }),
  row('refuses a licence that the vendor has disabled', 'licenseDisabled', { given: blocked }),
  refusesRevoked,
  row('refuses the licence of a customer that is not active', 'customerInactive', { given: ofInactiveCustomer }),
  row('refuses a licence that is no longer floating', 'wrongLicenseType', {
    given: (world) => world.sql(`update licenses set license_type = 'node-locked'`),
  }),
  ...unknownKeys(),
]);

const done = { body: { code: 0, message: 'Session checked in' } };

scenarios<OfSession>('keys.checkin', { ...ofSession, wrote: { sessions: -1 } }, [
  row('frees the seat at once', done, {
    afterwards: async (world, { address }) => {
      for (const hostId of ['host-1', 'host-2']) await checkOut(world, address, { hostId });
    },
  }),
  row('takes the nonce of a heartbeat whose response was lost', done, {
    given: withFirstHeartbeat(1),
    send: signedFirst,
  }),
  row('frees the seat of a licence that may not be used any more', done, {
    given: (world) => world.sql(`update licenses set vendor_disabled = 1, expires_at = '2026-11-21T10:00:00.000Z'`),
  }),
  row('refuses a session whose lease has ended', 'sessionNotFound', { at: '2026-11-21T10:15:00.000Z' }),
  row('refuses a signature under another secret', 'signatureRefused', {
    send: ({ session }) => signedBy({ ...session, sessionSecret: 'guessed' }),
  }),
  ...unknownKeys(),
]);

interface ThreeSessions {
  /** A floating key of the product Editor, with two sessions. */
  readonly editor: Address;
  /** A floating key of the product Viewer, with one session. */
  readonly viewer: Address;
  /** The ids of all three, oldest first. */
  readonly ids: readonly [string, string, string];
}

async function given(world: World): Promise<ThreeSessions> {
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
  (subject: ThreeSessions): As => ({
    scopes: ['license:read', 'license:activate'],
    productIds: keys.map((key) => subject[key].productId),
  });

/** The three sessions as they are listed. */
const listed = (subject: ThreeSessions, names: (at: number) => object) =>
  [
    { id: subject.ids[0], hostId: 'host-1', deviceTag: 'desk', userIdentifier: 'zoe', createdAt: STARTED_AT },
    {
      id: subject.ids[1],
      hostId: null,
      deviceTag: 'No tag',
      userIdentifier: null,
      createdAt: '2026-11-21T10:00:01.000Z',
    },
    {
      id: subject.ids[2],
      hostId: 'host-2',
      deviceTag: 'No tag',
      userIdentifier: null,
      createdAt: '2026-11-21T10:00:02.000Z',
    },
  ].map((session, at) => {
    const { productId, licenseKey } = at === 1 ? subject.viewer : subject.editor;
    const key = {
      licenseId: expect.stringMatching(/^lic_/),
      licenseKey: maskOf(licenseKey),
      productId,
      customerId: null,
    };
    const expiresAt = session.createdAt.replace('T10:00', 'T10:15');
    return { ...session, expiresAt, ...key, ...names(at) };
  });

const maskOf = (key: string) => expect.stringMatching(new RegExp(`(^${key}|^[*-]+${key.slice(-5)})$`));

/** The response that lists the sessions with these numbers. */
const some =
  (numbers: readonly number[], names: (at: number) => object = named) =>
  (subject: ThreeSessions) => ({ code: 0, data: listed(subject, names).filter((_, i) => numbers.includes(i)) });

/** The names that stand beside the ids, for who may list products and customers. */
const named = (at: number) => ({
  productName: at === 1 ? 'Viewer' : 'Editor',
  customerName: null,
  customerEmail: null,
});

/** The response that lists the session of the product Viewer with its reissued key. */
const ofReplaced = (subject: ThreeSessions) => ({
  code: 0,
  data: [{ ...listed(subject, named)[1], licenseKey: expect.not.stringContaining(subject.viewer.licenseKey) }],
});

scenarios<ThreeSessions>('sessions.list', { given }, [
  row('lists the sessions of the account, oldest first, without their secrets', answers(some([0, 1, 2])), {
    as: 'read-only',
    absent: ['secret', 'nonce'],
  }),
  row('lists those of a key', answers(some([1])), { send: ({ viewer: { licenseKey } }) => ({ licenseKey }) }),
  row('lists those of a key that was replaced while it works', answers(ofReplaced), {
    send: ({ viewer: { licenseKey } }) => ({ licenseKey }),
    given: async (world, { viewer }) =>
      expect((await world.call('admin', 'POST', '/key/reissue', { ...viewer })).status).toBe(200),
  }),
  row('lists none by a key that was replaced and has ended', answers({ data: [], code: 0 }), {
    send: ({ viewer: { licenseKey } }) => ({ licenseKey }),
    given: async (world, { viewer }) =>
      expect((await world.call('admin', 'POST', '/key/reissue', { ...viewer, overlap: 'PT0S' })).status).toBe(200),
  }),
  row('lists no session from the instant on at which its lease ends', answers(some([2])), {
    at: '2026-11-21T10:15:01.000Z',
  }),
  row(
    'lists the sessions of all products of a token in one order, and reads one page of them',
    answers((subject: ThreeSessions) => ({
      ...some([2], () => ({}))(subject),
      meta: { total: 3, page: 2, limit: 2, totalPages: 2 },
    })),
    { send: { page: '2', limit: '2' }, as: readerOf('viewer', 'editor') },
  ),
]);

const released = { body: { action: 'sessions.delete', status: true, code: 0 } };

scenarios<ThreeSessions>(
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
    row('refuses such a token that names no product', 'invalidParams', { as: readerOf('editor') }),
    row('refuses a session of another product than the one that is named', 'sessionNotFound', {
      send: ({ viewer: { productId } }) => ({ productId }),
      as: readerOf('viewer'),
    }),
    row('refuses a session whose lease has ended', 'sessionNotFound', { at: '2026-11-21T10:15:00.000Z' }),
  ],
);
