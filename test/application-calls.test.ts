import { createHmac, hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AnyEndpoint, aliasesOf } from '../src/contract/endpoint.ts';
import { listEndpoints } from '../src/contract/index.ts';
import { startTestServer } from './support/server.ts';

/** A row of the table of calls in docs/moving.md. */
interface Row {
  readonly call: string;
  readonly sent: readonly string[];
  readonly status: number;
  /** What is in the answer: `data.license.key`. */
  readonly answered: readonly string[];
  readonly differs: string;
}

const page = readFileSync(join(import.meta.dirname, '../docs/moving.md'), 'utf8');
const rows = readTable(page);

function readTable(text: string): Row[] {
  const [, table = ''] = text.split('| call | body, headers | answer | what differs |\n');
  const lines = table.split('\n').slice(1);
  const cells = lines.slice(0, lines.indexOf('')).map((line) => line.split('|').map((cell) => cell.trim()));
  return cells.flatMap(([, calls = '', sent = '', answer = '', differs = '']) =>
    codesIn(calls).map((call) => {
      return { call, sent: codesIn(sent), status: Number.parseInt(answer, 10), answered: codesIn(answer), differs };
    }),
  );
}

/** The texts between backticks. */
function codesIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}

const endpoints = listEndpoints().flatMap(({ endpoint }): AnyEndpoint[] => [endpoint, ...aliasesOf(endpoint)]);

/** Who makes a call: staff, and an application where its token may. */
const callersOf = ({ call, differs }: Row): ('admin' | 'client')[] => {
  const route = call.replace(/\?.*/, '');
  const { openToClients } = endpoints.find(({ method, path }) => `${method} ${path}` === route) ?? {};
  return openToClients && !differs.startsWith('not for tokens of kind `client`') ? ['admin', 'client'] : ['admin'];
};

type Shop = Awaited<ReturnType<typeof openShop>>;

/** A server with a product and a token for applications. */
async function openShop() {
  const service = await startTestServer();
  const post = async (path: string, body: object) => (await service.call('POST', path, body)).body;
  const productId: string = (await post('/product', { name: 'Engine Pro' })).data.id;
  const versionId: string = (await post('/product/version', { productId, version: '2.0' })).data.id;
  const client: string = (await post('/token', { name: 'app', kind: 'client' })).data.token;
  return { service, post, productId, versionId, tokens: { admin: service.adminToken, client } };
}

/** Makes a customer, a key and its device; resolves with a value for each field that calls send. */
async function fillValues({ post, productId, versionId }: Shop, call: string): Promise<Record<string, unknown>> {
  const name = `Customer ${Math.random()}`;
  const customerId: string = (await post('/customer', { name, email: `${hash('md5', name)}@a.example` })).data.id;
  const isFloating = /checkout|heartbeat|checkin/.test(call);
  const licenseType = isFloating ? 'floating' : 'node-locked';
  const licenseKey: string = (await post('/create-key', { productId, customerId, versionId, licenseType })).key;
  const address = { productId, licenseKey };
  const session = isFloating ? await post('/key/checkout', { ...address, hostId: 'pc-1' }) : {};
  if (!isFloating) await post('/key/activate', { ...address, hostId: 'pc-1' });
  const nonce = session.nextNonce;
  return {
    ...{ ...address, customerId, versionId, name: 'Ada Ltd', email: `${hash('md5', customerId)}@a.example` },
    ...{ page: 1, limit: 10, amountKeys: '2', maxActivations: '3', expiryDate: '2029-01-01T00:00:00Z' },
    // Some clients write null for what they do not have.
    newCustomer: { name: 'Grace Ltd', email: null },
    ...{ allowedHosts: ['pc-1', 'pc-2'], metadata: { order: 'o-1', features: { pro: true } } },
    ...{ licenseType: 'floating', maxConcurrentSessions: 2, heartbeatInterval: 60, sessionLeaseDuration: 300 },
    format: { sections: 4, sectionLength: 4, separator: '-', case: 'upper' },
    ...{ hostId: 'pc-1', deviceTag: 'Laptop', licensee: { name: 'Bo', email: 'bo@b.example' }, version: '2.0.1' },
    ...{ userIdentifier: 'ada', ttl: 3_600, sessionId: session.sessionId, timestamp: nonce },
    signature: createHmac('sha256', `${session.sessionSecret}`).update(`${session.sessionId}:${nonce}`).digest('hex'),
    'X-License-Key': licenseKey,
  };
}

/** A request as programs send it: the query where the call has one, headers, and a JSON body of the other fields. */
function requestOf({ call, sent }: Row, values: Record<string, unknown>) {
  const [method = '', target = ''] = call.split(' ');
  const isHeader = (name: string) => /^[A-Z]/.test(name);
  const pick = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, values[name]]));
  const path = target.replaceAll(/(\w+)=/g, (_, name: string) => `${name}=${encodeURIComponent(`${values[name]}`)}`);
  const body = ['POST', 'PUT', 'PATCH'].includes(method) ? pick(sent.filter((name) => !isHeader(name))) : undefined;
  return { method, path, body, headers: pick(sent.filter(isHeader)) as Record<string, string> };
}

const memberOf = (value: unknown, path: string): unknown =>
  path.split('.').reduce((at: unknown, name) => (at as Record<string, unknown> | null | undefined)?.[name], value);

describe('a call of the table in docs/moving.md', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop();
  });
  afterAll(() => shop.service[Symbol.asyncDispose]());

  it.each(rows.map((row) => ({ ...row, fields: row.sent.join(' ') })))('$call with $fields', async (row) => {
    for (const as of callersOf(row)) {
      const values = await fillValues(shop, row.call);
      const { method, path, body, headers } = requestOf(row, values);
      const ask = () =>
        shop.service.call(method, path, body, {
          ...{ ...headers, Authorization: `Bearer ${shop.tokens[as]}` },
          ...(method !== 'GET' && { 'Idempotency-Key': `${values.customerId} ${as}` }),
        });
      const answer = await ask();
      expect([answer.status, answer.body.code ?? 0]).toEqual([row.status, row.status < 400 ? 0 : 1]);
      for (const name of row.answered) expect([name, memberOf(answer.body, name)]).not.toEqual([name, undefined]);
      for (const [, name = ''] of row.differs.matchAll(/no `([\w.]+)`/g)) {
        expect([name, memberOf(answer.body, name)]).toEqual([name, undefined]);
      }
      for (const [, name = '', text] of row.differs.matchAll(/`(\w+)` is "([^"]+)"/g)) {
        expect([name, answer.body[name]]).toEqual([name, text]);
      }
      expect((await ask()).text).toBe(answer.text);
    }
  });

  it('is one of at least 25', () => {
    expect(rows.length).toBeGreaterThan(25);
    expect(rows.filter(({ call, status, answered }) => !(call && status && answered.length))).toEqual([]);
  });
});
