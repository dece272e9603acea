import { describe, expect } from 'vitest';
import { engineOf, engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { query } from '../support/postgres.ts';
import { checkOut, signedBy } from '../support/sessions.ts';
import { type Address, type Answer, type As, createWorld, type World } from '../support/world.ts';
import { beside, tally } from './at-once.ts';

const taken = { status: 409, body: { message: 'This key exists already', code: 9 } };
const ended = { status: 409, body: { message: 'This key was revoked: it is never given again', code: 21 } };

const importKey = (world: World, { productId, licenseKey }: Address, more: object = {}): Promise<Answer> =>
  world.call('admin', 'POST', '/key/import', { productId, key: licenseKey, ...more });

async function change(world: World, path: string, address: Address, more: object = {}): Promise<Answer> {
  const answer = await world.call('admin', 'POST', path, { ...address, ...more });
  expect([path, answer.status]).toEqual([path, 200]);
  return answer;
}

const remove = (world: World, address: Address) =>
  world.call('admin', 'DELETE', `/key?${new URLSearchParams({ ...address, force: 'true' })}`);

/** Replaces the key of a licence; returns its address from then on. */
const reissue = async (world: World, address: Address, overlap = 'PT0S'): Promise<Address> => ({
  ...address,
  licenseKey: (await change(world, '/key/reissue', address, { overlap })).body.key,
});

/** Every letter in its other case. */
const inOtherCase = (text: string): string =>
  text.replace(/[a-z]/gi, (letter) => (letter < 'a' ? letter.toLowerCase() : letter.toUpperCase()));

describe.each(engines)('a key string, on $name,', (engine) => {
  const it = testsOn(engine);

  it('is never imported again after a revocation, nor are earlier keys of the licence, deleted or not', async ({
    world,
    productId,
  }) => {
    const first = { productId, licenseKey: await world.key({ productId }) };
    const second = await reissue(world, first, 'P7D');
    await change(world, '/key/revoke', second, { reason: 'refunded' });
    const { id, createdAt, revokedAt } = await world.license(second);
    for (const address of [first, second]) expect(await importKey(world, address)).toMatchObject(taken);
    expect((await remove(world, second)).status).toBe(200);
    for (const address of [first, second]) {
      expect(await importKey(world, address)).toMatchObject(ended);
      expect(await importKey(world, address, { id, createdAt, revokedAt })).toMatchObject(ended);
      const found = await world.call('admin', 'GET', `/key?${new URLSearchParams({ ...address })}`);
      expect(found.status).toBe(404);
      const text = new URLSearchParams({ text: address.licenseKey, page: '1' });
      expect((await world.call('admin', 'GET', `/key/list?${text}`)).body).toMatchObject({
        data: [],
        meta: { total: 0 },
      });
    }
  });

  it('may be imported again after its licence was deleted without a revocation, and so may earlier keys', async ({
    world,
    productId,
  }) => {
    const first = { productId, licenseKey: await world.key({ productId }) };
    const second = await reissue(world, first);
    expect(await importKey(world, first)).toMatchObject(taken);
    await remove(world, second);
    for (const address of [first, second]) {
      expect((await importKey(world, address)).status).toBe(200);
      expect((await world.license(address)).key).toBe(address.licenseKey);
    }
    expect((await reissue(world, first)).licenseKey).not.toBe(first.licenseKey);
  });

  it('of our own format is the same key in any case, and is stored in upper case', async ({ world, productId }) => {
    const issued = await world.key({ productId });
    expect(await importKey(world, { productId, licenseKey: issued.toLowerCase() })).toMatchObject(taken);
    expect(await importKey(world, { productId, licenseKey: inOtherCase(issued) })).toMatchObject(taken);
    const withLetters = issued.replaceAll('0', 'o').replaceAll('1', 'l');
    expect(await importKey(world, { productId, licenseKey: withLetters })).toMatchObject(taken);
    const old = await world.key({ productId });
    await reissue(world, { productId, licenseKey: old }, 'P7D');
    expect(await importKey(world, { productId, licenseKey: old.toLowerCase() })).toMatchObject(taken);

    const lower = { productId, licenseKey: 'abcde-fgh23-45678-9jkmn-pqrst' };
    expect((await importKey(world, lower)).body).toMatchObject({ key: lower.licenseKey.toUpperCase() });
    expect((await world.license(lower)).key).toBe(lower.licenseKey.toUpperCase());
    expect(await importKey(world, { ...lower, licenseKey: lower.licenseKey.toUpperCase() })).toMatchObject(taken);
  });

  it.for([
    'ACME-2019-0042-F3D9-77AB-10CE',
    'AbCdE-FgHiJ-KlMnO-PqRsT-UvWxY-12345',
    'abcde-fghij-klmno-pqrst-vwxyz',
    'ABCDEFGHJKMNPQRSTVWXYZ234',
    'abcde-fgh23-45678-9jkmn-pqrsß',
  ])(
    'of another format is stored as given, and is another key in another case: %s',
    async (text, { world, productId }) => {
      const given = { productId, licenseKey: text };
      const other = { productId, licenseKey: inOtherCase(text) };
      for (const address of [given, other]) {
        expect((await importKey(world, address)).body.key).toBe(address.licenseKey);
        expect((await world.license(address)).key).toBe(address.licenseKey);
        expect(await importKey(world, address)).toMatchObject(taken);
      }
    },
  );

  it('of 6 to 22 characters is a key only in the account and product that imported it', async ({
    world,
    productId,
  }) => {
    const given = { productId, licenseKey: 'ABC123' };
    const look = (as: As, query: Record<string, string>) => world.call(as, 'GET', `/key?${new URLSearchParams(query)}`);
    const unknown = { status: 400, body: { code: 1 } };
    expect(await look('admin', { ...given })).toMatchObject(unknown);
    expect(await importKey(world, { productId, licenseKey: 'ABC12' })).toMatchObject(unknown);
    expect(await importKey(world, given)).toMatchObject({ status: 200, body: { key: 'ABC123' } });
    expect(await importKey(world, given)).toMatchObject(taken);
    expect(await look('read-only', { licenseKey: 'ABC123' })).toMatchObject({
      body: { data: { license: { key: '******' } } },
    });
    // Neither another account's nor another product's key can be told from an absent one.
    expect(await look('other admin', { ...given })).toMatchObject(unknown);
    const limited = {
      scopes: ['license:read'],
      productIds: [(await world.product('Other')).id],
    } as const;
    expect(await look(limited, { licenseKey: 'ABC123' })).toMatchObject(unknown);
    const sessions = (as: As) => world.call(as, 'GET', '/session/list?licenseKey=ABC123');
    const answers = [await sessions('admin'), await sessions('other admin'), await sessions(limited)];
    expect(answers).toMatchObject([{ status: 200 }, unknown, unknown]);
    const next = await reissue(world, given, 'P7D');
    expect((await world.license(given)).key).toBe(next.licenseKey);
    await change(world, '/key/revoke', given, { reason: 'refunded' });
    await remove(world, next);
    expect(await importKey(world, given)).toMatchObject(ended);
  });

  it('of 6 to 22 characters cannot be guessed any faster than a longer one', async () => {
    await using world = await createWorld({ engine, lookupsPerMinute: 5 });
    const { id: productId } = await world.product();
    const bodies = Array.from({ length: 6 }, (_, at) => ({ productId, licenseKey: `KEY-${at}0`, hostId: 'host-1' }));
    const activated = [];
    for (const body of bodies) activated.push((await world.call('client', 'POST', '/key/activate', body)).status);
    expect(activated).toEqual([400, 400, 400, 400, 400, 429]);
    const listed = [];
    for (const { licenseKey } of bodies) {
      listed.push((await world.call('admin', 'GET', `/session/list?licenseKey=${licenseKey}`)).status);
    }
    expect(listed).toEqual([400, 400, 400, 400, 400, 429]);
  });

  it('is found in any case by every operation on keys, also an earlier key', async ({ world, productId }) => {
    const issued = await world.key({ productId, licenseType: 'floating', maxConcurrentSessions: 5 });
    const present = await reissue(world, { productId, licenseKey: issued }, 'P7D');
    for (const licenseKey of [present.licenseKey.toLowerCase(), issued.toLowerCase()]) {
      const typed = { productId, licenseKey };
      const query = new URLSearchParams(typed);
      const posts: Record<string, object> = {
        '/key/activate': { hostId: 'host-1' },
        '/key/sign': { hostId: 'host-1' },
        '/key/rebind': { hostId: 'host-1', newHostId: 'host-2' },
        '/deactivate-key': { hostId: 'host-2' },
        '/key/block': {},
        '/key/unblock': {},
        '/key/renew': { duration: 'P1M' },
        '/key/transfer': { customerId: null },
      };
      for (const [path, fields] of Object.entries(posts)) await change(world, path, typed, fields);
      const session = await checkOut(world, typed);
      const { nextNonce: nonce } = (await change(world, '/key/heartbeat', typed, signedBy(session))).body;
      expect((await world.call('admin', 'GET', `/session/list?${query}`)).body.data).toHaveLength(1);
      await change(world, '/key/checkin', typed, signedBy(session, nonce));
      expect((await world.call('admin', 'GET', `/key?${query}`)).status).toBe(200);
      expect((await world.call('admin', 'GET', `/key?${new URLSearchParams({ licenseKey })}`)).status).toBe(200);
      expect((await world.call('admin', 'GET', `/key/why?${query}`)).body.data.allowed).toBe(true);
      expect((await world.call('admin', 'PATCH', '/key', { ...typed, maxActivations: 3 })).status).toBe(200);
      const listed = await world.call('admin', 'GET', `/key/list?${new URLSearchParams({ text: licenseKey })}`);
      expect(listed.body.data).toHaveLength(1);
      const { file } = (await change(world, '/key/sign', typed, { hostId: 'host-1' })).body;
      expect(JSON.parse(file).signedKey).toBe(licenseKey.toUpperCase());
      await change(world, '/deactivate-key', typed);
    }
    await change(world, '/key/revoke', { productId, licenseKey: issued.toLowerCase() });
    expect((await remove(world, { productId, licenseKey: present.licenseKey.toLowerCase() })).status).toBe(200);
  });
});

const it = testsOn(engineOf('PostgreSQL'));

it('a key string has one licence, in whatever order two replicas import, replace, revoke and delete it', async ({
  world,
  productId,
}) => {
  const limited = { token: (await world.tokenOf({ scopes: ['license:write'], maxIssues: 1_000 })) ?? '' };
  const others: readonly ((address: Address) => Promise<unknown>)[] = [
    async () => {},
    (address) => reissue(world, address, 'PT0S'),
    (address) => reissue(world, address, 'P7D'),
    async (address) => reissue(world, await reissue(world, address, 'P1D')),
    async (address) => {
      await change(world, '/key/revoke', address);
      return remove(world, address);
    },
  ];
  const answers: Answer[] = [];
  for (let round = 0; round < 50; round += 1) {
    const address = { productId, licenseKey: `ACME-2019-0042-F3D9-77AB-${round}` };
    // Replica a has looked for the key, found none, and waits to be counted; replica b does all it does in between.
    const [first] = await beside(
      world,
      ['select 1 from tokens where max_issues is not null for update'],
      () => [world.call(limited, 'POST', '/key/import', { productId, key: address.licenseKey })],
      {
        async meanwhile() {
          expect((await importKey(world, address)).status).toBe(200);
          await others[round % others.length]?.(address);
        },
      },
    );
    if (first !== undefined) answers.push(first);
    expect((await importKey(world, address)).status).toBe(409);
  }
  expect(tally(answers)).toEqual({ '409/9': 40, '409/21': 10 });
  const twice = await query(
    world.location,
    'select license_key from previous_keys join licenses using (account_id, license_key)',
  );
  expect(twice).toEqual([]);
  const { licenses = [] } = await world.contents();
  expect(licenses).toHaveLength(40);
  for (const { license_key: licenseKey } of licenses) {
    await reissue(world, { productId, licenseKey: String(licenseKey) });
  }
});
