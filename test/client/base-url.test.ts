import { expect, test } from 'vitest';
import { createClient, InputError } from '../../src/client/index.ts';

const fetch = async () => new Response();

test.each([
  'https://licensing.example.com',
  'https://licensing.example.com/api/',
  'http://localhost:4747',
  'http://127.0.0.1:4747',
  'http://127.8.9.10',
  'http://127.1',
  'http://[::1]:4747',
])('takes %s', (baseUrl) => {
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
])('refuses %s', (baseUrl, message) => {
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
