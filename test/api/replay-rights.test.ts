import { describe, expect, it } from 'vitest';
import { scopes } from '../../src/contract/scopes.ts';
import { engines } from '../support/engines.ts';
import { type EndpointName, furnish, validRequests } from '../support/requests.ts';
import { findEndpoint, pathWith } from '../support/scenario.ts';
import { type Answer, type As, createWorld, type World } from '../support/world.ts';

const callers = ['admin', 'writer', 'reader', 'client', 'elsewhere', 'limited', 'spent'] as const;
type CallerName = (typeof callers)[number];

const withoutScope = '403/1';
const notForClients = { reader: withoutScope, client: withoutScope };

/** Who may not make the valid request of an operation, and how it is refused, as `status/code`. */
const refusals = {
  'keys.create': { ...notForClients, elsewhere: '404/1', spent: '403/10' },
  'keys.activate': { reader: withoutScope, elsewhere: '404/1' },
  'keys.rebind': { reader: withoutScope, elsewhere: '404/1' },
  'keys.deactivate': { reader: withoutScope, elsewhere: '404/1' },
  'keys.sign': { reader: withoutScope, elsewhere: '404/1' },
  'keys.checkout': { reader: withoutScope, elsewhere: '404/1' },
  'keys.heartbeat': { reader: withoutScope, elsewhere: '404/1' },
  'keys.checkin': { reader: withoutScope, elsewhere: '404/1' },
  'sessions.delete': { ...notForClients, elsewhere: '404/3' },
  'customers.create': { ...notForClients, elsewhere: withoutScope },
  'customers.delete': { ...notForClients, elsewhere: '404/2' },
  'products.create': { ...notForClients, elsewhere: withoutScope },
  'products.update': { ...notForClients, elsewhere: '404/1' },
  'tokens.create': { ...notForClients, elsewhere: withoutScope },
  'tokens.revoke': { ...notForClients, elsewhere: '404/1' },
} as const satisfies Partial<Record<EndpointName, Partial<Record<CallerName, string>>>>;

type OperationName = keyof typeof refusals;

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

const rows = (Object.keys(refusals) as OperationName[]).flatMap((operation) =>
  callers.map((first) => ({ operation, first })),
);

describe.each(engines)('one key of several tokens on $name', (engine) => {
  it.each(rows)('gives each what it may have of $operation after $first', async ({ operation, first }) => {
    await using world = await createWorld({ engine });
    const as = await peopled(world);
    const { query, body } = validRequests[operation](await furnish(world));
    const endpoint = findEndpoint(operation);
    const refused: Partial<Record<CallerName, string>> = refusals[operation];
    let made: Answer | null = null;
    for (const name of [first, ...callers.filter((other) => other !== first)]) {
      const answer = await world.call(as[name], endpoint.method, pathWith(endpoint, query), body, {
        'Idempotency-Key': 'k',
      });
      const outcome = { name, answer: nameOf(answer), replayed: isReplay(answer) };
      const refusal = refused[name];
      if (refusal !== undefined) {
        expect(outcome).toEqual({ name, answer: refusal, replayed: false });
        expect((await world.contents()).idempotency).toHaveLength(made === null ? 0 : 1);
        continue;
      }
      expect(outcome).toEqual({
        name,
        answer: `${endpoint.reply.status}/${answer.body.code}`,
        replayed: made !== null,
      });
      expect(answer.text).toBe((made ?? answer).text);
      made ??= answer;
    }
  });

  it('gives a token that is used up what it made itself, as often as it asks', async () => {
    await using world = await createWorld({ engine });
    const { id: productId } = await world.product();
    const create = (key: string) =>
      world.call({ kind: 'admin', maxIssues: 1 }, 'POST', '/create-key', { productId }, { 'Idempotency-Key': key });
    const first = await create('k');
    expect(nameOf(first)).toBe('200/0');
    for (let i = 0; i < 3; i += 1) {
      const again = await create('k');
      expect([isReplay(again), again.text]).toEqual([true, first.text]);
    }
    expect(nameOf(await create('new'))).toBe('403/10');
  });

  it('counts a key that another token made against the limit of a token that gets it', async () => {
    await using world = await createWorld({ engine });
    const { id: productId } = await world.product();
    const limited = { kind: 'admin', maxIssues: 1 } as const;
    const create = (as: As, key: string) =>
      world.call(as, 'POST', '/create-key', { productId }, { 'Idempotency-Key': key });
    for (const key of ['a', 'b']) expect(nameOf(await create('admin', key))).toBe('200/0');
    const got = await create(limited, 'a');
    expect([nameOf(got), isReplay(got)]).toEqual(['200/0', true]);
    expect(nameOf(await create(limited, 'b'))).toBe('403/10');
    expect(nameOf(await create(limited, 'new'))).toBe('403/10');
    expect(isReplay(await create('admin', 'b'))).toBe(true);
  });

  it('does not count a refusal that is replayed', async () => {
    await using world = await createWorld({ engine });
    const { id: productId } = await world.product();
    const limited = { kind: 'admin', maxIssues: 1 } as const;
    const body = { productId, customerId: 'cus_absent' };
    for (const as of ['admin', limited, limited] as const) {
      expect(nameOf(await world.call(as, 'POST', '/create-key', body, { 'Idempotency-Key': 'k' }))).toBe('404/2');
    }
    expect(nameOf(await world.call(limited, 'POST', '/create-key', { productId }))).toBe('200/0');
  });

  it('gives nothing to a token of another product that hides the product behind a wrong content type', async () => {
    await using world = await createWorld({ engine });
    const { elsewhere } = await peopled(world);
    const { id: productId } = await world.product();
    const keyed = { 'Idempotency-Key': 'k' };
    const made = await world.call('admin', 'POST', '/create-key', { productId }, keyed);
    const hidden = { ...keyed, 'Content-Type': 'text/plain' };
    const answer = await world.call(elsewhere, 'POST', '/create-key', { productId }, hidden);
    expect([nameOf(answer), isReplay(answer)]).toEqual(['400/1', false]);
    const again = await world.call('admin', 'POST', '/create-key', { productId }, keyed);
    expect([again.text, isReplay(again)]).toEqual([made.text, true]);
  });
});
