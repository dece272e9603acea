import { describe, expect, it, test } from 'vitest';
import { clientOfCall } from '../../src/client/client.ts';
import { isList } from '../../src/client/lists.ts';
import { maxResponseBytes } from '../../src/client/response.ts';
import { Customer as CustomerSchema } from '../../src/contract/customers.ts';
import type { Fetch } from '../../src/contract/endpoint.ts';
import { contract, listEndpoints } from '../../src/contract/index.ts';
import { type Customer, createClient } from '../../src/index.ts';
import { customer } from './examples.ts';

const { reply } = contract.customers.list;
const MIB = 1024 * 1024;

const stored = (id: string): Customer => CustomerSchema.parse({ ...customer, id });
const numbered = (count: number): Customer[] => Array.from({ length: count }, (_, index) => stored(`cus_${index}`));

/** A service with these customers, and what it was asked. */
function service(customers: Customer[]) {
  const requests: string[] = [];
  const fetch: Fetch = async ({ url }) => {
    const { search, searchParams } = new URL(url);
    requests.push(search);
    const page = Number(searchParams.get('page') ?? 1);
    const limit = Number(searchParams.get('limit'));
    const items = customers.slice((page - 1) * limit, page * limit);
    const totalPages = Math.ceil(customers.length / limit);
    return Response.json(reply.wrap({ items, meta: { total: customers.length, page, limit, totalPages } }));
  };
  return { list: createClient({ baseUrl: 'http://127.0.0.1', fetch }).customers.list, requests };
}

/** A client whose calls get these pages, and what it sent for each. */
function answering(...pages: readonly unknown[]) {
  const sent: unknown[] = [];
  const left = [...pages];
  const client = clientOfCall(async (_, input) => {
    sent.push(input);
    return left.shift();
  });
  return { client, sent };
}

describe('a list that is iterated', () => {
  it.each([
    [0, ['?page=1&limit=1000']],
    [1_000, ['?page=1&limit=1000']],
    [1_001, ['?page=1&limit=1000', '?page=2&limit=1000']],
  ])('gives %i items in order, and nothing twice', async (count, pages) => {
    const { list, requests } = service(numbered(count));
    expect(await Array.fromAsync(list())).toEqual(numbered(count));
    expect(requests).toEqual(pages);
  });

  it('keeps the filters, begins at the page that is named, and takes limit for the size of a part', async () => {
    const { list, requests } = service(numbered(5));
    await Array.fromAsync(list({ email: 'ada', limit: 2, page: 2 }));
    expect(requests).toEqual(['?page=2&limit=2&email=ada', '?page=3&limit=2&email=ada']);
  });

  it('requests no page before it is needed, and reads the number of pages anew with each', async () => {
    const customers = numbered(4);
    const { list, requests } = service(customers);
    const ids: string[] = [];
    for await (const { id } of list({ limit: 2 })) {
      if (id === 'cus_0') customers.push(stored('cus_new'));
      ids.push(id);
      expect(requests).toHaveLength(Math.ceil(ids.length / 2));
    }
    expect(ids).toEqual(['cus_0', 'cus_1', 'cus_2', 'cus_3', 'cus_new']);
  });

  it('goes on by cursor where there is one, unless a page is named', async () => {
    const { client, sent } = answering(
      { items: ['a', 'b'], meta: { limit: 2, next: 'lic_b' } },
      { items: [], meta: { limit: 2, next: 'lic_c' } },
      { items: ['d'], meta: { limit: 2, next: null } },
      { items: ['d'], meta: { totalPages: 3 } },
    );
    expect(await Array.fromAsync(client.keys.list({ status: ['full'], limit: 2 }))).toEqual(['a', 'b', 'd']);
    expect(await Array.fromAsync(client.keys.list({ page: 3 }))).toEqual(['d']);
    expect(sent).toEqual([
      { status: ['full'], limit: 2, cursor: '' },
      { status: ['full'], limit: 2, cursor: 'lic_b' },
      { status: ['full'], limit: 2, cursor: 'lic_c' },
      { limit: 1_000, page: 3 },
    ]);
  });

  it('goes on by cursors that are numbers', async () => {
    const { client, sent } = answering({ items: [9], meta: { next: '9' } }, { items: [], meta: { next: null } });
    expect(await Array.fromAsync(client.webhooks.deliveries({ webhookId: 'whk_1' }))).toEqual([9]);
    expect(sent).toEqual([
      { webhookId: 'whk_1', limit: 1_000 },
      { webhookId: 'whk_1', limit: 1_000, cursor: 9 },
    ]);
  });

  it('goes on after the last number, also behind an empty part, until it stays the same', async () => {
    const { client, sent } = answering(
      { items: [], meta: { last: 1_040 } },
      { items: [1_041], meta: { last: 1_041 } },
      { items: [], meta: { last: 1_041 } },
    );
    expect(await Array.fromAsync(client.events.list({ after: 40 }))).toEqual([1_041]);
    expect(sent).toEqual([40, 1_040, 1_041].map((after) => ({ after, limit: 1_000 })));
  });

  it('takes a page for no answer to a cursor, rather than for the end', async () => {
    const { client } = answering({ items: ['a'], meta: { totalPages: 3 } });
    const read = Array.fromAsync(client.keys.list());
    await expect(read).rejects.toThrow('the service answered a cursor with a page');
  });

  it('ends with a service that returns the whole list at once, and with one that counts pages without end', async () => {
    const endless = { items: ['a'], meta: { totalPages: Number.POSITIVE_INFINITY } };
    const { client } = answering({ items: ['a', 'b'] }, endless, endless, { ...endless, items: [] });
    expect(await Array.fromAsync(client.products.list())).toEqual(['a', 'b']);
    expect(await Array.fromAsync(client.products.list())).toEqual(['a', 'a']);
  });

  it('passes the signal on', async () => {
    const items = Array.fromAsync(service(numbered(4)).list({}, { signal: AbortSignal.abort('stop') }));
    await expect(items).rejects.toBe('stop');
  });
});

describe('a list that is awaited', () => {
  it('is one page, for one request, which is not sent before', async () => {
    const { list, requests } = service(numbered(3));
    const request = list({ limit: 2, page: 2 });
    await new Promise((resolve) => setImmediate(resolve));
    expect(requests).toEqual([]);
    const [{ items }, again] = await Promise.all([request, request]);
    expect(items).toEqual([stored('cus_2')]);
    expect(again.items).toBe(items);
    expect(requests).toEqual(['?page=2&limit=2']);
  });

  it('rejects as other operations do', async () => {
    const aborted = () => service([]).list({}, { signal: AbortSignal.abort('stop') });
    const ended: string[] = [];
    expect(await aborted().catch((reason: unknown) => reason)).toBe('stop');
    await expect(aborted().finally(() => ended.push('ended'))).rejects.toBe('stop');
    expect(ended).toEqual(['ended']);
  });
});

test('what replies with a list can be iterated, and nothing else', () => {
  const names = listEndpoints().filter(({ endpoint }) => isList(endpoint));
  const lists = listEndpoints().filter(({ endpoint }) => maxResponseBytes(endpoint) === 500 * MIB);
  expect(names).toEqual(lists);
});

test('a list may be longer than other replies', async () => {
  const { customers, products, keys, signingKeys } = contract;
  expect([customers.list, products.list].map(maxResponseBytes)).toEqual([500 * MIB, 500 * MIB]);
  expect([keys.get, keys.create, signingKeys.jwks].map(maxResponseBytes)).toEqual([16, 16, 16].map((n) => n * MIB));
  const text = JSON.stringify({ action: 'customers.list', status: true, data: numbered(100_000), code: 0 });
  expect(text.length).toBeGreaterThan(16 * MIB);
  const fetch: Fetch = async () => new Response(text, { headers: { 'content-type': 'application/json' } });
  const client = createClient({ baseUrl: 'http://127.0.0.1', fetch });
  expect((await client.customers.list()).items).toHaveLength(100_000);
});
