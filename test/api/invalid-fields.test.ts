import { expect, it } from 'vitest';
import { engines } from '../support/engines.ts';
import { furnish } from '../support/requests.ts';
import { createWorld } from '../support/world.ts';

const [engine] = engines;

async function shop() {
  if (engine === undefined) throw new Error('there is no engine');
  const world = await createWorld({ engine });
  const { productId, licenseKey } = await furnish(world);
  const named = async (method: string, path: string, body?: unknown, headers?: Record<string, string>) => {
    const answer = await world.call('admin', method, path, body, headers);
    return { status: answer.status, named: answer.headers['lkm-invalid-fields'] };
  };
  return { world, productId, licenseKey, named };
}

it('names every field that is missing or wrong, inner ones with what they are in', async () => {
  const { world, named } = await shop();
  await using _ = world;
  const body = { usesPerKey: 5, newCustomer: { name: '', email: 'zoe' } };
  expect(await named('POST', '/create-key', body)).toEqual({
    status: 400,
    named: 'productId, usesPerKey, newCustomer.name, newCustomer.email',
  });
  expect(await named('GET', '/key?productId=short')).toEqual({ status: 400, named: 'productId, licenseKey' });
});

it('names ten fields at most, each with a hundred characters at most, in visible ASCII', async () => {
  const { world, productId, named } = await shop();
  await using _ = world;
  const features = Object.fromEntries(['ключ', 'a,b\r\nX: y', 'n'.repeat(500), '\ud800'].map((name) => [name, null]));
  const { named: odd = '' } = await named('POST', '/create-key', { productId, metadata: { features } });
  expect(odd).toMatch(/^[!-~]+(, [!-~]+)*$/);
  const many = Object.fromEntries(Array.from({ length: 15 }, (_, at) => [`f${at}`, null]));
  const { named: ten = '' } = await named('POST', '/create-key', { productId, metadata: { features: many } });
  expect(ten.split(', ')).toHaveLength(10);
  const long = Object.fromEntries([['n'.repeat(90), null]]);
  const { named: cut = '' } = await named('POST', '/create-key', { productId, metadata: { features: long } });
  expect(cut).toBe(`metadata.features.${'n'.repeat(90)}`.slice(0, 100));
});

it('names them again where the same bad request comes under its key, and what only the use case finds', async () => {
  const { world, productId, licenseKey, named } = await shop();
  await using _ = world;
  const headers = { 'Idempotency-Key': 'k-1' };
  for (let round = 0; round < 2; round += 1) {
    expect(await named('POST', '/create-key', { productId: 'x' }, headers)).toEqual({
      status: 400,
      named: 'productId',
    });
  }
  await world.call('admin', 'PATCH', '/key', { productId, licenseKey, expirationDate: null });
  const sign = { productId, licenseKey, hostId: 'h' };
  expect(await named('POST', '/key/sign', sign, { 'Idempotency-Key': 'k-2' })).toEqual({ status: 400, named: 'ttl' });
  expect(await named('POST', '/key/sign', sign)).toEqual({ status: 400, named: 'ttl' });
});

it('is silent where no field is to blame, and of every other error', async () => {
  const { world, productId, licenseKey, named } = await shop();
  await using _ = world;
  expect(await named('POST', '/create-key', [])).toEqual({ status: 400, named: undefined });
  expect(await named('PATCH', '/key', { productId, licenseKey })).toEqual({ status: 400, named: undefined });
  const absent = { productId: 'p'.repeat(30) };
  expect(await named('POST', '/create-key', absent)).toEqual({ status: 404, named: undefined });
  expect(await named('POST', '/create-key', absent, { 'Idempotency-Key': 'k' })).toEqual({
    status: 404,
    named: undefined,
  });
});
