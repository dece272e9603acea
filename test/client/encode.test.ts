import { expect, test } from 'vitest';
import { encodeInput } from '../../src/client/encode.ts';
import { InputError } from '../../src/client/index.ts';
import { contract } from '../../src/contract/index.ts';
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
  ['scopes for a kind that has its own', tokens.create, { name: 'ci', kind: 'admin', scopes: ['license:read'] }, ['']],
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

function issuesOf(encode: () => unknown) {
  try {
    encode();
  } catch (error) {
    if (error instanceof InputError) return error.issues;
    throw error;
  }
  throw new Error('the input was taken');
}
