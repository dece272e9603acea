import { expect, test } from 'vitest';
import { maxResponseBytes } from '../../src/client/response.ts';
import { Customer as CustomerSchema } from '../../src/contract/customers.ts';
import type { Fetch } from '../../src/contract/endpoint.ts';
import { contract } from '../../src/contract/index.ts';
import { type Customer, createClient, listAll, walkList } from '../../src/index.ts';
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
    const page = Number(searchParams.get('page'));
    const limit = Number(searchParams.get('limit'));
    const items = customers.slice((page - 1) * limit, page * limit);
    const totalPages = Math.ceil(customers.length / limit);
    return Response.json(reply.wrap({ items, meta: { total: customers.length, page, limit, totalPages } }));
  };
  return { list: createClient({ baseUrl: 'http://127.0.0.1', fetch }).customers.list, requests };
}

test.each([
  [0, ['?page=1&limit=1000']],
  [1_000, ['?page=1&limit=1000']],
  [1_001, ['?page=1&limit=1000', '?page=2&limit=1000']],
])('reads %i items in order, and nothing twice', async (count, pages) => {
  const { list, requests } = service(numbered(count));
  expect(await Array.fromAsync(listAll(list, {}))).toEqual(numbered(count));
  expect(requests).toEqual(pages);
});

test('keeps the filters, with pages of the size that is asked for', async () => {
  const { list, requests } = service(numbered(3));
  await Array.fromAsync(listAll(list, { email: 'ada' }, { pageSize: 2 }));
  expect(requests).toEqual(['?page=1&limit=2&email=ada', '?page=2&limit=2&email=ada']);
});

test('requests no page before it is needed, and reads the number of pages anew with each', async () => {
  const customers = numbered(4);
  const { list, requests } = service(customers);
  const ids: string[] = [];
  for await (const { id } of listAll(list, {}, { pageSize: 2 })) {
    if (id === 'cus_0') customers.push(stored('cus_new'));
    ids.push(id);
    expect(requests).toHaveLength(Math.ceil(ids.length / 2));
  }
  expect(ids).toEqual(['cus_0', 'cus_1', 'cus_2', 'cus_3', 'cus_new']);
});

test('takes a page for no answer to a cursor, rather than for the end', async () => {
  const { list } = service(numbered(3));
  const pages = (_: { readonly cursor: string }) => list({ page: 1, limit: 2 }) as never;
  await expect(walkList(pages, {}).next()).rejects.toThrow('the service answered a cursor with a page');
});

test('ends with a service that returns the whole list at once, and with one that counts pages without end', async () => {
  let requests = 0;
  const endless = async () => {
    requests += 1;
    return { items: requests > 3 ? [] : numbered(1), meta: { totalPages: Number.POSITIVE_INFINITY } };
  };
  expect(await Array.fromAsync(listAll(async () => ({ items: numbered(3) }), {}))).toHaveLength(3);
  expect(await Array.fromAsync(listAll(endless, {}))).toHaveLength(3);
});

test('passes the signal on', async () => {
  const items = listAll(service(numbered(4)).list, {}, { signal: AbortSignal.abort('stop') });
  await expect(items.next()).rejects.toBe('stop');
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
