import { describe, expect, it } from 'vitest';
import { mutates } from '../../src/contract/endpoint.ts';
import { listEndpoints, type NamedEndpoint } from '../../src/contract/index.ts';
import { type Scope, scopes } from '../../src/contract/scopes.ts';
import { scopesOf } from '../../src/domain/access.ts';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { withoutRecord } from '../support/recorded.ts';
import { absentIds, ask, type Belongings, type EndpointName, furnish, validRequests } from '../support/requests.ts';
import { type As, createWorld, type World } from '../support/world.ts';

/** A test here makes many requests one after the other, which a busy machine takes long for. */
const MANY_REQUESTS_MS = 120_000;

type IdKind = keyof Belongings;

/** The ids to replace in a request: each alone, and together those that name a licence or a session. */
const together: readonly (readonly IdKind[])[] = [
  ...(Object.keys(absentIds) as IdKind[])
    // Secrets and proofs, not ids.
    .filter((kind) => !['sessionSecret', 'nextNonce', 'proof'].includes(kind))
    .map((kind) => [kind]),
  ['productId', 'licenseKey'],
  ['productId', 'licenseKey', 'sessionId'],
];

/** Every endpoint with every id that its request carries. */
const idCases = listEndpoints().flatMap((named) => {
  const request = validRequests[named.name as EndpointName];
  const carries = (kind: IdKind) => JSON.stringify(request({ ...absentIds, [kind]: 'MARK' })).includes('MARK');
  return together.filter((some) => some.every(carries)).map((kinds) => ({ ...named, kinds }));
});

/** Fields that look like ids and are none in the account, each with the reason or with the test that covers it. */
const notIds: Readonly<Record<string, string>> = {
  hostId: 'made up by the application; looked up within a licence',
  newHostId: 'the same',
  reference: 'made up by the vendor; looked up within the account: POST-create-key.test.ts',
  productIds: 'of a new token: tokens.test.ts',
  account: 'public keys and revocations are of everybody: signing-keys.test.ts',
  usesPerKey: 'a number',
  publicKey: 'made by the device',
  resourceId: 'only for tokens of all products: record.test.ts',
  key: 'a key that is brought in, of any format: POST-key-import.test.ts',
  cursor: 'an id behind which a list goes on: GET-key-list.test.ts',
};

const endpoints = listEndpoints().filter(({ endpoint }) => endpoint.scope !== 'public');

/** What a token of kind `client` may do, which is shipped in applications. */
const openToClients: readonly string[] = [
  ...['keys.get', 'keys.deactivate', 'keys.activate', 'keys.rebind', 'keys.sign', 'keys.checkout', 'keys.heartbeat'],
  ...['keys.checkin', 'keys.why', 'keys.trial', 'tokens.self'],
];

/** Operations that need more than their scope: an admin, or a target token with fewer rights than the caller. */
const beyondScope: readonly string[] = ['signingKeys.rotate', 'tokens.rotate', 'tokens.revoke'];

it('the matrix has a case for every field of the contract that names something', () => {
  const tried = new Set(idCases.map(({ name }) => name));
  // Its filter is optional, and no request of the other tests uses it: GET-stats.test.ts.
  tried.add('stats.get');
  for (const { name, endpoint } of listEndpoints()) {
    for (const schema of [endpoint.query, endpoint.body]) {
      const fields = schema !== undefined && 'shape' in schema ? Object.keys(schema.shape as object) : [];
      for (const field of fields.filter((one) => /(?:Ids?|[kK]ey|^reference|^account|^cursor)$/.test(one)))
        expect(field in notIds || (field in absentIds && tried.has(name)), `${field} of ${name}`).toBe(true);
    }
  }
});

/** The answer when some of the ids are foreign, without the parts that differ from request to request. */
async function askWith(
  world: World,
  as: As,
  named: NamedEndpoint,
  own: Belongings,
  some: readonly IdKind[],
  elsewhere: Belongings,
) {
  const taken = Object.fromEntries(some.map((kind) => [kind, elsewhere[kind]]));
  const { status, headers, text } = await ask(world, as, named, { ...own, ...taken });
  const { 'x-request-id': _, ratelimit: __, ...same } = headers;
  return { status, headers: same, text: some.reduce((all, kind) => all.replaceAll(elsewhere[kind], kind), text) };
}

describe.each(engines)('objects of others on $name', { timeout: MANY_REQUESTS_MS }, (engine) => {
  const it = testsOn(engine);

  it.for(idCases)(
    '$name answers foreign $kinds as it answers ids that nobody has',
    async ({ kinds, ...named }, { world }) => {
      const own = await furnish(world);
      const ofProduct: As = { kind: 'admin', productIds: [own.productId] };
      const others = [
        ['admin', await furnish(world, 'other admin')],
        [ofProduct, await furnish(world, 'admin', 'eve@example.com')],
      ] as const;
      await world.tokenOf(ofProduct);
      const before = withoutRecord(await world.contents());
      for (const [as, theirs] of others) {
        const absentAnswer = await askWith(world, as, named, own, kinds, absentIds);
        const answer = await askWith(world, as, named, own, kinds, theirs);
        expect(answer).toEqual(absentAnswer);
        // A list that is narrowed to what is not there is empty.
        if (named.name.endsWith('.list')) expect(answer.text).toContain('"data":[]');
        else expect(as === 'admin' ? [404] : [400, 403, 404]).toContain(answer.status);
      }
      expect(withoutRecord(await world.contents())).toEqual(before);
    },
  );

  it.for(endpoints.filter(({ endpoint }) => !mutates(endpoint)))(
    '$name shows nothing foreign, and lists show what the caller owns',
    async (named, { world }) => {
      const own = await furnish(world);
      const theirs = { ...(await furnish(world, 'other admin', 'mallory@example.com')), email: 'mallory@example.com' };
      const read = async (as: As) => (await ask(world, as, named, own)).text;
      const whole = await read('admin');
      if (['/customer', '/product', '/token', '/session/list'].includes(named.endpoint.path))
        expect(Object.values(own).some((id) => whole.includes(id))).toBe(true);
      for (const secret of Object.values(theirs)) expect(whole).not.toContain(secret);
      const ofProduct = { ...(await furnish(world, 'admin', 'eve@example.com')), email: 'eve@example.com' };
      const narrow = await read({ kind: 'admin', productIds: [own.productId] });
      for (const secret of Object.values(ofProduct)) expect(narrow).not.toContain(secret);
    },
  );

  it('may have the same e-mail address, product id and key', async ({ world }) => {
    const { productId, licenseKey } = await furnish(world);
    const zoe = { name: 'Zoë', email: 'zoe@example.com' };
    const statuses = [];
    for (const as of ['other admin', 'admin', 'other admin'] as const)
      statuses.push((await world.call(as, 'POST', '/customer', zoe)).status);
    expect(statuses).toEqual([201, 409, 409]);

    await world.sql(`insert into products (account_id, id, name, active, created_at, updated_at)
      select '${world.accounts.other}', id, name, active, created_at, updated_at from products`);
    const theirs = await world.call('other admin', 'POST', '/create-key', { productId });
    await world.sql(`update licenses set license_key = '${licenseKey}' where license_key = '${theirs.body.key}'`);
    const path = `/key?${new URLSearchParams({ productId, licenseKey })}`;
    const shown = [await world.call('admin', 'GET', path), await world.call('other admin', 'GET', path)];
    expect(shown.map(({ body }) => body.data.license.activations)).toEqual([1, 0]);
    const freed = await world.call('other admin', 'POST', '/deactivate-key', { productId, licenseKey });
    expect(freed.body).toEqual({ message: 'License not activated', code: 2 });
  });
});

describe.each(engines)('every scope at every endpoint on $name', { timeout: MANY_REQUESTS_MS }, (engine) => {
  const it = testsOn(engine);

  it.for(endpoints)('opens $name by its own scope and by no other', async ({ name, endpoint }, { world }) => {
    const own = await furnish(world);
    const isOpen = async (as: As) => {
      const answer = await ask(world, as, { name, endpoint }, own);
      return `${answer.status}/${answer.body?.code}` !== '403/1';
    };
    // Its own scope last: that request changes something.
    const others = scopes.filter((scope) => scope !== endpoint.scope);
    for (const scope of others) expect(await isOpen({ scopes: [scope] }), scope).toBe(endpoint.scope === 'none');
    if (endpoint.scope !== 'none' && !beyondScope.includes(name))
      expect(await isOpen({ scopes: [endpoint.scope as Scope] })).toBe(true);
  });

  it.each(endpoints)('lets in at $name the kinds of tokens that it is for', async ({ name, endpoint }) => {
    for (const kind of ['admin', 'read-only', 'client'] as const) {
      await using world = await createWorld({ engine });
      const answer = await ask(world, { kind }, { name, endpoint }, await furnish(world));
      // Which scopes a kind has: domain/access.test.ts.
      const holds = endpoint.scope === 'none' || [...scopesOf(kind, [])].some((scope) => scope === endpoint.scope);
      const isMeant = holds && (kind !== 'client' || openToClients.includes(name));
      expect(`${answer.status}/${answer.body?.code}` !== '403/1', kind).toBe(isMeant);
    }
  });
});
