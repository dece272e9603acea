import { describe, expect } from 'vitest';
import type { AnyEndpoint } from '../../src/contract/endpoint.ts';
import { listEndpoints } from '../../src/contract/index.ts';
import { engines } from '../support/engines.ts';
import { test as it, testsOn } from '../support/fixtures.ts';
import { type Belongings, type EndpointName, furnish, validRequests } from '../support/requests.ts';
import { findEndpoint, invalidBody, pathWith } from '../support/scenario.ts';
import type { World } from '../support/world.ts';

/** What no text of the contract may hold. */
const badTexts = ['a\u0000b', 'a\nb', '\u007f', '\u0085', '\ud800', 'a\udc00b'].map((text) => text.padEnd(40, '-'));

const textUpTo = (length: number) => ['', 'x'.repeat(length + 1), 5, true, [], {}, ...badTexts];
const badDates = [
  ...['tomorrow', '', '2027-01-01', '2027-01-01T00:00:00', '2027-13-01T00:00:00Z', '2027-02-30T00:00:00Z'],
  ...['2027-01-01T25:00:00Z', '2027-01-01 00:00:00Z', '0000-01-01T00:00:00+01:00'],
  ...['9999-12-31T23:59:59-01:00', '+012027-01-01T00:00:00Z', 1_798_761_600_000, true],
];
const badDurations = ['', 'P', '1y', '-P1D', 'P1.5D', 30];
const components = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`part-${at}`, 'a'.repeat(64)]));
const badNumbers = ['', '1.5', 'x', '-1', '9'.repeat(300)];

/** Values that no operation takes in fields of these names, or not in the one that is named before the field. */
const badFields: ReadonlyMap<string, readonly unknown[]> = new Map(
  (
    [
      ['productId', ['p'.repeat(21), ...textUpTo(256)]],
      ['licenseKey', ['k'.repeat(22), 'k'.repeat(5), ...textUpTo(256)]],
      ['key', ['k'.repeat(5), ...textUpTo(256)]],
      [
        'customerId versionId tokenId sessionId webhookId planId plan resourceId account id userIdentifier',
        textUpTo(256),
      ],
      ['hostId newHostId deviceTag nonce timestamp version', textUpTo(64)],
      ['reference', [' ', ...textUpTo(128)]],
      ['name', [null, ' ', '\u2003\u00a0', ...textUpTo(256)]],
      ['reason revocationReason', textUpTo(500)],
      ['proof', textUpTo(8_192)],
      ['publicKey', ['', 'a'.repeat(42), 'a'.repeat(44), '='.repeat(43), 5, null]],
      ['fingerprint', [[], 'x', { cpu: 'x' }, { cpu: 'A'.repeat(64) }, { '': 'a'.repeat(64) }, components(17)]],
      ['fingerprintMatch', [0, 17, 1.5, '2']],
      ['renewalDay', [28, 32, 30.5, '31']],
      ['features', [[], 'x', { n: [1] }, { ['n'.repeat(65)]: 1 }]],
      ['description note', textUpTo(500).filter((text) => text !== '')],
      ['text', ['', 't'.repeat(257), 'a\u0000b']],
      ['slug', ['', 'Editor', 'a--b', '-a', 'a_b', 'x'.repeat(22), 5]],
      ['email', ['zoe@', '@a.example', 'a b@c.example', 'zoe@example-.com', `${'z'.repeat(255)}@example.com`, 5]],
      ['customers.list.email', ['', 'e'.repeat(257)]],
      ['newCustomer customer', ['Zoë', [], { name: null }, { name: 'Zoë', email: 'zoe' }]],
      ['devices', ['host-1', [{}], [{ hostId: '' }], [{ hostId: 'a', ipAddress: '203.0.*.*' }]]],
      ['signature', ['', 'g'.repeat(64), 'a'.repeat(63), 5]],
      ['usesPerKey', ['0', '-1', '+1', '1e3', '1.5', '', '01', ' 5', '٥', '0x5', '1000000000', 5, true, [], {}]],
      ['expiryDate expirationDate createdAt revokedAt ifUpdatedAt at', badDates],
      ['expiresAt', ['2026-11-21T10:00:00.000Z', '2020-01-01T00:00:00Z', ...badDates]],
      ['unseenSince', ['', 'x', '2026-13-01', '2026-02-30', '2026-11-21T10:00:00Z']],
      ['expiresIn', [0, 59, 604_801, 3_600.5, '3600', null]],
      ['duration', badDurations],
      ['gracePeriod expiresAfter', ['P0D', 'PT0S', ...badDurations]],
      ['overlap', ['', '1d', '-P1D', -1, 1.5]],
      ['licenseType action from state type kind', ['', 'Floating', 'license.eaten', 5]],
      ['types', [[], ['license.eaten'], 'ping']],
      ['signatures', [null, [], ['v1'], ['standard', 'standard'], 'timestamped']],
      ['maxActivations maxConcurrentSessions maxIssues rateLimit', [0, -1, 1.5, '2', 1_000_000_000_000]],
      ['keys.update.maxActivations', [0, -1, 1.5, '', '0', '1.5', 1_000_000_000_000]],
      ['amountKeys', [0, -1, 1.5, '', '0', 'x', 1_001, null]],
      ['heartbeatInterval', [59, 901, 86_401, 60.5, '60', null]],
      ['sessionLeaseDuration', [299, 2_592_001, 300.5, '300', null]],
      ['ttl', [59, -60, 60.5, '60', null, 3_155_760_001, 1e300]],
      ['allowedHosts', [[], [''], [5], 'host-1', ['h'.repeat(65)], Array.from({ length: 1_001 }, String)]],
      [
        'metadata',
        [
          [],
          'x',
          { 'a\nb': 1 },
          { ['n'.repeat(65)]: 1 },
          { n: ['a\u0000b'] },
          { n: { 'a\u0000b': 1 } },
          { features: [] },
          { is_trial: 'yes' },
        ],
      ],
      [
        'customerCanSelfReset vendorDisabled fromFirstUse isTrial force active reveal ordered failed ifAbsent',
        ['', '1', 'TRUE', 0],
      ],
      ['scopes', [null, [], ['license:all'], 'license:read', [5]]],
      ['productIds', [[], [''], ['p'.repeat(21)], 'p'.repeat(22)]],
      ['networks', [null, [], 'a', ...['', '10.0.0.0/33', '10.1/16', '::/129', '10.0.0.1 '].map((one) => [one])]],
      ['url', [null, 5]],
      ['hash', ['', 'a'.repeat(63), 'A'.repeat(64), 'g'.repeat(64), null, 5]],
      ['page', ['0', '1000001', ...badNumbers]],
      ['limit', ['0', '1001', ...badNumbers]],
      ['after', badNumbers],
      ['cursor', ['x']],
    ] as const
  ).flatMap(([names, values]) => names.split(' ').map((name) => [name, values] as const)),
);

/** Of two fields that exclude each other one is named. */
const contradicted: Readonly<Record<string, string>> = { newCustomer: 'customerId', kind: 'scopes' };

/** The fields of an endpoint, with what no field of that name takes: in a query, texts alone. */
function badFieldsOf(name: string, { query, body }: AnyEndpoint) {
  return [query, body].flatMap((schema) =>
    Object.keys(schema !== undefined && 'shape' in schema ? (schema.shape as object) : {}).map((field) => {
      const values = badFields.get(`${name}.${field}`) ?? badFields.get(field);
      const inQuery = (value: unknown) => typeof value === 'string' && value.isWellFormed();
      return { field, isInBody: schema === body, values: schema === body ? values : values?.filter(inQuery) };
    }),
  );
}

/** Names of other operations, of licences and of other services, each with its name on `POST /create-key`, if it has one. */
const namesOnCreate = {
  expires: 'expiryDate or expiresAfter',
  customer: 'customerId or newCustomer',
  isTrial: 'metadata.is_trial',
  seats: 'usesPerKey',
  format: null,
};

/** Sends the valid request of an endpoint, but for some fields. */
async function spoil(world: World, own: Belongings, name: EndpointName, fields: object, isInBody = true) {
  const endpoint = findEndpoint(name);
  const { query, body } = validRequests[name](own);
  const path = pathWith(endpoint, isInBody ? query : { ...query, ...fields });
  const sent = endpoint.body && { ...Object(body), ...(isInBody && fields) };
  const answer = await world.call('admin', endpoint.method, path, sent);
  return { status: answer.status, body: answer.body, named: answer.headers['lkm-invalid-fields'] };
}

describe.each(engines)('a bad field on $name', (engine) => {
  const it = testsOn(engine);

  it.for(listEndpoints())('is refused, and named, of all that $name has', async ({ name, endpoint }, { world }) => {
    const own = await furnish(world);
    const before = await world.contents();
    for (const { field, isInBody, values } of badFieldsOf(name, endpoint)) {
      expect(values, `bad values of ${field}`).toBeDefined();
      for (const value of values ?? []) {
        const { named = '', ...refused } = await spoil(world, own, name as EndpointName, { [field]: value }, isInBody);
        const [first] = named.split(/[.,]/);
        const blamed = first === contradicted[field] ? field : first;
        const body = invalidBody(endpoint, { headers: { 'lkm-invalid-fields': named } });
        expect({ value, ...refused, field: blamed }).toEqual({ value, status: 400, body, field });
      }
    }
    expect(await world.contents()).toEqual(before);
  });
});

describe('a bad field', () => {
  it('is named with all others, ten at most, each with 100 characters of visible ASCII at most', async ({ world }) => {
    const own = await furnish(world);
    const named = async (metadata: object, more: object = {}) =>
      (await spoil(world, own, 'keys.create', { metadata, ...more })).named;
    const newCustomer = { name: '', email: 'zoe' };
    expect(await named({}, { productId: 'short', usesPerKey: 5, customerId: null, newCustomer })).toBe(
      'productId, usesPerKey, newCustomer.name, newCustomer.email',
    );
    const odd = Object.fromEntries(['ключ', 'a,b\r\nX: y', 'n'.repeat(500), '\ud800'].map((name) => [name, null]));
    expect(await named({ features: odd })).toMatch(/^[!-~]+(, [!-~]+)*$/);
    const many = Object.fromEntries(Array.from({ length: 15 }, (_, at) => [`f${at}`, null]));
    expect((await named({ features: many }))?.split(', ')).toHaveLength(10);
    const long = Object.fromEntries([['n'.repeat(90), null]]);
    expect(await named({ features: long })).toBe(`metadata.features.${'n'.repeat(90)}`.slice(0, 100));
  });

  it('is refused where its operation does not know it: by its name there, or where it would limit a licence', async ({
    world,
  }) => {
    const own = await furnish(world);
    for (const [name, here] of Object.entries(namesOnCreate)) {
      const message = `${name}: unknown field${here === null ? '' : `; here: ${here}`}`;
      const refused = { status: 400, body: { message, code: 1 }, named: name };
      for (const value of [5, null]) expect(await spoil(world, own, 'keys.create', { [name]: value })).toEqual(refused);
    }
    for (const name of ['keys.import', 'keys.update'] as const)
      expect(await spoil(world, own, name, { usesPerKey: '5' })).toMatchObject({ status: 400, named: 'usesPerKey' });
  });

  it('is named in the message too, but where the API description fixes the text', async ({ world }) => {
    const own = await furnish(world);
    const message = async (name: EndpointName, fields: object) => (await spoil(world, own, name, fields)).body.message;
    const text = 'Missing required params';
    expect(await message('keys.activate', { hostId: undefined })).toBe(`${text}: hostId`);
    expect(await message('keys.update', { metadata: { 'ключ\n': 1 } })).toBe(`${text}: metadata.ключ\n`);
    expect(await message('customers.create', { name: '', email: 'zoe' })).toBe(`${text}: name, email`);
    expect(await message('keys.sign', { hostId: 5, ttl: 1 })).toBe(`${text}: hostId, ttl`);
    expect(await message('keys.create', { productId: undefined })).toBe(text);
    expect(await message('keys.deactivate', { licenseKey: undefined })).toBe(text);
  });

  it('is customerId together with newCustomer, even an empty one', async ({ world }) => {
    const own = await furnish(world);
    for (const newCustomer of [{ name: 'Acme' }, {}])
      expect(await spoil(world, own, 'keys.create', { newCustomer })).toMatchObject({
        status: 400,
        body: { message: 'Missing required params' },
      });
  });

  it.for(['customer', 'product', 'webhook'] as const)(
    'is none in a whole %s that is sent back as it was read',
    async (resource, { world }) => {
      const path = `/${resource}/by-id?${resource}Id=${(await furnish(world))[`${resource}Id`]}`;
      const read = await world.call('admin', 'GET', path);
      expect((await world.call('admin', 'PUT', path, read.body.data)).status).toBe(200);
      expect((await world.call('admin', 'GET', path)).body.data).toEqual(read.body.data);
    },
  );

  it('is named where only the use case finds it, under a key too; else nothing is named', async ({ world }) => {
    const { productId, licenseKey } = await furnish(world);
    const named = async (method: string, path: string, body: unknown, headers?: Record<string, string>) => {
      const answer = await world.call('admin', method, path, body, headers);
      return [answer.status, answer.headers['lkm-invalid-fields']];
    };
    const endless = { productId, licenseKey, expirationDate: null };
    expect(await named('PATCH', '/key', endless)).toEqual([200, undefined]);
    for (const headers of [{}, { 'Idempotency-Key': 'k' }])
      expect(await named('POST', '/key/sign', { productId, licenseKey, hostId: 'h' }, headers)).toEqual([400, 'ttl']);
    expect(await named('POST', '/create-key', [])).toEqual([400, undefined]);
    expect(await named('PATCH', '/key', { productId, licenseKey })).toEqual([400, undefined]);
    for (const headers of [{}, { 'Idempotency-Key': 'absent' }])
      expect(await named('POST', '/create-key', { productId: 'p'.repeat(30) }, headers)).toEqual([404, undefined]);
  });
});
