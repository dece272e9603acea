import { expect, expectTypeOf, test } from 'vitest';
import { maxResponseBytes } from '../../src/client/response.ts';
import { Customer as CustomerSchema } from '../../src/contract/customers.ts';
import type { Fetch } from '../../src/contract/endpoint.ts';
import { contract } from '../../src/contract/index.ts';
import { type Customer, createClient, listAll, walkList } from '../../src/index.ts';
import { customer } from './examples.ts';

const { reply } = contract.customers.list;

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

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
  const client = createClient({ baseUrl: 'http://127.0.0.1', fetch });
  return { client, requests };
}

test('reads page after page, in order, and nothing twice', async () => {
  const customers = numbered(2_500);
  const { client, requests } = service(customers);
  expect(await collect(listAll(client.customers.list, {}))).toEqual(customers);
  expect(requests).toEqual(['?page=1&limit=1000', '?page=2&limit=1000', '?page=3&limit=1000']);
});

test.each([
  ['an empty list', 0, 1],
  ['one page', 1_000, 1],
  ['one item more than a page', 1_001, 2],
])('reads %s', async (_title, count, pages) => {
  const { client, requests } = service(numbered(count));
  expect(await collect(listAll(client.customers.list, {}))).toHaveLength(count);
  expect(requests).toHaveLength(pages);
});

test('keeps the filters, with pages of the size that is asked for', async () => {
  const { client, requests } = service(numbered(3));
  await collect(listAll(client.customers.list, { email: 'ada' }, { pageSize: 2 }));
  expect(requests).toEqual(['?page=1&limit=2&email=ada', '?page=2&limit=2&email=ada']);
});

test('requests no page before it is needed', async () => {
  const { client, requests } = service(numbered(10));
  for await (const { id } of listAll(client.customers.list, {}, { pageSize: 2 })) {
    if (id === 'cus_1') break;
  }
  expect(requests).toHaveLength(1);
});

test('takes a page for no answer to a cursor, rather than for the end', async () => {
  const { client } = service(numbered(3));
  const list = (_: { readonly cursor: string }) => client.customers.list({ page: 1, limit: 2 }) as never;
  await expect(collect(walkList(list, {}))).rejects.toThrow('the service answered a cursor with a page');
});

test('reads the number of pages anew with each page', async () => {
  const customers = numbered(4);
  const { client } = service(customers);
  const ids: string[] = [];
  for await (const { id } of listAll(client.customers.list, {}, { pageSize: 2 })) {
    if (id === 'cus_0') customers.push(stored('cus_new'));
    ids.push(id);
  }
  expect(ids).toEqual(['cus_0', 'cus_1', 'cus_2', 'cus_3', 'cus_new']);
});

test('ends with a service that returns the whole list at once', async () => {
  let requests = 0;
  const all = async () => {
    requests += 1;
    return { items: numbered(3) };
  };
  expect(await collect(listAll(all, {}))).toHaveLength(3);
  expect(requests).toBe(1);
});

test('ends with a service that counts pages without end', async () => {
  let requests = 0;
  const endless = async () => {
    requests += 1;
    if (requests > 10) throw new Error('asked again after an empty page');
    return { items: requests > 3 ? [] : numbered(1), meta: { totalPages: Number.POSITIVE_INFINITY } };
  };
  expect(await collect(listAll(endless, {}))).toHaveLength(3);
});

test('passes the signal on', async () => {
  const { client } = service(numbered(4));
  const items = listAll(client.customers.list, {}, { signal: AbortSignal.abort('stop') });
  await expect(collect(items)).rejects.toBe('stop');
});

test('rejects with the error of the page that failed, after the items before it', async () => {
  const pages = async ({ page }: { readonly page: number }) => {
    if (page === 2) throw new Error('page 2');
    return { items: numbered(2), meta: { totalPages: 3 } };
  };
  const items = listAll(pages, {});
  expect(await items.next()).toMatchObject({ done: false });
  expect(await items.next()).toMatchObject({ done: false });
  await expect(items.next()).rejects.toThrow('page 2');
});

test('has the items of the operation as its type', () => {
  const items = listAll(service([]).client.customers.list, {});
  expectTypeOf(items).toEqualTypeOf<AsyncGenerator<Customer, void, undefined>>();
});

test('a list may be longer than other replies', async () => {
  const MIB = 1024 * 1024;
  const lists = [contract.customers.list, contract.products.list, contract.tokens.list];
  expect(lists.map(maxResponseBytes)).toEqual(lists.map(() => 500 * MIB));
  expect([contract.keys.get, contract.keys.create, contract.signingKeys.jwks].map(maxResponseBytes)).toEqual(
    [0, 1, 2].map(() => 16 * MIB),
  );
});

test('reads 100 000 customers in one response, which is longer than 16 MiB', async () => {
  const data = numbered(100_000);
  const text = JSON.stringify({ action: 'customers.list', status: true, data, code: 0 });
  expect(text.length).toBeGreaterThan(16 * 1024 * 1024);
  const fetch: Fetch = async () => new Response(text, { headers: { 'content-type': 'application/json' } });
  const client = createClient({ baseUrl: 'http://127.0.0.1', fetch });
  expect((await client.customers.list()).items).toHaveLength(100_000);
});
