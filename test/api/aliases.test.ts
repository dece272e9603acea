import { describe, expect } from 'vitest';
import { type AnyEndpoint, aliasesOf } from '../../src/contract/endpoint.ts';
import { listEndpoints } from '../../src/contract/index.ts';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { type EndpointName, furnish, validRequests } from '../support/requests.ts';
import { pathWith } from '../support/scenario.ts';
import { createWorld, type World } from '../support/world.ts';

const aliases = listEndpoints().flatMap(({ name, endpoint }) =>
  aliasesOf(endpoint).map((alias) => ({ name: name as EndpointName, endpoint, alias, path: alias.path })),
);

/** What comes of the valid request of an operation at one of its paths: at an alias with the fields of the query in the body. */
async function outcomeOf(name: EndpointName, { method, path, takesQueryInBody }: AnyEndpoint) {
  await using world = await createWorld();
  const { query, body } = validRequests[name](await furnish(world));
  const [target, sent] = takesQueryInBody ? [path, { ...query, ...Object(body) }] : [pathWith({ path }, query), body];
  const answer = await world.call('admin', method, target, sent);
  const { audit } = await world.sequence().then(world.contents);
  return { status: answer.status, body: answer.body, audit };
}

const [engine] = engines;
const it = testsOn(engine);

describe('another path of an operation', () => {
  it.for(aliases.filter(({ alias }) => Object.keys(alias.sets ?? {}).length === 0))(
    '$path answers as the one that is preferred, and is recorded as it',
    async ({ name, endpoint, alias }) => {
      expect(await outcomeOf(name, alias)).toEqual(await outcomeOf(name, endpoint));
    },
  );

  it('is another request for an idempotency key', async ({ world, productId }) => {
    const once = { 'Idempotency-Key': 'k' };
    const first = await world.call('admin', 'POST', '/key', { productId }, once);
    const again = await world.call('admin', 'POST', '/key', { productId }, once);
    expect([again.text, again.headers['idempotency-replayed']]).toEqual([first.text, 'true']);
    const other = await world.call('admin', 'POST', '/create-key', { productId }, once);
    expect([other.status, other.body.code]).toEqual([400, 3]);
  });

  it('only reads where the operation only reads', async ({ world, productId }) => {
    const licenseKey = await world.key({ productId });
    await Promise.all([world.tokenOf('read-only'), world.tokenOf('client')]);
    const before = await world.contents();
    const { status, body } = await world.call('read-only', 'POST', '/get-key', { productId, licenseKey });
    expect([status, body.data.license.key]).toEqual([200, `*****-*****-*****-*****-${licenseKey.slice(-5)}`]);
    expect((await world.call('client', 'POST', '/get-key', { productId })).status).toBe(400);
    expect(await world.contents()).toEqual(before);
  });
});

describe.each(engines)('a key by other names of its fields on $name', (engine) => {
  const it = testsOn(engine);

  it.for([
    [{ maxActivations: 3 }, { maxActivations: 3 }],
    [{ maxActivations: '3' }, { maxActivations: 3 }],
    [{ maxActivations: null }, { maxActivations: null }],
  ])('is issued with %j', async ([given, shown], { world, productId }) => {
    const licenseKey = await world.key({ productId, ...given });
    expect(await world.license({ productId, licenseKey })).toMatchObject({ ...shown });
  });

  it.for([
    [{ maxActivations: '9' }, { maxActivations: 9 }],
    [{ expiryDate: '2030-01-01T00:00:00Z' }, { expirationDate: '2030-01-01T00:00:00.000Z' }],
    [{ expiryDate: null }, { expirationDate: null }],
  ])('is changed with %j', async ([given, shown], { world, productId }) => {
    const licenseKey = await world.key({ productId });
    const { status, body } = await world.call('admin', 'PATCH', '/key', { productId, licenseKey, ...given });
    expect([status, body.data]).toMatchObject([200, { ...shown }]);
  });

  it('is given to a new customer by a change', async ({ world, productId }) => {
    const licenseKey = await world.key({ productId });
    const newCustomer = { name: 'Ada Ltd', email: 'it@ada.example' };
    const change = { productId, licenseKey, newCustomer };
    expect((await world.call('admin', 'PATCH', '/key', change)).status).toBe(200);
    const { body } = await world.call('admin', 'POST', '/get-key', { productId, licenseKey });
    expect(body.data.customer).toMatchObject(newCustomer);
    const taken = await world.call('admin', 'PATCH', '/key', change);
    expect([taken.status, taken.body.code]).toEqual([409, 2]);
    const both = await world.call('admin', 'PATCH', '/key', { ...change, customerId: body.data.customer.id });
    expect([both.status, both.headers['lkm-invalid-fields']]).toEqual([400, 'customerId']);
  });

  it.for([
    ['POST', '/create-key', { maxActivations: 3, usesPerKey: '3' }, 'maxActivations'],
    ['POST', '/create-key', { maxActivations: '1.5' }, 'maxActivations'],
    ['POST', '/create-key', { amountKeys: 2, reference: 'order-1' }, 'reference'],
    ['PATCH', '/key', { expiryDate: 'soon' }, 'expiryDate'],
    ['PATCH', '/key', { expiryDate: null, expirationDate: null }, 'expiryDate'],
  ] as const)(
    'is refused by %s %s with %j, which names the field as it was sent',
    async (row, { world, productId }) => {
      const [method, path, fields, named] = row;
      const licenseKey = await world.key({ productId });
      const before = await world.contents();
      const answer = await world.call('admin', method, path, {
        productId,
        ...(method === 'PATCH' && { licenseKey }),
        ...fields,
      });
      expect([answer.status, answer.headers['lkm-invalid-fields']]).toEqual([400, named]);
      expect(await world.contents()).toEqual(before);
    },
  );
});

describe.each(engines)('several keys of one request on $name', (engine) => {
  const it = testsOn(engine);

  it.for([3, '3'])('are issued once, all alike, for amountKeys %j', async (amountKeys, { world, productId }) => {
    const request = { productId, usesPerKey: '2', newCustomer: { name: 'Ada Ltd' }, amountKeys };
    const once = { 'Idempotency-Key': 'k' };
    const first = await world.call('admin', 'POST', '/create-key', request, once);
    const again = await world.call('admin', 'POST', '/create-key', request, once);
    expect(again.text).toBe(first.text);
    const { code, key, keys } = first.body;
    expect([code, keys[0], new Set(keys).size]).toEqual([0, key, 3]);
    const { licenses = [], customers = [], events = [] } = await world.sequence().then(world.contents);
    expect(licenses.map((license) => license.license_key).sort()).toEqual([...keys].sort());
    expect(new Set(licenses.map((license) => license.customer_id))).toEqual(new Set([customers[0]?.id]));
    expect(events.filter(({ type }) => type === 'license.created')).toHaveLength(3);
  });

  it('count one by one against what a token may issue', async ({ world, productId }) => {
    const issuer = { kind: 'scoped', scopes: ['license:write'], maxIssues: 3 } as const;
    const create = (amountKeys: number) => world.call(issuer, 'POST', '/create-key', { productId, amountKeys });
    const first = await create(2);
    expect([first.status, first.headers['lkm-budget-remaining']]).toEqual([200, '1']);
    const refused = await create(2);
    expect([refused.status, refused.headers['lkm-budget-remaining']]).toEqual([403, '0']);
    expect((await world.contents()).licenses).toHaveLength(2);
    expect((await create(1)).status).toBe(200);
  });
});

describe('a key in a header', () => {
  it('is shown as one in the query, which takes precedence', async ({ world, productId }) => {
    const [licenseKey, other] = [await world.key({ productId }), await world.key({ productId })];
    const look = (query: Record<string, string>, inHeader: string) =>
      world.call('admin', 'GET', `/key?${new URLSearchParams(query)}`, undefined, { 'X-License-Key': inHeader });
    const { text } = await world.call('admin', 'GET', `/key?${new URLSearchParams({ productId, licenseKey })}`);
    expect((await look({ productId }, licenseKey)).text).toBe(text);
    expect((await look({ productId, licenseKey }, other)).text).toBe(text);
    expect((await look({ productId }, 'short')).headers['lkm-invalid-fields']).toBe('licenseKey');
    expect((await look({ reference: 'order-1042' }, licenseKey)).status).toBe(400);
    const change = await world.call('admin', 'POST', '/key/block', { productId }, { 'X-License-Key': licenseKey });
    expect(change.status).toBe(400);
  });
});

describe('a key with other letters than those of ASCII, in a header', () => {
  it.for(['utf8', 'latin1'] as const)('is read as %s', async (encoding, { world, productId }) => {
    const licenseKey = 'SCHLÜSSEL-DES-MÜLLERS-2026';
    expect((await world.call('admin', 'POST', '/key/import', { productId, key: licenseKey })).status).toBe(200);
    // A character stands for each byte on the wire.
    const inHeader = Buffer.from(licenseKey, encoding).toString('latin1');
    const { status, body } = await world.call('admin', 'GET', '/key', undefined, { 'X-License-Key': inHeader });
    expect([status, body.data?.license.key]).toEqual([200, licenseKey]);
  });
});

describe('a customer by older forms', () => {
  it('is changed by an id in the body, disabled and enabled', async ({ world }) => {
    const { id: customerId } = await world.customer();
    const change = async (method: string, path: string, body: object) => {
      const answer = await world.call('admin', method, path, body);
      return answer.body.data ?? answer.headers['lkm-invalid-fields'];
    };
    expect(await change('PUT', '/customer/by-id', { customerId, name: 'Acme' })).toMatchObject({ name: 'Acme' });
    const disabled = await change('POST', '/customer/disable', { customerId, name: 'Other', active: true });
    expect(disabled).toMatchObject({ id: customerId, name: 'Acme', active: false });
    expect(await change('POST', '/customer/enable', { customerId })).toMatchObject({ active: true });
    expect(await change('POST', '/customer/enable', {})).toBe('customerId');
    const other = `/customer/by-id?customerId=${customerId}`;
    expect(await change('PUT', other, { customerId: 'cus_x', name: 'Acme 2' })).toMatchObject({ id: customerId });
  });
});

describe('a reply for programs that ask for a message', () => {
  it('has one for a customer that is created or changed by any name, and for a changed key', async ({
    world,
    productId,
  }) => {
    const licenseKey = await world.key({ productId });
    const { id: customerId } = await world.customer();
    for (const [method, path, body, message] of [
      ['POST', '/customer', { name: 'Acme' }, 'Customer created'],
      ['PUT', `/customer/by-id?customerId=${customerId}`, { name: 'Acme' }, 'Customer updated'],
      ['PUT', '/customer/by-id', { customerId, name: 'Acme' }, 'Customer updated'],
      ['POST', '/customer/disable', { customerId }, 'Customer updated'],
      ['POST', '/customer/enable', { customerId }, 'Customer updated'],
      ['PATCH', '/key', { productId, licenseKey, maxActivations: 3 }, 'License updated'],
    ] as const) {
      const answer = await world.call('admin', method, path, body);
      expect([path, answer.body.message, answer.body.code]).toEqual([path, message, 0]);
    }
  });

  it('has no field more where the API description shows the reply', async ({ world, productId }) => {
    const licenseKey = await world.key({ productId });
    const { id: customerId } = await world.customer();
    const host = { productId, licenseKey, hostId: 'pc-1' };
    await world.call('admin', 'POST', '/key/activate', host);
    const shown = async (method: string, path: string, body?: object) =>
      Object.keys((await world.call('admin', method, path, body)).body).sort();
    expect(await shown('POST', '/create-key', { productId })).toEqual(['code', 'key']);
    expect(await shown('POST', '/deactivate-key', host)).toEqual(['code', 'message']);
    expect(await shown('GET', '/customer')).toEqual(['action', 'code', 'data', 'status']);
    expect(await shown('DELETE', `/customer/by-id?customerId=${customerId}`)).toEqual(['action', 'code', 'status']);
  });
});

describe('a request without a body', () => {
  /** As programs send it that have nothing to put in a body. */
  const send = async (world: World, method: string, path: string, headers: Record<string, string> = {}) => {
    const Authorization = `Bearer ${await world.tokenOf('admin')}`;
    const { status, body } = await world.send(path, { method, headers: { Authorization, ...headers } });
    return { status, body };
  };

  it('is taken where the query has all fields', async ({ world, productId }) => {
    const licenseKey = await world.key({ productId });
    const { id } = await world.customer();
    for (const headers of [{}, { 'Content-Type': 'application/json' }, { 'Idempotency-Key': 'k' }] as const) {
      for (const active of [false, true]) {
        const path = `/customer/${active ? 'enable' : 'disable'}?customerId=${id}`;
        expect(
          await send(world, 'POST', path, 'Idempotency-Key' in headers ? { 'Idempotency-Key': path } : headers),
        ).toMatchObject({
          status: 200,
          body: { data: { id, active } },
        });
      }
    }
    const found = await send(world, 'POST', `/get-key?${new URLSearchParams({ productId, licenseKey })}`);
    expect(found).toMatchObject({ status: 200, body: { data: { license: { key: licenseKey } } } });
  });

  it.for([
    ['POST', '/customer/disable', ': customerId'],
    ['POST', '/get-key?productId=prod_01jd7q3v6ye2wb8x5k9m4n0r7t', ': licenseKey'],
    ['POST', '/customer', ': name'],
    ['POST', '/key/activate', ': productId, licenseKey, hostId'],
    ['PUT', '/customer/by-id?customerId=cus_1', ''],
    ['POST', '/create-key', ''],
  ] as const)('is refused by %s %s, which names what is missing', async ([method, path, named], { world }) => {
    const message = `Missing required params${named}`;
    expect(await send(world, method, path)).toEqual({ status: 400, body: { message, code: 1 } });
  });
});
