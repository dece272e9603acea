import { describe, expect } from 'vitest';
import { type Scope, scopes } from '../../src/contract/scopes.ts';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { ask, type EndpointName, furnish } from '../support/requests.ts';
import { findEndpoint } from '../support/scenario.ts';
import { type Answer, type As, createWorld, type World } from '../support/world.ts';

const callers = ['admin', 'writer', 'reader', 'client', 'elsewhere', 'limited', 'spent'] as const;
type CallerName = (typeof callers)[number];
type Refused = Readonly<Partial<Record<CallerName, string>>>;

const withoutScope = '403/1';

/** Operations that only some may request, by how `elsewhere` is refused, as `status/code`. */
const refusedElsewhere = {
  '404/1': [
    ...['keys.create', 'keys.import', 'keys.update', 'keys.renew', 'keys.transfer', 'keys.block', 'keys.unblock'],
    ...['keys.delete', 'keys.activate', 'keys.rebind', 'keys.deactivate', 'keys.sign', 'keys.checkout'],
    ...['keys.heartbeat', 'keys.checkin', 'products.update', 'tokens.revoke'],
  ],
  '404/2': ['customers.delete'],
  '404/3': ['sessions.delete'],
  [withoutScope]: ['customers.create', 'products.create', 'tokens.create'],
};

/** How others are refused: a reader always. */
function refusalsOf(operation: EndpointName, elsewhere: string): Refused {
  const isForClients = findEndpoint(operation).openToClients;
  const isCounted = operation === 'keys.create' || operation === 'keys.import';
  return {
    ...{ reader: withoutScope, elsewhere },
    ...(!isForClients && { client: withoutScope }),
    ...(isCounted && { spent: '403/10' }),
  };
}

/** Refusals of `elsewhere` that only the account's data decide: they are the answer to the key from then on. */
const decidedByData: readonly EndpointName[] = ['customers.delete', 'tokens.revoke'];

/** Their responses show addresses in full to all callers here but `client`. */
const masked: readonly EndpointName[] = ['keys.activate', 'keys.rebind'];

/** A world of one account, with callers of every kind. */
async function peopled(world: World): Promise<Record<CallerName, As>> {
  const { id } = await world.product('Viewer');
  const spent = { kind: 'admin', maxIssues: 1 } as const;
  expect((await world.call(spent, 'POST', '/create-key', { productId: id })).status).toBe(200);
  return {
    admin: 'admin',
    writer: { scopes },
    reader: 'read-only',
    client: 'client',
    elsewhere: { kind: 'admin', productIds: [id] },
    limited: { kind: 'admin', maxIssues: 2 },
    spent,
  };
}

const nameOf = ({ status, body }: Answer) => `${status}/${body.code}`;

const isReplay = ({ headers }: Answer) => headers['idempotency-replayed'] === 'true';

/** Posts under an idempotency key. */
const post = (world: World, as: As, path: string, body: object, key = 'k') =>
  world.call(as, 'POST', path, body, { 'Idempotency-Key': key });

const rows = Object.entries(refusedElsewhere).flatMap(([elsewhere, operations]) =>
  (operations as EndpointName[]).flatMap((operation) =>
    callers.map((first) => ({ operation, first, refused: refusalsOf(operation, elsewhere) })),
  ),
);

describe.each(engines)('one key of several tokens on $name', (engine) => {
  const it = testsOn(engine);

  it.for(rows)('gives each what it may have of $operation after $first', async (row, { world }) => {
    const { operation, first, refused } = row;
    const as = await peopled(world);
    const own = await furnish(world);
    const endpoint = findEndpoint(operation);
    let kept: Answer | null = null;
    for (const name of [first, ...callers.filter((other) => other !== first)]) {
      const answer = await ask(world, as[name], { name: operation, endpoint }, own, { 'Idempotency-Key': 'k' });
      const outcome = { name, answer: nameOf(answer), replayed: isReplay(answer) };
      const isUnmasked = name === 'client' && kept !== null && masked.includes(operation);
      const isDecided = name === 'elsewhere' && decidedByData.includes(operation);
      const refusal = refused[name] ?? (isUnmasked ? withoutScope : undefined);
      if (refusal !== undefined && !(isDecided && kept === null)) {
        expect(outcome).toEqual({ name, answer: refusal, replayed: false });
        expect((await world.contents()).idempotency).toHaveLength(kept === null ? 0 : 1);
        continue;
      }
      const wanted = kept === null ? (refusal ?? `${endpoint.reply.status}/${answer.body.code}`) : nameOf(kept);
      expect(outcome).toEqual({ name, answer: wanted, replayed: kept !== null });
      expect(answer.text).toBe((kept ?? answer).text);
      kept ??= answer;
    }
  });

  it('answers a retry as the first time, though what stood in the way is gone', async ({ world, productId }) => {
    const { id: otherId } = await world.product('Server');
    const { id: customerId } = await world.customer({ name: 'Zoë', email: 'zoe@example.com' });
    const seller = { kind: 'admin', productIds: [productId] } as const;
    const newCustomer = { name: 'Zoë', email: 'zoe@example.com' };
    const create = () => post(world, seller, '/create-key', { productId, newCustomer });
    const keyed = { 'Idempotency-Key': 'remove' };
    const remove = () => world.call(seller, 'DELETE', `/customer/by-id?customerId=${customerId}`, undefined, keyed);
    await world.key({ productId, customerId });
    const foreign = { productId: otherId, licenseKey: await world.key({ productId: otherId, customerId }) };
    const refusedFirst = [await create(), await remove()];
    expect(refusedFirst.map(nameOf)).toEqual(['409/2', '403/1']);
    await world.call('admin', 'POST', '/key/transfer', { ...foreign, customerId: null });
    await world.call('admin', 'PUT', `/customer/by-id?customerId=${customerId}`, { email: 'new@example.com' });
    const again = [await create(), await remove()];
    expect(again.map(isReplay)).toEqual([true, true]);
    expect(again.map(({ text }) => text)).toEqual(refusedFirst.map(({ text }) => text));
  });

  it('gives a token that is used up what it made itself, as often as it asks', async ({ world, productId }) => {
    const create = (key: string) => post(world, { kind: 'admin', maxIssues: 1 }, '/create-key', { productId }, key);
    const first = await create('k');
    expect(nameOf(first)).toBe('200/0');
    const again = await create('k');
    expect([isReplay(again), again.text]).toEqual([true, first.text]);
    expect(nameOf(await create('new'))).toBe('403/10');
  });

  it('counts a key that another token made against the limit of a token that gets it', async ({ world, productId }) => {
    const limited = { kind: 'admin', maxIssues: 1 } as const;
    const create = (as: As, key: string) => post(world, as, '/create-key', { productId }, key);
    for (const key of ['a', 'b']) expect(nameOf(await create('admin', key))).toBe('200/0');
    const got = await create(limited, 'a');
    expect([nameOf(got), isReplay(got)]).toEqual(['200/0', true]);
    expect(nameOf(await create(limited, 'b'))).toBe('403/10');
    expect(nameOf(await create(limited, 'new'))).toBe('403/10');
    expect(isReplay(await create('admin', 'b'))).toBe(true);
  });

  it('gives nothing to a token of another product that hides the product behind a wrong content type', async ({
    world,
  }) => {
    const { elsewhere } = await peopled(world);
    const { id: productId } = await world.product();
    const made = await post(world, 'admin', '/create-key', { productId });
    const hidden = { 'Idempotency-Key': 'k', 'Content-Type': 'text/plain' };
    const answer = await world.call(elsewhere, 'POST', '/create-key', { productId }, hidden);
    expect([nameOf(answer), isReplay(answer)]).toEqual(['400/1', false]);
    const again = await post(world, 'admin', '/create-key', { productId });
    expect([again.text, isReplay(again)]).toEqual([made.text, true]);
  });

  it('gives a new token only to who may make one with its rights', async ({ world }) => {
    const body = { name: 'deploy', kind: 'scoped', scopes: ['license:read'] };
    const scoped = { scopes: ['token:write', 'license:read'] } as const;
    const made = await post(world, 'admin', '/token', body);
    for (const limit of [{ expiresAt: '2026-12-01T00:00:00.000Z' }, { networks: ['203.0.113.0/24'] }]) {
      const answer = await post(world, { ...scoped, ...limit }, '/token', body);
      expect([nameOf(answer), isReplay(answer)]).toEqual(['403/1', false]);
    }
    const again = await post(world, scoped, '/token', body);
    expect([again.text, isReplay(again)]).toEqual([made.text, true]);
  });

  it.each<[operation: string, path: string, more: Record<string, unknown>]>([
    ['PATCH', '/key', { maxActivations: 9 }],
    ['POST', '/key/renew', { duration: 'P1Y' }],
    ['POST', '/key/transfer', { customerId: null }],
    ['POST', '/key/activate', { hostId: 'host-9' }],
    ['POST', '/key/rebind', { hostId: 'host-1', newHostId: 'host-9' }],
  ])('shows a masked caller nothing that %s %s showed to another', async (method, path, more) => {
    await using world = await createWorld({ engine });
    const { productId, licenseKey } = await furnish(world);
    const masked = (...also: Scope[]) => ({ scopes: ['license:write', 'license:activate', ...also] }) as As;
    const call = (as: As, key: string) =>
      world.call(as, method, path, { productId, licenseKey, ...more }, { 'Idempotency-Key': key });
    expect(nameOf(await call('admin', 'k'))).toBe('200/0');
    const hidden = await call(masked(), 'k');
    expect([nameOf(hidden), isReplay(hidden)]).toEqual(['403/1', false]);
    const shown = await call(masked('license:reveal'), 'k');
    expect([nameOf(shown), isReplay(shown)]).toEqual(['200/0', true]);
    // What one of them was shown another one may have.
    const first = await call(masked(), 'masked');
    const second = await call(masked('license:read'), 'masked');
    expect(first.text).not.toContain(licenseKey);
    expect([second.text, isReplay(second)]).toEqual([first.text, true]);
  });

  it('tells an application nothing of a move that its customer may not make', async ({ world }) => {
    const { productId, licenseKey } = await furnish(world);
    const fields = { productId, licenseKey, hostId: 'host-1', newHostId: 'host-9' };
    const move = (as: As) => post(world, as, '/key/rebind', fields);
    expect(nameOf(await move({ scopes: ['license:activate'] }))).toBe('200/0');
    const body = { productId, licenseKey, maxActivations: 1, customerCanSelfReset: false };
    expect(nameOf(await world.call('admin', 'PATCH', '/key', body))).toBe('200/0');
    expect(nameOf(await move('client'))).toBe('403/12');
  });
});
