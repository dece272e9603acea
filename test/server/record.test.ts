import { describe, expect, expectTypeOf, it } from 'vitest';
import type { Instant } from '../../src/contract/scalars.ts';
import { ownerOf } from '../../src/domain/access.ts';
import { mutate } from '../../src/server/http/execute.ts';
import { inProcessAddress } from '../../src/server/http/in-process.ts';
import { handleRequest } from '../../src/server/http/pipeline.ts';
import { listRoutes, type Route } from '../../src/server/http/routes.ts';
import { createExactlyOnce } from '../../src/server/idempotency/exactly-once.ts';
import type { JobContext } from '../../src/server/jobs/job.ts';
import { createLog } from '../../src/server/log.ts';
import type { Context } from '../../src/service/context.ts';
import { createRecorder } from '../../src/service/record.ts';
import type { Repositories } from '../../src/store/store.ts';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { allRecorded } from '../support/recorded.ts';
import { createWorld, type World } from '../support/world.ts';

/** Sends a request to a route whose use case is the test's own. */
async function send(world: World, perform: Route['perform']) {
  const route = listRoutes().find(({ name }) => name === 'customers.create');
  if (route === undefined) throw new Error('there is no such route');
  const parts = {
    store: world.store,
    door: 'http' as const,
    log: await createLog('none', { write: () => {} }),
    limiter: null,
    addressOf: inProcessAddress,
    signerOf: () => Promise.reject(new Error('not used')),
    record: createRecorder((length) => new Uint8Array(length)),
    exactlyOnce: createExactlyOnce(world.store, (length) => new Uint8Array(length)),
    owner: {
      sends: (authorization: string | null) => authorization === 'Bearer owner',
      caller: ownerOf(world.accounts.acme),
    },
    now: () => '2026-11-21T10:00:00.000Z' as Instant,
    monotonic: () => 0,
    random: (length: number) => new Uint8Array(length),
    newKeyPair: () => ({ privatePem: '', publicPem: '' }),
    newRequestId: () => 'request',
    webhooks: { allowPrivate: false },
  };
  const headers: Readonly<Record<string, string>> = {
    authorization: 'Bearer owner',
    'content-type': 'application/json',
    'idempotency-key': 'one',
  };
  return handleRequest(
    parts,
    { ...route, perform },
    {
      method: 'POST',
      target: '/customer',
      headers: { get: (name) => headers[name] ?? null, lines: (name) => [headers[name] ?? []].flat() },
      peer: '127.0.0.1',
      readBody: async () => Buffer.from('{"name":"Acme"}'),
    },
    mutate,
  );
}

describe.each(engines)('what a use case records, on $name,', (engine) => {
  const it = testsOn(engine);

  it('is an entry under the name of its operation, by its caller, with its events', async ({ world }) => {
    const customer = { type: 'customer', id: 'cus_1' } as const;
    const { status } = await send(world, async (context) => {
      context.record({ type: 'customer.created', resource: customer, data: { because: 'of the test' } });
      context.record({ resource: { type: 'product', id: 'prod_1' } });
    });
    expect(status).toBe(201);
    expect(await allRecorded(world)).toEqual([
      {
        id: expect.stringMatching(/^aud_/),
        at: '2026-11-21T10:00:00.000Z',
        actor: { type: 'owner', id: world.accounts.acme },
        token: null,
        address: '127.0.0.1',
        salt: expect.stringMatching(/^[\w-]{22}$/),
        door: 'http',
        request_id: 'request',
        operation: 'customers.create',
        outcome: 'done',
        resource: customer,
        details: { because: 'of the test' },
        events: [
          {
            id: expect.stringMatching(/^evt_/),
            type: 'customer.created',
            resource: customer,
            data: { because: 'of the test' },
          },
        ],
      },
    ]);
  });

  it('is undone with everything else when the use case fails', async ({ world }) => {
    const { status } = await send(world, async (context) => {
      context.record({ resource: { type: 'customer', id: 'cus_1' } });
      throw new TypeError('a bug');
    });
    expect(status).toBe(500);
    expect(await allRecorded(world)).toEqual([]);
  });
});

describe('a transaction', () => {
  it('is given nothing that reaches a network, which the compiler checks', () => {
    expectTypeOf<keyof Context>().toEqualTypeOf<
      | 'repositories'
      | 'caller'
      | 'now'
      | 'ipAddress'
      | 'random'
      | 'record'
      | 'noteBudget'
      | 'signer'
      | 'newKeyPair'
      | 'webhooks'
    >();
    expectTypeOf<Parameters<JobContext['transaction']>[0]>().parameters.toEqualTypeOf<[repositories: Repositories]>();
    expectTypeOf<Route['perform']>().parameters.toEqualTypeOf<[context: Context, input: unknown]>();
    expectTypeOf<keyof Context['webhooks']>().toEqualTypeOf<'allowPrivate'>();
    expectTypeOf<Context['random']>().returns.toEqualTypeOf<Uint8Array>();
  });
});
