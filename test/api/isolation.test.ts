import { describe, expect, it } from 'vitest';
import { mutates } from '../../src/contract/endpoint.ts';
import { listEndpoints } from '../../src/contract/index.ts';
import { type Scope, scopes, type TokenKind } from '../../src/contract/scopes.ts';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { askWith, idCases, idFields } from '../support/id-kinds.ts';
import { withoutRecord } from '../support/recorded.ts';
import { absentIds, type EndpointName, furnish, validRequests } from '../support/requests.ts';
import { pathWith } from '../support/scenario.ts';
import { type As, createWorld } from '../support/world.ts';

/** A test here makes many requests one after the other, which a busy machine takes long for. */
const MANY_REQUESTS_MS = 120_000;

/** Fields that name something without being its id in this account, each with what keeps them apart. */
const notIds: Readonly<Record<string, string>> = {
  hostId: 'made up by the application; looked up within a licence',
  newHostId: 'the same',
  reference: 'made up by the vendor; looked up within the account: GET-key.test.ts',
  productIds: 'of a new token: tokens.test.ts',
  account: 'public keys and revocations are of everybody: jwks.test.ts',
  usesPerKey: 'a number',
  resourceId: 'only for tokens of all products: GET-event-list.test.ts',
  key: 'a key that is brought in, of any format: POST-key-import.test.ts',
  cursor: 'an id behind which a list goes on: GET-key-list.test.ts',
};

const endpoints = listEndpoints().filter(({ endpoint }) => endpoint.scope !== 'public');

/** Who may do what by the API description and decision 0008, written down apart from the code. */
const scopesByKind: Readonly<Record<Exclude<TokenKind, 'scoped'>, readonly Scope[]>> = {
  admin: scopes,
  'read-only': ['license:read', 'customer:read', 'product:read', 'event:read', 'webhook:read', 'audit:read'],
  client: ['license:read', 'license:activate', 'license:sign'],
};

/** What a token of kind `client` may do, which is shipped in applications. */
const openToClients: readonly string[] = [
  ...['keys.get', 'keys.deactivate', 'keys.activate', 'keys.rebind', 'keys.sign', 'keys.checkout', 'keys.heartbeat'],
  ...['keys.checkin', 'keys.why', 'tokens.self'],
];

/** These ask for an admin besides their scope, or for a token that may do less. */
const beyondScope: readonly string[] = ['signingKeys.rotate', 'tokens.rotate', 'tokens.revoke'];

describe('the matrix of ids', () => {
  it('has every field of the contract that names something', () => {
    const covered = [...Object.keys(absentIds), ...Object.keys(notIds)];
    expect([...idFields()].filter(([field]) => !covered.includes(field))).toEqual([]);
  });

  it('has a case for every endpoint whose request names something', () => {
    const named = new Set([...idFields()].filter(([field]) => field in absentIds).flatMap(([, names]) => names));
    const tried = new Set(idCases.map(({ name }) => name));
    // Its filter is optional, and no request of the other tests uses it: GET-stats.test.ts.
    expect([...named].filter((name) => !tried.has(name))).toEqual(['stats.get']);
  });
});

describe.each(engines)('a token that is limited to one product on $name', { timeout: MANY_REQUESTS_MS }, (engine) => {
  const it = testsOn(engine);

  it.for(idCases)('$name answers $kinds of another product as of nobody', async ({ kinds, ...named }, { world }) => {
    const own = await furnish(world);
    const foreign = await furnish(world, 'admin', 'eve@example.com');
    const as: As = { kind: 'admin', productIds: [own.productId] };
    await world.tokenOf(as);
    const before = withoutRecord(await world.contents());

    const absentAnswer = await askWith(world, as, named, own, kinds, absentIds);
    const foreignAnswer = await askWith(world, as, named, own, kinds, foreign);

    expect(foreignAnswer).toEqual(absentAnswer);
    expect(foreignAnswer.text).not.toContain('eve@example.com');
    if (named.name.endsWith('.list')) expect(foreignAnswer.text).toContain('"data":[]');
    else expect([400, 403, 404]).toContain(foreignAnswer.status);
    expect(withoutRecord(await world.contents())).toEqual(before);
  });

  it.for(endpoints.filter(({ endpoint }) => !mutates(endpoint)))(
    '$name shows nothing of another product',
    async ({ name, endpoint }, { world }) => {
      const own = await furnish(world);
      const foreign = await furnish(world, 'admin', 'eve@example.com');
      const { query } = validRequests[name as EndpointName](own);
      const as: As = { kind: 'admin', productIds: [own.productId] };
      const { text } = await world.call(as, endpoint.method, pathWith(endpoint, query));
      for (const secret of [...Object.values(foreign), 'eve@example.com']) expect(text).not.toContain(secret);
    },
  );
});

describe.each(engines)('every scope at every endpoint on $name', { timeout: MANY_REQUESTS_MS }, (engine) => {
  const it = testsOn(engine);

  it.for(endpoints)('opens $name by its own scope and by no other', async ({ name, endpoint }, { world }) => {
    const { query, body } = validRequests[name as EndpointName](await furnish(world));
    const ask = async (as: As) => {
      const { status, body: answer } = await world.call(as, endpoint.method, pathWith(endpoint, query), body);
      return `${status}/${answer?.code}`;
    };
    // The own one last: it is the one that changes something.
    const others = scopes.filter((scope) => scope !== endpoint.scope);
    const opened: string[] = [];
    for (const scope of others) if ((await ask({ scopes: [scope] })) !== '403/1') opened.push(scope);
    expect(opened).toEqual(endpoint.scope === 'none' ? others : []);
    if (endpoint.scope !== 'none' && !beyondScope.includes(name)) {
      expect(await ask({ scopes: [endpoint.scope as Scope] })).not.toBe('403/1');
    }
  });

  it.each(endpoints)('lets in at $name the kinds of tokens that it is for', async ({ name, endpoint }) => {
    const isOpen: Record<string, boolean> = {};
    const isMeant: Record<string, boolean> = {};
    for (const kind of ['admin', 'read-only', 'client'] as const) {
      await using world = await createWorld({ engine });
      const { query, body } = validRequests[name as EndpointName](await furnish(world));
      const answer = await world.call({ kind }, endpoint.method, pathWith(endpoint, query), body);
      isOpen[kind] = `${answer.status}/${answer.body?.code}` !== '403/1';
      const holds = endpoint.scope === 'none' || scopesByKind[kind].some((scope) => scope === endpoint.scope);
      isMeant[kind] = holds && (kind !== 'client' || openToClients.includes(name));
    }
    expect(isOpen).toEqual(isMeant);
  });
});
