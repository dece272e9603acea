import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest';
import { engines } from '../support/engines.ts';
import { test as it } from '../support/fixtures.ts';
import { type Belongings, type EndpointName, furnish, validRequests } from '../support/requests.ts';
import { findEndpoint, pathWith } from '../support/scenario.ts';
import { type Answer, createWorld, type World } from '../support/world.ts';

const invalid = { status: 400, body: { message: 'Missing required params', code: 1 } };
const tooLarge = { status: 413, body: { message: 'Request body too large', code: 1 } };
const notFound = { status: 404, body: { message: 'Not found', code: 1 } };
const notAllowed = { status: 405, body: { message: 'Method not allowed', code: 1 } };

const MIB = 1_048_576;

/** Stands for a member that is left out. */
const LEFT_OUT = Symbol('left out');

/** What no text of the contract may hold. */
const badTexts = ['a\u0000b', 'a\nb', '\u007f', '\u0085', '\ud800', 'a\udc00b'].map((text) => text.padEnd(40, '-'));

const notTexts = [5, true, [], {}];

const badProductIds = [LEFT_OUT, null, '', 'p'.repeat(21), 'p'.repeat(257), ...notTexts, ...badTexts];
const badKeys = [LEFT_OUT, null, '', 'k'.repeat(22), 'k'.repeat(257), ...notTexts, ...badTexts];
const badNames = [LEFT_OUT, null, '', ' ', '\u2003\u00a0', 'n'.repeat(257), ...notTexts, ...badTexts];
const badEmails = [
  ...[null, '', 'zoe', 'zoe@', '@example.com', 'a b@example.com', 'zoe@example-.com'],
  ...[`${'z'.repeat(255)}@example.com`, 5],
];
const badDates = [
  ...['tomorrow', '', '2027-01-01', '2027-01-01T00:00:00', '2027-13-01T00:00:00Z', '2027-02-30T00:00:00Z'],
  ...['2027-01-01T25:00:00Z', '2027-01-01 00:00:00Z', '0000-01-01T00:00:00+01:00'],
  ...['9999-12-31T23:59:59-01:00', '+012027-01-01T00:00:00Z', 1_798_761_600_000, true],
];

/** A bad value of a member of the body, or of the query, of each endpoint that has one. */
const badFields: Partial<Record<EndpointName, Record<string, readonly unknown[]>>> = {
  'keys.create': {
    productId: badProductIds,
    usesPerKey: ['0', '-1', '+1', '1e3', '1.5', '', '01', ' 5', '5 ', '٥', '0x5', '1000000000', ...notTexts],
    expiryDate: badDates,
    customerId: ['', 'c'.repeat(257), ...notTexts, ...badTexts],
    newCustomer: ['Zoë', [], {}, { name: null }, { name: '' }, { name: 'Zoë', email: 'zoe' }, { name: 'Zoë' }],
    licenseType: ['', 'Floating', 'perpetual', null, 5],
    maxConcurrentSessions: [0, -1, 1, 1.5, '2', 1_000_000_000],
    gracePeriod: ['P', 'P00D', 'PT0S', '1y', 30, ''],
    heartbeatInterval: [59, 901, 86_401, 60.5, '60', null],
    sessionLeaseDuration: [299, 2_592_001, 300.5, '300', null],
    allowedHosts: [[], [''], [5], 'host-1', ['h'.repeat(65)], Array.from({ length: 1_001 }, String)],
    metadata: [
      ...[null, [], { note: null }, { 'a\nb': 1 }, { ['n'.repeat(65)]: 1 }, { features: [] }],
      ...[{ features: { a: null } }, { features: { '': 1 } }, { is_trial: 'yes' }],
    ],
    customerCanSelfReset: ['true', 0, null],
  },
  'keys.get': {
    productId: ['', 'p'.repeat(21), 'p'.repeat(257), ...badTexts.slice(0, 4)],
    licenseKey: [LEFT_OUT, '', 'k'.repeat(22), 'k'.repeat(257), ...badTexts.slice(0, 4)],
  },
  'keys.deactivate': {
    productId: badProductIds,
    licenseKey: badKeys,
    hostId: [null, '', 'h'.repeat(65), ...notTexts, ...badTexts],
  },
  'keys.sign': {
    productId: badProductIds,
    licenseKey: badKeys,
    hostId: [LEFT_OUT, null, '', 'h'.repeat(65), ...notTexts, ...badTexts],
    ttl: [59, 0, -60, 60.5, '60', null, 3_155_760_001, 1e300],
  },
  'keys.checkout': {
    productId: badProductIds,
    licenseKey: badKeys,
    hostId: [null, '', 'h'.repeat(65), ...notTexts, ...badTexts],
    deviceTag: [null, '', 't'.repeat(65), ...notTexts, ...badTexts],
    userIdentifier: [null, '', 'u'.repeat(257), ...notTexts, ...badTexts],
  },
  'customers.list': {
    page: ['0', '1.5', 'x', '9'.repeat(300)],
    limit: ['0', '1001'],
    email: ['', 'e'.repeat(257)],
    text: ['', 't'.repeat(257)],
    active: ['1', 'TRUE'],
  },
  'customers.get': { customerId: [LEFT_OUT, '', 'c'.repeat(257), ...badTexts.slice(0, 4)] },
  'customers.update': {
    name: badNames.filter((name) => name !== LEFT_OUT),
    email: badEmails.filter((email) => email !== null),
    active: ['true', 1, null],
    ifUpdatedAt: [null, ...badDates],
  },
  'customers.keys': { customerId: [LEFT_OUT, ''], page: ['0'], limit: ['1001'] },
  'products.createVersion': {
    productId: badProductIds,
    version: [LEFT_OUT, null, '', ' ', 'v'.repeat(65), ...notTexts, ...badTexts],
    description: [null, 'd'.repeat(501), ...notTexts, ...badTexts],
  },
  'products.updateVersion': {
    versionId: [LEFT_OUT, null, '', 'v'.repeat(257), ...notTexts, ...badTexts],
    active: [LEFT_OUT, 'true', 1, null],
  },
  'stats.get': { productId: ['', 'p'.repeat(21)] },
  'products.list': { page: ['0'], limit: ['1001'] },
  'tokens.list': { page: ['0'], limit: ['1001'] },
  'customers.create': { name: badNames, email: badEmails },
  'customers.delete': { customerId: [LEFT_OUT, '', 'c'.repeat(257), ...badTexts.slice(0, 4)] },
  'products.create': { name: badNames },
  'products.get': { productId: [LEFT_OUT, '', 'p'.repeat(21), 'p'.repeat(257), ...badTexts.slice(0, 4)] },
  'products.update': { name: badNames.filter((name) => name !== LEFT_OUT), active: ['true', 1, null] },
  'tokens.create': {
    name: badNames,
    kind: [LEFT_OUT, null, '', 'Admin', 'admin', 5],
    scopes: [LEFT_OUT, null, [], ['license:all'], 'license:read', [5]],
    productIds: [null, [], [''], ['p'.repeat(21)], 'p'.repeat(22)],
    maxIssues: [0, -1, 1.5, '1', null, 1_000_000_000],
    expiresAt: ['2026-11-21T10:00:00.000Z', '2020-01-01T00:00:00Z', ...badDates.filter((date) => date !== null)],
    networks: [null, [], [''], ['10.0.0.0/33'], ['host'], '10.0.0.0/8', ['10.0.0.1 ']],
    rateLimit: [0, -1, 1.5, '1', null, 60_000_001],
  },
  'tokens.get': { tokenId: [LEFT_OUT, '', 't'.repeat(257), ...badTexts.slice(0, 4)] },
  'tokens.rotate': {
    tokenId: [LEFT_OUT, null, '', 't'.repeat(257), 5],
    overlap: [null, '', '1d', 'P', '-P1D', 'P1.5D', 60],
    expiresAt: ['2026-11-21T10:00:00.000Z', '2020-01-01T00:00:00Z'],
  },
  'tokens.revoke': { force: ['', '1', 'yes'], tokenId: [LEFT_OUT, '', 't'.repeat(257), ...badTexts.slice(0, 4)] },
};

/** Names of other operations, of licences and of other services, each with its name on `POST /create-key`, if it has one. */
const namesOnCreate = {
  maxActivations: 'usesPerKey',
  seats: 'usesPerKey',
  expirationDate: 'expiryDate or expiresAfter',
  expires: 'expiryDate or expiresAfter',
  customer: 'customerId or newCustomer',
  version: 'versionId',
  features: 'metadata.features',
  isTrial: 'metadata.is_trial',
  vendorDisabled: null,
  amountKeys: null,
  format: null,
};

const fieldCases = Object.entries(badFields).flatMap(([name, fields]) =>
  Object.entries(fields).flatMap(([field, values]) =>
    values.map((value) => ({ name: name as EndpointName, field, value, title: `${name} ${field} ${show(value)}` })),
  ),
);

/** Of two fields that exclude each other one is named. */
const contradicted: Readonly<Record<string, string>> = { newCustomer: 'customerId', kind: 'scopes' };

/** Bodies of POST /customer that are no JSON object that it takes. */
const badBodies: readonly [string, Uint8Array<ArrayBuffer> | undefined][] = [
  ['no body', undefined],
  ['an empty body', bytes('')],
  ['white space', bytes(' \n')],
  ['null', bytes('null')],
  ['an array', bytes('[{"name":"Acme"}]')],
  ['a string', bytes('"Acme"')],
  ['a number', bytes('5')],
  ['broken JSON', bytes('{"name":"Acme"')],
  ['two JSON values', bytes('{"name":"Acme"}{"name":"Acme"}')],
  ['a comment', bytes('{"name":"Acme"/**/}')],
  ['single quotes', bytes(`{'name':'Acme'}`)],
  ['a bare control character in a string', bytes('{"name":"Ac\u0001me"}')],
  ['a form', bytes('name=Acme')],
  ['arrays 100 000 levels deep', bytes(`{"name":"Acme","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`)],
  ['objects 100 000 levels deep', bytes(`${'{"x":'.repeat(100_000)}1${'}'.repeat(100_000)}`)],
  ['100 000 brackets that are never closed', bytes('['.repeat(100_000))],
  ['__proto__', bytes('{"name":"Acme","__proto__":{"email":"a@b.example"}}')],
  ['__proto__ in escapes', bytes('{"name":"Acme","\\u005f_proto__":{}}')],
  ['__proto__ further down', bytes('{"name":"Acme","x":[{"__proto__":null}]}')],
  ['constructor.prototype', bytes('{"name":"Acme","constructor":{"prototype":{}}}')],
  ['invalid UTF-8', Buffer.from([...Buffer.from('{"name":"'), 0xc3, 0x28, ...Buffer.from('"}')])],
  ['an overlong encoding', Buffer.from([...Buffer.from('{"name":"'), 0xc1, 0x81, ...Buffer.from('"}')])],
  ['a surrogate in UTF-8', Buffer.from([...Buffer.from('{"name":"'), 0xed, 0xa0, 0x80, ...Buffer.from('"}')])],
  ['UTF-16', Buffer.from('{"name":"Acme"}', 'utf16le')],
];

const badTypes = [
  ...[undefined, '', 'text/plain', 'text/json', 'application/x-www-form-urlencoded'],
  ...['multipart/form-data; boundary=x', 'application/jsonp', 'application/json-patch+json'],
  ...['application/json, text/plain', 'json'],
];

const unknownPaths = [
  ...['/nothing', '/create-key/', '//create-key', '/Create-Key', '/create-key/x'],
  ...['/key/sign/../../create-key/x', '/customer/by-id/1', '/constructor', '/__proto__'],
];

const wrongMethods: readonly [string, string, string][] = [
  ['GET', '/create-key', 'POST'],
  ['DELETE', '/create-key', 'POST'],
  ['GET', '/deactivate-key', 'POST'],
  ['POST', '/key', 'GET, PATCH, DELETE'],
  ['GET', '/key/sign', 'POST'],
  ['PUT', '/key/checkout', 'POST'],
  ['PATCH', '/customer', 'GET, POST'],
  ['POST', '/customer/by-id', 'GET, PUT, DELETE'],
  ['DELETE', '/product', 'GET, POST'],
  ['PATCH', '/product/by-id', 'GET, PUT'],
  ['PUT', '/token', 'GET, POST'],
  ['PATCH', '/token/by-id', 'GET, DELETE'],
  ['OPTIONS', '/token/self', 'GET'],
  ['POST', '/.well-known/jwks.json', 'GET'],
];

describe.each(engines)('bad input on $name', (engine) => {
  let world: World;
  let own: Belongings;
  let before: Awaited<ReturnType<World['contents']>>;
  let Authorization: string;

  beforeAll(async () => {
    world = await createWorld({ engine });
    own = await furnish(world);
    Authorization = `Bearer ${await world.tokenOf('admin')}`;
  });

  beforeEach(async () => {
    before = await world.contents();
  });

  afterAll(() => world[Symbol.asyncDispose]());

  /** The answer is the expected refusal and no more, nothing has been written, and the service goes on. */
  async function expectHarmless(answer: Answer, refusal: { readonly status: number; readonly body: unknown }) {
    expect({ status: answer.status, body: answer.body }).toEqual(refusal);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(await world.contents()).toEqual(before);
    expect((await world.call('admin', 'GET', '/customer')).status).toBe(200);
  }

  const post = (path: string, body: Uint8Array<ArrayBuffer> | undefined, headers: Record<string, string>) =>
    world.send(path, {
      method: 'POST',
      headers: { Authorization, ...headers },
      ...(body === undefined ? {} : { body }),
    });

  it.each(fieldCases)('is refused: $title', async ({ name, field, value }) => {
    const endpoint = findEndpoint(name);
    const { query, body } = validRequests[name](own);
    const spoilt = { [field]: value };
    const answer = await world.call(
      'admin',
      endpoint.method,
      pathWith(endpoint, endpoint.body ? query : (changed({ ...query }, spoilt) as Record<string, string>)),
      endpoint.body ? changed(body as object, spoilt) : undefined,
    );
    await expectHarmless(answer, invalid);
    const named = namedIn(answer).map((name) => name.split('.')[0]);
    expect(named.some((name) => name === field || name === contradicted[field])).toBe(true);
  });

  it.each(badBodies)('is refused: %s', async (_, body) => {
    await expectHarmless(await post('/customer', body, { 'Content-Type': 'application/json' }), invalid);
  });

  it.each(badTypes)('is refused: JSON of content type %s', async (type) => {
    const headers: Record<string, string> = type === undefined ? {} : { 'Content-Type': type };
    await expectHarmless(await post('/customer', bytes('{"name":"Acme"}'), headers), invalid);
  });

  it('is refused: customerId together with newCustomer, even an empty one', async () => {
    const { productId, customerId } = own;
    for (const newCustomer of [{ name: 'Acme' }, {}]) {
      const body = { productId, customerId, newCustomer };
      await expectHarmless(await world.call('admin', 'POST', '/create-key', body), invalid);
    }
  });

  it.each(Object.entries(namesOnCreate))('is refused: %s of a new key, by its name there: %s', async (name, here) => {
    for (const value of [5, null]) {
      const answer = await world.call('admin', 'POST', '/create-key', { productId: own.productId, [name]: value });
      const message = `${name}: unknown field${here === null ? '' : `; here: ${here}`}`;
      await expectHarmless(answer, { status: 400, body: { message, code: 1 } });
      expect(namedIn(answer)).toEqual([name]);
    }
  });

  it.each(['keys.create', 'keys.import', 'keys.update'] as const)(
    'is refused by %s, whose licence it would limit: a field that only others have',
    async (name) => {
      const { query, body } = validRequests[name](own);
      const field = name === 'keys.create' ? 'maxActivations' : 'usesPerKey';
      const endpoint = findEndpoint(name);
      const spoilt = { ...(body as object), [field]: '5' };
      const answer = await world.call('admin', endpoint.method, pathWith(endpoint, query), spoilt);
      expect({ status: answer.status, named: namedIn(answer) }).toEqual({ status: 400, named: [field] });
    },
  );

  it.each(['customer', 'product', 'webhook'] as const)(
    'is taken: a whole %s, sent back as it was read',
    async (resource) => {
      const path = `/${resource}/by-id?${resource}Id=${own[`${resource}Id`]}`;
      const read = await world.call('admin', 'GET', path);
      const written = await world.call('admin', 'PUT', path, read.body.data);
      expect(written.status, JSON.stringify(written.body)).toBe(200);
      expect((await world.call('admin', 'GET', path)).body.data).toEqual(read.body.data);
    },
  );

  it.each([
    (ids: Belongings) => `/key?productId=${ids.productId}&licenseKey=${ids.licenseKey}&productId=${ids.productId}`,
    (ids: Belongings) => `/key?productId=${ids.productId}&licenseKey=${ids.licenseKey}&x=1&x=2`,
    (ids: Belongings) => `/key?productId=${ids.productId}&licenseKey=${ids.licenseKey}&license%4bey=${ids.licenseKey}`,
    (ids: Belongings) => `/product/by-id?productId[]=${ids.productId}`,
  ])('is refused: a query parameter that is repeated or not quite its name (%#)', async (path) => {
    await expectHarmless(await world.call('admin', 'GET', path(own)), invalid);
  });

  it('is refused: a repeated customerId, so that no customer is deleted by the second one', async () => {
    const path = `/customer/by-id?customerId=cus_absent&customerId=${own.customerId}`;
    await expectHarmless(await world.call('admin', 'DELETE', path), invalid);
  });

  it('is refused: a body of 2 MiB whose length is announced', async () => {
    const body = bytes(JSON.stringify({ name: 'n'.repeat(2 * MIB) }));
    const headers = { 'Content-Type': 'application/json', 'Content-Length': String(body.length) };
    await expectHarmless(await post('/customer', body, headers), tooLarge);
  });

  it('is refused: a body that is announced as 2 MiB, before any of it is read', async () => {
    const never = new ReadableStream({ pull: () => new Promise<void>(() => {}) });
    const headers = { Authorization, 'Content-Type': 'application/json', 'Content-Length': String(2 * MIB) };
    const init = { method: 'POST', body: never, duplex: 'half', headers } as const;
    await expectHarmless(await world.send('/customer', init), tooLarge);
  });

  it('is refused: a body without an end, as soon as it is over 1 MiB', async () => {
    let sent = 0;
    const endless = new ReadableStream({
      pull: (controller) => {
        sent += 65_536;
        controller.enqueue(new Uint8Array(65_536).fill(0x20));
      },
    });
    const headers = { Authorization, 'Content-Type': 'application/json' };
    const answer = await world.send('/customer', { method: 'POST', body: endless, duplex: 'half', headers });
    await expectHarmless(answer, tooLarge);
    expect(sent).toBeLessThan(1.5 * MIB);
  });

  it.each(unknownPaths)('is not found: %s', async (path) => {
    await expectHarmless(await world.call('admin', 'POST', path, { name: 'Acme' }), notFound);
  });

  it.each(wrongMethods)('is not allowed: %s %s, only %s', async (method, path, allow) => {
    const answer = await world.call('admin', method, path);
    await expectHarmless(answer, notAllowed);
    expect(answer.headers.allow).toBe(allow);
  });
});

describe('input at the edge of what is allowed', () => {
  const body = '{"name":"Acme"}';

  it.each([
    ['a body of exactly 1 MiB', bytes(body.padEnd(MIB)), 'application/json'],
    ['JSON of 32 levels', bytes(`{"name":"Acme","x":${'['.repeat(31)}${']'.repeat(31)}}`), 'application/json'],
    ['brackets in a string', bytes(JSON.stringify({ name: 'Acme', x: `\\"${'['.repeat(100)}` })), 'application/json'],
    [
      'members named like those of every object',
      bytes('{"name":"Acme","toString":1,"constructor":2}'),
      'application/json',
    ],
    ['white space around the JSON', bytes(`\r\n\t ${body} \n`), 'application/json'],
    ['a byte order mark, which RFC 8259 §8.1 lets a parser ignore', bytes(`\ufeff${body}`), 'application/json'],
    ['a charset', bytes(body), 'application/json; charset=utf-8'],
    ['a content type in capitals', bytes(body), 'Application/JSON'],
    ['a space before the parameters', bytes(body), 'application/json ;charset=utf-8'],
  ])('is taken: %s', async (_, content, type) => {
    await using world = await createWorld();
    const headers = { Authorization: `Bearer ${await world.tokenOf('admin')}`, 'Content-Type': type };
    const answer = await world.send('/customer', { method: 'POST', headers, body: content });
    expect({ status: answer.status, name: answer.body.data.name }).toEqual({ status: 201, name: 'Acme' });
  });

  it('is refused at one byte more than 1 MiB', async ({ world }) => {
    const headers = { Authorization: `Bearer ${await world.tokenOf('admin')}`, 'Content-Type': 'application/json' };
    const answer = await world.send('/customer', { method: 'POST', headers, body: bytes(body.padEnd(MIB + 1)) });
    expect({ status: answer.status, body: answer.body }).toEqual(tooLarge);
  });

  it('keeps any text that is no control character: combining, right to left, beyond the first plane', async ({
    world,
  }) => {
    const name = 'Zoe\u0308 \u05d0\u202e \u{1f512} \u00a0\ufeff\u2028';
    const created = await world.customer({ name });
    expect(created.name).toBe(name);
    expect((await world.call('admin', 'GET', '/customer')).body.data).toEqual([created]);
  });
});

/** The fields that the service says are wrong. */
function namedIn({ headers }: Answer): readonly string[] {
  return (headers['lkm-invalid-fields'] ?? '').split(', ').map(decodeURIComponent);
}

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** An object with one member changed, or left out. */
function changed(object: object, change: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries({ ...object, ...change }).filter(([, value]) => value !== LEFT_OUT));
}

/** A value as a title shows it. */
function show(value: unknown): string {
  if (value === LEFT_OUT) return 'left out';
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 20)}… of ${text.length} characters` : text;
}
