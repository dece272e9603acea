import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest';
import { engines } from '../support/engines.ts';
import { test as it } from '../support/fixtures.ts';
import { type Belongings, furnish } from '../support/requests.ts';
import { type Answer, createWorld, type World } from '../support/world.ts';

const invalid = { status: 400, body: { message: expect.stringMatching(/^Missing required params/), code: 1 } };
const tooLarge = { status: 413, body: { message: 'Request body too large', code: 1 } };
const notFound = { status: 404, body: { message: 'Not found', code: 1 } };
const notAllowed = { status: 405, body: { message: 'Method not allowed', code: 1 } };

const MIB = 1_048_576;

/** Bodies of POST /customer that are no JSON object that it takes. */
const badBodies: Readonly<Record<string, Uint8Array<ArrayBuffer> | undefined>> = {
  'no body': undefined,
  'an empty body': bytes(''),
  'white space': bytes(' \n'),
  null: bytes('null'),
  'an array': bytes('[{"name":"Acme"}]'),
  'a string': bytes('"Acme"'),
  'broken JSON': bytes('{"name":"Acme"'),
  'arrays 100 000 levels deep': bytes(`{"name":"Acme","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`),
  'objects 100 000 levels deep': bytes(`${'{"x":'.repeat(100_000)}1${'}'.repeat(100_000)}`),
  '100 000 brackets that are never closed': bytes('['.repeat(100_000)),
  __proto__: bytes('{"name":"Acme","__proto__":{"email":"a@b.example"}}'),
  '__proto__ in escapes': bytes('{"name":"Acme","\\u005f_proto__":{}}'),
  '__proto__ further down': bytes('{"name":"Acme","x":[{"__proto__":null}]}'),
  'constructor.prototype': bytes('{"name":"Acme","constructor":{"prototype":{}}}'),
  'invalid UTF-8': Buffer.from([...Buffer.from('{"name":"'), 0xc3, 0x28, ...Buffer.from('"}')]),
  'an overlong encoding': Buffer.from([...Buffer.from('{"name":"'), 0xc1, 0x81, ...Buffer.from('"}')]),
};

const badTypes = [
  ...[undefined, '', 'text/plain', 'application/x-www-form-urlencoded', 'application/jsonp'],
  ...['application/json-patch+json', 'application/json, text/plain', 'json'],
];

const unknownPaths = [
  ...['/nothing', '/create-key/', '//create-key', '/Create-Key', '/create-key/x'],
  ...['/key/sign/../../create-key/x', '/customer/by-id/1', '/constructor', '/__proto__'],
];

const wrongMethods = [
  ['GET', '/create-key', 'POST'],
  ['PUT', '/key', 'GET, POST, PATCH, DELETE'],
  ['POST', '/customer/by-id', 'GET, PUT, DELETE'],
  ['OPTIONS', '/token/self', 'GET'],
  ['POST', '/.well-known/jwks.json', 'GET'],
] as const;

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

  const post = (body: Uint8Array<ArrayBuffer> | undefined, headers: Record<string, string>) =>
    world.send('/customer', { method: 'POST', headers: { Authorization, ...headers }, ...(body && { body }) });

  it.each(Object.entries(badBodies))('is refused: %s', async (_, body) => {
    await expectHarmless(await post(body, { 'Content-Type': 'application/json' }), invalid);
  });

  it.each(badTypes)('is refused: JSON of content type %s', async (type) => {
    await expectHarmless(
      await post(bytes('{"name":"Acme"}'), type === undefined ? {} : { 'Content-Type': type }),
      invalid,
    );
  });

  it('is refused: a query parameter that is repeated or not quite its name', async () => {
    const key = `/key?productId=${own.productId}&licenseKey=${own.licenseKey}`;
    for (const more of [`productId=${own.productId}`, 'x=1&x=2', `license%4bey=${own.licenseKey}`])
      await expectHarmless(await world.call('admin', 'GET', `${key}&${more}`), invalid);
    await expectHarmless(await world.call('admin', 'GET', `/product/by-id?productId[]=${own.productId}`), invalid);
    // So that no customer is deleted by the second one.
    const path = `/customer/by-id?customerId=cus_absent&customerId=${own.customerId}`;
    await expectHarmless(await world.call('admin', 'DELETE', path), invalid);
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

  it('is taken, and refused at one byte more than 1 MiB', async ({ world }) => {
    const send = async (content: string, type = 'application/json') => {
      const headers = { Authorization: `Bearer ${await world.tokenOf('admin')}`, 'Content-Type': type };
      return (await world.send('/customer', { method: 'POST', headers, body: bytes(content) })).status;
    };
    for (const content of [
      body.padEnd(MIB),
      `{"name":"Acme","x":${'['.repeat(31)}${']'.repeat(31)}}`,
      JSON.stringify({ name: 'Acme', x: `\\"${'['.repeat(100)}` }),
      '{"name":"Acme","toString":1,"constructor":2}',
      // RFC 8259 §8.1 lets a parser ignore a byte order mark.
      `\ufeff${body}`,
    ])
      expect(await send(content), content.slice(0, 50)).toBe(201);
    for (const type of ['application/json; charset=utf-8', 'Application/JSON', 'application/json ;charset=utf-8'])
      expect(await send(body, type), type).toBe(201);
    expect(await send(body.padEnd(MIB + 1))).toBe(413);
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

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
