import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { engines } from '../support/engines.ts';
import { type Serving, startServing } from '../support/serving.ts';
import { createWorld, type Parsed, type Rights, type World } from '../support/world.ts';

// The table of cases, over HTTP against `lkm serve` as it is built: one server for the tests of an engine, which begins
// each with empty tables.

/** A request as it goes over the wire. */
interface Ask {
  readonly method?: string;
  readonly path?: string;
  /** The body's exact text. */
  readonly body?: string;
  /** Header lines, in order; a name may stand on several. */
  readonly headers?: readonly Line[];
  /** An admin unless it says otherwise. */
  readonly as?: (typeof roles)[number] | Rights | { readonly token: string };
}

const roles = ['admin', 'other admin', 'read-only'] as const;

interface Heard {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly replayed: boolean;
  readonly retryAfter: string | undefined;
  readonly text: string;
}

/** A server, and its database behind its back. */
interface Stage {
  readonly productId: string;
  /** Sends a request; without a body of its own one that issues a key for the product. */
  ask(ask: Ask): Promise<Heard>;
  /** Sends something as an admin that must succeed, and reads the answer. */
  prepare(path: string, body: object): Promise<Parsed>;
  /** The number of licences. */
  licenses(): Promise<number>;
  sql(text: string): Promise<void>;
  /** Makes every statement on the table fail until it is mended. */
  breakTable(table: string): Promise<void>;
  mendTable(table: string): Promise<void>;
}

type Line = readonly [name: string, value: string];
const key = (value: string): Line => ['Idempotency-Key', value];
const other = (value: string): Line => ['X-Idempotency-Key', value];
const keyed = (value: string): Ask => ({ headers: [key(value)] });

const refused = (status: number, code: number) => ({ status, code });

const codeOf = ({ status, text }: Heard) => ({ status, code: JSON.parse(text).code });

/** Empty tables on a server that runs, and a product in them. */
async function setStage(world: World, { url }: Serving): Promise<Stage> {
  let productId = '';

  async function ask({ method = 'POST', path = '/create-key', body, headers = [], as = 'admin' }: Ask): Promise<Heard> {
    const text = body ?? (method === 'POST' ? JSON.stringify({ productId }) : '');
    return send(url + path, method, text, [['Authorization', `Bearer ${await tokenOf(as)}`], ...headers]);
  }

  async function prepare(path: string, body: object): Promise<Parsed> {
    const answer = await ask({ path, body: JSON.stringify(body) });
    if (answer.status >= 300) throw new Error(`${path} answered ${answer.status} ${answer.text}`);
    return JSON.parse(answer.text);
  }

  async function tokenOf(as: NonNullable<Ask['as']>): Promise<string> {
    if (typeof as === 'string') return (await world.tokenOf(as)) ?? '';
    if ('token' in as) return as.token;
    return (await prepare('/token', { name: 'made by the test', kind: 'scoped', ...as })).data.token;
  }

  for (const table of ['idempotency', 'devices', 'licenses', 'customers', 'products']) {
    await world.sql(`delete from ${table}`);
  }
  productId = (await prepare('/product', { name: 'Editor' })).data.id;
  return {
    productId,
    ask,
    prepare,
    licenses: async () => (await world.contents()).licenses?.length ?? 0,
    sql: world.sql,
    breakTable: world.breakTable,
    mendTable: (table) => world.sql(`alter table ${table}_gone rename to ${table}`),
  };
}

function send(url: string, method: string, body: string, lines: readonly Line[]): Promise<Heard> {
  const headers = [
    ['Host', new URL(url).host],
    ['Content-Type', 'application/json'],
    ['Content-Length', String(Buffer.byteLength(body))],
    ...lines,
  ].flat();
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          contentType: response.headers['content-type'],
          replayed: response.headers['idempotency-replayed'] === 'true',
          retryAfter: response.headers['retry-after'],
          text: Buffer.concat(chunks).toString(),
        }),
      );
    });
    request.on('error', reject);
    request.end(body);
  });
}

describe.each(engines)('an idempotency key on $name', (engine) => {
  let world: World;
  let server: Serving;
  let stage: Stage;

  beforeAll(async () => {
    world = await createWorld({ engine });
    for (const role of roles) await world.tokenOf(role);
    await world.store.close();
    server = await startServing(world.location);
  });
  beforeEach(async () => {
    stage = await setStage(world, server);
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await world[Symbol.asyncDispose]();
  });

  it('replays status, body and content type, byte for byte, and issues one key', async () => {
    const first = await stage.ask(keyed('k'));
    expect(first).toMatchObject({ status: 200, contentType: 'application/json', replayed: false });
    expect(await stage.ask(keyed('k'))).toEqual({ ...first, replayed: true });
    expect(await stage.licenses()).toBe(1);
  });

  it('replays a signed file and a status of 201 as they were', async () => {
    const { key: licenseKey } = await stage.prepare('/create-key', { productId: stage.productId, usesPerKey: '1' });
    const body = JSON.stringify({ productId: stage.productId, licenseKey, hostId: 'h1' });
    const signed = await stage.ask({ path: '/key/sign', body, ...keyed('sign') });
    expect(await stage.ask({ path: '/key/sign', body, ...keyed('sign') })).toEqual({ ...signed, replayed: true });
    const made = await stage.ask({ path: '/customer', body: '{"name":"Zoë"}', ...keyed('customer') });
    expect(made.status).toBe(201);
    expect(await stage.ask({ path: '/customer', body: '{"name":"Zoë"}', ...keyed('customer') })).toEqual({
      ...made,
      replayed: true,
    });
  });

  it('runs each request that carries none', async () => {
    await stage.ask({});
    await stage.ask({});
    expect(await stage.licenses()).toBe(2);
  });

  describe('in the headers', () => {
    it.each([
      ['under the other name on the retry', [other('k')], 'k', 1],
      ['under both names, equal', [key('k'), other('k')], 'k', 1],
      ['on two lines, equal', [key('k'), key('k')], 'k', 1],
      ['255 characters long', [key('k'.repeat(255))], 'k'.repeat(255), 1],
      ['with spaces and a comma in it', [key('a, b c')], 'a, b c', 1],
      ['in another case', [key('K')], 'k', 2],
    ])('is taken %s', async (_, headers, again, effects) => {
      expect((await stage.ask({ headers })).status).toBe(200);
      expect((await stage.ask(keyed(again))).status).toBe(200);
      expect(await stage.licenses()).toBe(effects);
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
      expect(codeOf(await stage.ask({ headers }))).toEqual(refused(400, 5));
      expect(await stage.licenses()).toBe(0);
    });

    it('is ignored on a read, even malformed', async () => {
      const read = { method: 'GET', path: '/customer', headers: [key('')] };
      expect((await stage.ask(read)).status).toBe(200);
    });
  });

  describe('on another request', () => {
    it.each<[string, (stage: Stage) => Ask]>([
      ['method', () => ({ method: 'DELETE', path: '/create-key' })],
      ['path', () => ({ path: '/deactivate-key' })],
      ['query', () => ({ path: '/create-key?note=1' })],
      ['white space in the body', ({ productId }) => ({ body: `{"productId": "${productId}"}` })],
      ['field', ({ productId }) => ({ body: `{"productId":"${productId}","usesPerKey":"1"}` })],
    ])('of another %s is refused', async (what, change) => {
      await stage.ask(keyed('k'));
      const answer = await stage.ask({ ...change(stage), ...keyed('k') });
      // A method that the path does not know is refused before any key is looked at.
      expect(codeOf(answer)).toEqual(what === 'method' ? refused(405, 1) : refused(400, 3));
      expect(await stage.licenses()).toBe(1);
    });

    it('of another method on the same path is refused', async () => {
      const path = `/product/by-id?productId=${stage.productId}`;
      const renamed = await stage.ask({ method: 'PUT', path, body: '{"name":"a"}', ...keyed('k') });
      expect(renamed.status).toBe(200);
      expect(
        codeOf(await stage.ask({ method: 'POST', path: '/product', body: '{"name":"a"}', ...keyed('k') })),
      ).toEqual(refused(400, 3));
    });

    it('takes independent query parameters in any order and any spelling, repeated ones in theirs', async () => {
      const first = await stage.ask({ path: '/create-key?a=1&b=A&c=1&c=2', ...keyed('k') });
      expect(await stage.ask({ path: '/create-key?c=1&b=%41&c=2&a=1', ...keyed('k') })).toEqual({
        ...first,
        replayed: true,
      });
      expect(codeOf(await stage.ask({ path: '/create-key?a=1&b=A&c=2&c=1', ...keyed('k') }))).toEqual(refused(400, 3));
    });

    it('does not look at other headers', async () => {
      await stage.ask(keyed('k'));
      const again = await stage.ask({
        headers: [key('k'), ['Accept', 'text/html'], ['X-Trace', '1']],
      });
      expect(again.replayed).toBe(true);
    });
  });

  it('runs once, however many ask at once; afterwards all get the same', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => stage.ask(keyed('k'))));
    const good = answers.filter(({ status }) => status === 200);
    expect(new Set(good.map(({ text }) => text)).size).toBe(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expect({ ...codeOf(answer), retryAfter: answer.retryAfter }).toEqual({ ...refused(409, 3), retryAfter: '1' });
    }
    expect(await stage.ask(keyed('k'))).toMatchObject({ replayed: true, text: good[0]?.text });
    expect(await stage.licenses()).toBe(1);
  });

  it('belongs to the account: another token replays, another account does not', async () => {
    const first = await stage.ask(keyed('k'));
    const writer = { scopes: ['license:write'] } as const;
    expect(await stage.ask({ ...keyed('k'), as: writer })).toEqual({ ...first, replayed: true });
    const elsewhere = await stage.ask({ ...keyed('k'), as: 'other admin' });
    expect(elsewhere).toMatchObject({ status: 404, replayed: false });
  });

  it('gives nothing to a token that may not ask', async () => {
    await stage.ask(keyed('k'));
    expect(codeOf(await stage.ask({ ...keyed('k'), as: 'read-only' }))).toEqual(refused(403, 1));
    expect(codeOf(await stage.ask({ ...keyed('k'), as: { token: 'lkm_admin_unknown' } }))).toEqual(refused(401, 1));
    const { id } = (await stage.prepare('/product', { name: 'Viewer' })).data;
    const elsewhere = { scopes: ['license:write'], productIds: [id] } as const;
    expect(await stage.ask({ ...keyed('k'), as: elsewhere })).toMatchObject({ status: 404, replayed: false });
  });

  it('gives no token to one that could not have made it', async () => {
    const mint = { path: '/token', body: '{"name":"a","kind":"admin"}', ...keyed('k') };
    expect((await stage.ask(mint)).status).toBe(201);
    expect(codeOf(await stage.ask({ ...mint, as: { scopes: ['token:write'] } }))).toEqual(refused(403, 1));
    expect(await stage.ask(mint)).toMatchObject({ status: 201, replayed: true });
  });

  describe('on a refusal', () => {
    it('replays one of validation, and refuses the corrected request', async () => {
      const wrong = { body: '{"productId":"short"}', ...keyed('k') };
      const first = await stage.ask(wrong);
      expect(codeOf(first)).toEqual(refused(400, 1));
      expect(await stage.ask(wrong)).toEqual({ ...first, replayed: true });
      expect(codeOf(await stage.ask(keyed('k')))).toEqual(refused(400, 3));
    });

    it('replays one that would no longer be given; a new key runs', async () => {
      const path = `/product/by-id?productId=${stage.productId}`;
      await stage.ask({ method: 'PUT', path, body: '{"active":false}' });
      const first = await stage.ask(keyed('k'));
      expect(codeOf(first)).toEqual(refused(404, 1));
      await stage.ask({ method: 'PUT', path, body: '{"active":true}' });
      expect(await stage.ask(keyed('k'))).toEqual({ ...first, replayed: true });
      expect((await stage.ask(keyed('new'))).status).toBe(200);
    });

    it('keeps the record of a taken e-mail address, and nothing else of the request', async () => {
      await stage.prepare('/customer', { name: 'Zoë', email: 'zoe@example.com' });
      const body = `{"productId":"${stage.productId}","newCustomer":{"name":"Zoe","email":"ZOE@example.com"}}`;
      const first = await stage.ask({ body, ...keyed('k') });
      expect(codeOf(first)).toEqual(refused(409, 2));
      expect(await stage.ask({ body, ...keyed('k') })).toEqual({ ...first, replayed: true });
      expect(await stage.licenses()).toBe(0);
    });

    it('undoes what the request had done before it was refused', async () => {
      const body = `{"productId":"${stage.productId}","customerId":"cus_unknown"}`;
      const as = { scopes: ['license:write'], maxIssues: 1 } as const;
      expect(codeOf(await stage.ask({ body, as, ...keyed('k') }))).toEqual(refused(404, 2));
      expect((await stage.ask({ as, ...keyed('new') })).status).toBe(200);
    });
  });

  it('replays the removal of a customer whose answer was lost', async () => {
    const { id } = (await stage.prepare('/customer', { name: 'Zoë' })).data;
    const remove = { method: 'DELETE', path: `/customer/by-id?customerId=${id}`, ...keyed('k') };
    const first = await stage.ask(remove);
    expect(first.status).toBe(200);
    expect(await stage.ask(remove)).toEqual({ ...first, replayed: true });
  });

  describe('of a record from elsewhere', () => {
    it.each<[string, string, { status: number; code: number }]>([
      ['of an earlier form', 'fingerprint_version = 0', refused(400, 4)],
      ['without an answer', 'sealed_response = null', refused(409, 4)],
      ['in progress', `state = 'in_progress', sealed_response = null`, refused(409, 3)],
    ])('%s is not run again', async (_, change, answer) => {
      await stage.ask(keyed('k'));
      await stage.sql(`update idempotency set ${change}`);
      expect(codeOf(await stage.ask(keyed('k')))).toEqual(answer);
      expect(await stage.licenses()).toBe(1);
    });
  });

  it.each([
    ['was changed', "sealed_response = replace(sealed_response, substr(sealed_response, 20, 3), 'AAA')"],
    ['was cut', 'sealed_response = substr(sealed_response, 1, 60)'],
    ['is of a later version', `sealed_response = 'Ag' || substr(sealed_response, 3)`],
    ['is not sealed', `sealed_response = '{"code":0}'`],
    ['is empty', `sealed_response = ''`],
    ['is said to be of another token', `token_id = 'tok_other'`],
  ])('is refused with 503 and not run again when the stored response %s', async (_, change) => {
    await stage.ask(keyed('k'));
    await stage.sql(`update idempotency set ${change}`);
    const refusal = await stage.ask(keyed('k'));
    expect({ ...codeOf(refusal), retryAfter: refusal.retryAfter }).toEqual({ ...refused(503, 1), retryAfter: '1' });
    expect(await stage.licenses()).toBe(1);
  });

  it('is refused with 503 when the stored response is that of another record', async () => {
    await stage.ask(keyed('a'));
    await stage.ask(keyed('b'));
    const responses = 'select min(sealed_response) from idempotency';
    await stage.sql(`update idempotency set sealed_response = (${responses})`);
    const codes = [codeOf(await stage.ask(keyed('a'))), codeOf(await stage.ask(keyed('b')))];
    expect(codes.filter(({ status }) => status === 503)).toEqual([refused(503, 1)]);
    expect(await stage.licenses()).toBe(2);
  });

  it('is answered 503 and not run while its record cannot be kept; without one the service fails', async () => {
    await stage.breakTable('idempotency');
    const answer = await stage.ask(keyed('k'));
    expect({ ...codeOf(answer), retryAfter: answer.retryAfter }).toEqual({ ...refused(503, 1), retryAfter: '1' });
    await stage.breakTable('licenses');
    expect(codeOf(await stage.ask({}))).toEqual(refused(500, 1));
    await stage.mendTable('licenses');
    expect(await stage.licenses()).toBe(0);
    await stage.mendTable('idempotency');
    expect(await stage.ask(keyed('k'))).toMatchObject({ status: 200, replayed: false });
  });

  it('undoes the mutation when the answer cannot be stored', async () => {
    await stage.sql('alter table idempotency rename column sealed_response to text');
    const answer = await stage.ask(keyed('k'));
    await stage.sql('alter table idempotency rename column text to sealed_response');
    expect(codeOf(answer)).toEqual(refused(503, 1));
    expect(await stage.licenses()).toBe(0);
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
