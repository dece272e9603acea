import { describe, expect, it } from 'vitest';
import { listEndpoints, type NamedEndpoint } from '../../src/contract/index.ts';
import { engines } from '../support/engines.ts';
import { absentIds, type Belongings, type EndpointName, furnish, validRequests } from '../support/requests.ts';
import { pathWith } from '../support/scenario.ts';
import { createWorld, type World } from '../support/world.ts';

type IdKind = keyof Belongings;

/** Which ids each request can carry; a licence is named by two, so both are tried together as well. */
const idKinds: readonly (readonly IdKind[])[] = [
  ['productId'],
  ['licenseKey'],
  ['productId', 'licenseKey'],
  ['customerId'],
  ['tokenId'],
  ['versionId'],
  ['sessionId'],
  ['productId', 'licenseKey', 'sessionId'],
];

const cases = listEndpoints().flatMap((named) =>
  idKinds.filter((kinds) => kinds.every((kind) => carries(named, kind))).map((kinds) => ({ ...named, kinds })),
);

describe.each(engines)('two accounts in one database on $name', (engine) => {
  it.each(cases)('$name answers $kinds of the other account as of nobody', async ({ kinds, ...named }) => {
    await using world = await createWorld({ engine });
    const own = await furnish(world);
    const foreign = await furnish(world, 'other admin');
    const before = await world.contents();

    const absentAnswer = await ask(world, named, own, kinds, absentIds);
    const foreignAnswer = await ask(world, named, own, kinds, foreign);

    // A list that is narrowed to what is not there is empty.
    if (named.name.endsWith('.list')) expect(foreignAnswer.text).toContain('"data":[]');
    else expect(foreignAnswer.status).toBe(404);
    expect(foreignAnswer).toEqual(absentAnswer);
    expect(await world.contents()).toEqual(before);
  });

  it.each(['/customer', '/product', '/token', '/session/list'])(
    'GET %s lists nothing of the other account',
    async (path) => {
      await using world = await createWorld({ engine });
      const own = await furnish(world);
      const foreign = await furnish(world, 'other admin');
      const mine = await world.call('admin', 'GET', path);
      const theirs = await world.call('other admin', 'GET', path);
      expect(mine.body.data.some(({ id }: { id: string }) => Object.values(own).includes(id))).toBe(true);
      for (const id of Object.values(foreign)) expect(mine.text).not.toContain(id);
      for (const id of Object.values(own)) expect(theirs.text).not.toContain(id);
    },
  );

  it('may have customers of one e-mail address, one in each', async () => {
    await using world = await createWorld({ engine });
    const zoe = { name: 'Zoë', email: 'zoe@example.com' };
    const answers = [
      await world.call('admin', 'POST', '/customer', zoe),
      await world.call('other admin', 'POST', '/customer', zoe),
      await world.call('admin', 'POST', '/customer', zoe),
      await world.call('other admin', 'POST', '/customer', zoe),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 409, 409]);
  });

  it('may have the same product and key, one in each, and each sees its own', async () => {
    await using world = await createWorld({ engine });
    const { productId, licenseKey } = await furnish(world);
    await world.sql(`insert into products
      select '${world.accounts.other}', id, name, active, created_at, updated_at from products`);
    const theirs = await world.call('other admin', 'POST', '/create-key', { productId });
    await world.sql(`update licenses set license_key = '${licenseKey}' where license_key = '${theirs.body.key}'`);

    const path = `/key?${new URLSearchParams({ productId, licenseKey })}`;
    const shown = [await world.call('admin', 'GET', path), await world.call('other admin', 'GET', path)];
    expect(shown.map(({ body }) => body.data.license.activations)).toEqual([1, 0]);
    const freed = await world.call('other admin', 'POST', '/deactivate-key', { productId, licenseKey });
    expect(freed.body).toEqual({ message: 'License not activated', code: 2 });
  });

  it('sign with keys of their own', async () => {
    await using world = await createWorld({ engine });
    const own = await furnish(world);
    const foreign = await furnish(world, 'other admin');
    const kids: string[] = [];
    for (const [as, { productId, licenseKey }] of [
      ['admin', own],
      ['other admin', foreign],
    ] as const) {
      const { body } = await world.call(as, 'POST', '/key/sign', { productId, licenseKey, hostId: 'host-1' });
      kids.push(JSON.parse(body.file).keyId);
    }
    expect(new Set(kids).size).toBe(2);
  });
});

/** Whether the id is part of the endpoint's request at all. */
function carries({ name }: NamedEndpoint, kind: IdKind): boolean {
  const request = validRequests[name as EndpointName];
  const marked = { ...absentIds, [kind]: 'MARK' };
  return JSON.stringify(request(marked)).includes('MARK');
}

/** What is answered when some of the ids are taken from elsewhere; what differs from request to request is left out. */
async function ask(
  world: World,
  { name, endpoint }: NamedEndpoint,
  own: Belongings,
  kinds: readonly IdKind[],
  elsewhere: Belongings,
) {
  const taken = Object.fromEntries(kinds.map((kind) => [kind, elsewhere[kind]]));
  const { query, body } = validRequests[name as EndpointName]({ ...own, ...taken });
  const { status, headers, text } = await world.call('admin', endpoint.method, pathWith(endpoint, query), body);
  const { 'x-request-id': _, ratelimit: __, ...same } = headers;
  return { status, headers: same, text: kinds.reduce((all, kind) => all.replaceAll(elsewhere[kind], kind), text) };
}
