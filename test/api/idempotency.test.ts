import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { engines } from '../support/engines.ts';
import { type As, createWorld, type Parsed, type World } from '../support/world.ts';
import { type Serving, startServing } from './serving.ts';

// The table of cases, over HTTP against `lkm serve` as it is built: one server for the tests of an engine, which begins
// each with empty tables.

/** A request as it goes over the wire: without a body of its own one that issues a key for the product. */
interface Ask {
  readonly method?: string;
  readonly path?: string;
  /** The body's exact text. */
  readonly body?: string;
  /** Header lines, in order; a name may stand on several. */
  readonly headers?: readonly Line[];
  /** An admin unless it says otherwise. */
  readonly as?: As;
}

interface Heard {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly replayed: boolean;
  readonly retryAfter: string | undefined;
  readonly text: string;
}

type Line = readonly [name: string, value: string];
const key = (value: string): Line => ['Idempotency-Key', value];
const other = (value: string): Line => ['X-Idempotency-Key', value];
const keyed = (value: string): Ask => ({ headers: [key(value)] });

const writer: As = { scopes: ['license:write'] };
const issuer: As = { scopes: ['license:write'], maxIssues: 1 };

const refused = (status: number, code: number) => ({ status, code });

/** What is stored cannot be read: whether the request was run is not known. */
const unreadable = refused(503, 1);

const codeOf = ({ status, text }: Heard) => ({ status, code: JSON.parse(text).code });

async function send(url: string, method: string, body: string, lines: readonly Line[]): Promise<Heard> {
  const headers = [
    ['Host', new URL(url).host],
    ['Content-Type', 'application/json'],
    ['Content-Length', String(Buffer.byteLength(body))],
    ...lines,
  ].flat();
  const request = httpRequest(url, { method, headers, agent: false }).end(body);
  const [response]: IncomingMessage[] = await once(request, 'response');
  return {
    status: response?.statusCode ?? 0,
    contentType: response?.headers['content-type'],
    replayed: response?.headers['idempotency-replayed'] === 'true',
    retryAfter: response?.headers['retry-after'],
    text: response === undefined ? '' : await text(response),
  };
}

describe.each(engines)('an idempotency key on $name', (engine) => {
  let world: World;
  let server: Serving;
  let productId: string;

  async function ask({ method = 'POST', path = '/create-key', body, headers = [], as = 'admin' }: Ask): Promise<Heard> {
    const text = body ?? (method === 'POST' ? JSON.stringify({ productId }) : '');
    const authorization: Line = ['Authorization', `Bearer ${await world.tokenOf(as)}`];
    return send(server.url + path, method, text, [authorization, ...headers]);
  }

  /** Sends something as an admin that must succeed, and reads the answer. */
  async function prepare(path: string, body: object): Promise<Parsed> {
    const answer = await ask({ path, body: JSON.stringify(body) });
    expect(answer.status).toBeLessThan(300);
    return JSON.parse(answer.text);
  }

  const licenses = async () => (await world.contents()).licenses?.length;

  beforeAll(async () => {
    world = await createWorld({ engine });
    for (const as of ['admin', 'other admin', writer, issuer] as const) await world.tokenOf(as);
    await world.store.close();
    server = await startServing(world.location);
  });
  beforeEach(async () => {
    for (const table of ['idempotency', 'devices', 'licenses', 'customers', 'products'])
      await world.sql(`delete from ${table}`);
    productId = (await prepare('/product', { name: 'Editor' })).data.id;
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await world[Symbol.asyncDispose]();
  });

  it('replays status, body and content type, byte for byte, and issues one key', async () => {
    const first = await ask(keyed('k'));
    expect(first).toMatchObject({ status: 200, contentType: 'application/json', replayed: false });
    expect(await ask(keyed('k'))).toEqual({ ...first, replayed: true });
    expect(await licenses()).toBe(1);
  });

  it.each([
    ['under the other name on the retry', [other('k')], 'k', 1],
    ['under both names, equal', [key('k'), other('k')], 'k', 1],
    ['on two lines, equal', [key('k'), key('k')], 'k', 1],
    ['255 characters long', [key('k'.repeat(255))], 'k'.repeat(255), 1],
    ['with spaces and a comma in it', [key('a, b c')], 'a, b c', 1],
    ['in another case', [key('K')], 'k', 2],
  ])('is taken %s', async (_, headers, again, effects) => {
    expect((await ask({ headers })).status).toBe(200);
    expect((await ask(keyed(again))).status).toBe(200);
    expect(await licenses()).toBe(effects);
  });

  it.each([
    ['under both names, different', [key('a'), other('b')]],
    ['on two lines, different', [key('a'), key('b')]],
    ['empty', [key('')]],
    ['blank', [key('   ')]],
    ['256 characters long', [key('k'.repeat(256))]],
    ['with a tab in it', [key('a\tb')]],
    ['not ASCII', [key('caf\u00e9')]],
  ])('is refused %s', async (_, headers) => {
    expect(codeOf(await ask({ headers }))).toEqual(refused(400, 5));
    expect(await licenses()).toBe(0);
  });

  it('is ignored on a read, even malformed', async () => {
    const read = { method: 'GET', path: '/customer', headers: [key('')] };
    expect((await ask(read)).status).toBe(200);
  });

  it.each<[string, (productId: string) => Ask]>([
    ['path', () => ({ path: '/deactivate-key' })],
    ['query', () => ({ path: '/create-key?note=1' })],
    ['white space', (productId) => ({ body: `{"productId": "${productId}"}` })],
    ['field', (productId) => ({ body: `{"productId":"${productId}","usesPerKey":"1"}` })],
  ])('is refused on a request of another %s', async (_, change) => {
    await ask(keyed('k'));
    expect(codeOf(await ask({ ...change(productId), ...keyed('k') }))).toEqual(refused(400, 3));
    expect(await licenses()).toBe(1);
  });

  it('is refused on a request of another method with the same body', async () => {
    const { data } = await prepare('/customer', { name: 'Zoë' });
    const renaming = { path: `/customer/by-id?customerId=${data.id}`, body: '{"name":"a"}', ...keyed('k') };
    expect((await ask({ method: 'PUT', ...renaming })).status).toBe(200);
    expect(codeOf(await ask({ method: 'DELETE', ...renaming }))).toEqual(refused(400, 3));
  });

  it('takes independent query parameters in any order and any spelling, repeated ones in theirs', async () => {
    const first = await ask({ path: '/create-key?a=1&b=A&c=1&c=2', ...keyed('k') });
    expect(await ask({ path: '/create-key?c=1&b=%41&c=2&a=1', ...keyed('k') })).toEqual({ ...first, replayed: true });
    expect(codeOf(await ask({ path: '/create-key?a=1&b=A&c=2&c=1', ...keyed('k') }))).toEqual(refused(400, 3));
  });

  it('runs once, however many ask at once; afterwards all get the same', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask(keyed('k'))));
    const good = answers.filter(({ status }) => status === 200);
    expect(new Set(good.map(({ text }) => text)).size).toBe(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expect({ ...codeOf(answer), retryAfter: answer.retryAfter }).toEqual({ ...refused(409, 3), retryAfter: '1' });
    }
    expect(await ask(keyed('k'))).toMatchObject({ replayed: true, text: good[0]?.text });
    expect(await licenses()).toBe(1);
  });

  it('belongs to the account: another token replays, another account does not', async () => {
    const first = await ask(keyed('k'));
    expect(await ask({ ...keyed('k'), as: writer })).toEqual({ ...first, replayed: true });
    const elsewhere = await ask({ ...keyed('k'), as: 'other admin' });
    expect(elsewhere).toMatchObject({ status: 404, replayed: false });
  });

  it('replays a refusal that would no longer be given; a new key runs', async () => {
    const path = `/product/by-id?productId=${productId}`;
    await ask({ method: 'PUT', path, body: '{"active":false}' });
    const first = await ask(keyed('k'));
    expect(codeOf(first)).toEqual(refused(404, 1));
    await ask({ method: 'PUT', path, body: '{"active":true}' });
    expect(await ask(keyed('k'))).toEqual({ ...first, replayed: true });
    expect((await ask(keyed('new'))).status).toBe(200);
  });

  it('undoes what the request had done before it was refused', async () => {
    const body = `{"productId":"${productId}","customerId":"cus_unknown"}`;
    expect(codeOf(await ask({ body, as: issuer, ...keyed('k') }))).toEqual(refused(404, 2));
    expect((await ask({ as: issuer, ...keyed('new') })).status).toBe(200);
  });

  it.each<[string, string, { status: number; code: number }]>([
    ['of an earlier form', 'fingerprint_version = 0', refused(400, 4)],
    ['without a response', 'sealed_response = null', refused(409, 4)],
    ['in progress', `state = 'in_progress', sealed_response = null`, refused(409, 3)],
    [
      'whose response was changed',
      `sealed_response = replace(sealed_response, substr(sealed_response, 20, 3), 'AAA')`,
      unreadable,
    ],
    ['whose response is not sealed', `sealed_response = '{"code":0}'`, unreadable],
    ['that is said to be of another token', `token_id = 'tok_other'`, unreadable],
  ])('is not run again beside a record %s', async (_, change, refusal) => {
    await ask(keyed('k'));
    await world.sql(`update idempotency set ${change}`);
    const answer = await ask(keyed('k'));
    expect(codeOf(answer)).toEqual(refusal);
    expect(answer.retryAfter).toBe([3, 1].includes(refusal.code) ? '1' : undefined);
    expect(await licenses()).toBe(1);
  });

  it('is refused with 503 when the stored response is that of another record', async () => {
    await ask(keyed('a'));
    await ask(keyed('b'));
    const responses = 'select min(sealed_response) from idempotency';
    await world.sql(`update idempotency set sealed_response = (${responses})`);
    const codes = [codeOf(await ask(keyed('a'))), codeOf(await ask(keyed('b')))];
    expect(codes.filter(({ status }) => status === 503)).toEqual([refused(503, 1)]);
    expect(await licenses()).toBe(2);
  });

  it('is answered 503 and not run while its record cannot be kept; without one the service fails', async () => {
    await world.breakTable('idempotency');
    const answer = await ask(keyed('k'));
    expect({ ...codeOf(answer), retryAfter: answer.retryAfter }).toEqual({ ...refused(503, 1), retryAfter: '1' });
    await world.breakTable('licenses');
    expect(codeOf(await ask({}))).toEqual(refused(500, 1));
    await world.sql('alter table licenses_gone rename to licenses');
    expect(await licenses()).toBe(0);
    await world.sql('alter table idempotency_gone rename to idempotency');
    expect(await ask(keyed('k'))).toMatchObject({ status: 200, replayed: false });
  });

  it('undoes the mutation when the answer cannot be stored', async () => {
    await world.sql('alter table idempotency rename column sealed_response to text');
    const answer = await ask(keyed('k'));
    await world.sql('alter table idempotency rename column text to sealed_response');
    expect(codeOf(answer)).toEqual(refused(503, 1));
    expect(await licenses()).toBe(0);
  });
});

it('runs after a limit that was met: a 429 leaves nothing under the key', async () => {
  await using world = await createWorld({ perMinute: 1 });
  const body = { name: 'Zoë' };
  const headers = { 'Idempotency-Key': 'k' };
  expect((await world.call('admin', 'GET', '/customer')).status).toBe(200);
  expect((await world.call('admin', 'POST', '/customer', body, headers)).status).toBe(429);
  expect((await world.contents()).idempotency).toEqual([]);
});
