import { expect, test } from 'vitest';
import { encodeInput } from '../../src/client/request.ts';
import { contract } from '../../src/contract/index.ts';
import { createClient, InputError } from '../../src/index.ts';
import { licenseKey, productId } from './examples.ts';

const { keys, products, customers, tokens } = contract;

test('writes what the wire wants: usesPerKey as text, null as null, what is not given not at all', () => {
  const input = { productId, usesPerKey: 5, expiryDate: null, customerId: undefined };
  expect(encodeInput(keys.create, input)).toEqual({
    search: '',
    body: `{"productId":"${productId}","usesPerKey":"5","expiryDate":null}`,
  });
});

test('puts a field where the contract names it: in the query or in the body', () => {
  const input = { productId, name: 'Editor & Co' };
  expect(encodeInput(products.update, input)).toEqual({
    search: `?productId=${productId}`,
    body: '{"name":"Editor & Co"}',
  });
});

test('escapes what a query cannot hold', () => {
  const input = { customerId: 'a b&c=d/é' };
  expect(encodeInput(customers.delete, input)).toEqual({ search: '?customerId=a+b%26c%3Dd%2F%C3%A9', body: null });
});

test('sends no body and no query where the contract has none', () => {
  expect(encodeInput(customers.list, {})).toEqual({ search: '', body: null });
});

test.each([
  ['every field that is wrong', keys.get, { productId: 'short' }, ['productId', 'licenseKey']],
  ['a field inside another', keys.create, { productId, newCustomer: { name: '', email: 'x' } }, ['newCustomer.name']],
  ['a number out of range', keys.create, { productId, usesPerKey: 0 }, ['usesPerKey']],
  ['an instant without milliseconds', keys.create, { productId, expiryDate: '2027-01-01T00:00:00Z' }, ['expiryDate']],
  [
    'two fields that exclude each other',
    keys.create,
    { productId, customerId: 'c', newCustomer: { name: 'A' } },
    ['customerId'],
  ],
  ['a body that changes nothing', products.update, { productId }, ['']],
  [
    'scopes for a kind that has its own',
    tokens.create,
    { name: 'ci', kind: 'admin', scopes: ['license:read'] },
    ['scopes'],
  ],
  ['a field that no schema names', keys.get, { productId, licenseKey, hostID: 'h' }, ['hostID']],
  ['a field for an operation without fields', tokens.self, { page: 2 }, ['page']],
  ['something that is not an object', keys.get, null, ['']],
] as const)('names %s', (_title, endpoint, input, paths) => {
  const issues = issuesOf(() => encodeInput(endpoint, input));
  expect(issues.map(({ path }) => path)).toEqual(expect.arrayContaining([...paths]));
});

test('says in one line what is wrong', () => {
  const encode = () => encodeInput(keys.get, { productId, licenseKey: 'short' });
  expect(encode).toThrow('licenseKey: Too small: expected string to have >=23 characters');
});

test('says what a field is called that another operation names differently', () => {
  expect(() => encodeInput(keys.create, { productId, maxActivations: 5 })).toThrow('unknown field; here: usesPerKey');
  expect(() => encodeInput(keys.create, { productId, toString: 5 })).toThrow(/unknown field$/);
});

function issuesOf(encode: () => unknown) {
  try {
    encode();
  } catch (error) {
    if (error instanceof InputError) return error.issues;
    throw error;
  }
  throw new Error('the input was taken');
}

const fetch = async () => new Response();

test.each([
  'https://licensing.example.com',
  'https://licensing.example.com/api/',
  'http://localhost:4747',
  'http://127.0.0.1:4747',
  'http://127.8.9.10',
  'http://127.1',
  'http://[::1]:4747',
])('takes the base URL %s', (baseUrl) => {
  expect(() => createClient({ baseUrl, token: 't' })).not.toThrow();
});

test.each([
  ['licensing.example.com', 'is not a URL'],
  ['ftp://licensing.example.com', 'must begin with https://'],
  ['https://user:pass@licensing.example.com', 'must not carry a user name or password'],
  ['https://licensing.example.com/?a=1', 'must not carry a query or fragment'],
  ['http://licensing.example.com', 'must begin with https://; plain http is for loopback addresses only'],
  ['http://127.0.0.1.example.com', 'must begin with https://; plain http is for loopback addresses only'],
  ['http://localhost.example.com', 'must begin with https://; plain http is for loopback addresses only'],
  ['http://[::2]', 'must begin with https://; plain http is for loopback addresses only'],
  ['http://10.0.0.1', 'must begin with https://; plain http is for loopback addresses only'],
])('refuses the base URL %s', (baseUrl, message) => {
  expect(() => createClient({ baseUrl })).toThrow(new InputError([{ path: 'baseUrl', message }]));
});

test('takes plain http beyond loopback only with a network of the caller’s and without a token', () => {
  const baseUrl = 'http://service.internal';
  expect(() => createClient({ baseUrl, fetch })).not.toThrow();
  expect(() => createClient({ baseUrl, fetch, token: 't' })).toThrow(InputError);
});

test('refuses a token that no header can carry, without repeating it', () => {
  const make = () => createClient({ baseUrl: 'https://licensing.example.com', token: 'secret\nx: y' });
  expect(make).toThrow(new InputError([{ path: 'token', message: 'must be visible ASCII without spaces' }]));
});
