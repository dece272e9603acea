import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { mutates } from '../../src/contract/endpoint.ts';
import { apiErrors } from '../../src/contract/errors.ts';
import { apiVersion, listEndpoints } from '../../src/contract/index.ts';
import { toOpenApi } from '../../src/contract/openapi.ts';
import { createWorld, type Parsed } from '../support/world.ts';

const document: Parsed = toOpenApi();

const operations: readonly { readonly path: string; readonly method: string; readonly operation: Parsed }[] =
  Object.entries<object>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    expect(await new Validator().validate(toOpenApi())).toEqual({ valid: true });
  });

  it('is what docs/openapi.json says', () => {
    const file = readFileSync(join(import.meta.dirname, '../../docs/openapi.json'), 'utf8');
    expect(file, 'docs/openapi.json is out of date: npm run openapi').toBe(`${JSON.stringify(document, null, 2)}\n`);
  });

  it('is what the server serves', async () => {
    await using world = await createWorld();
    expect((await world.call('nobody', 'GET', '/openapi.json')).body).toEqual(document);
  });

  it('has the date of the contract for its version', () => {
    expect(document.info.version).toBe(apiVersion);
    expect(apiVersion).toMatch(/^\d{4}-\d\d-\d\d$/);
  });

  it('has one operation for each endpoint, under the endpoint’s name', () => {
    expect(operations.map(({ path, method, operation }) => [operation.operationId, method, path]).sort()).toEqual(
      listEndpoints()
        .map(({ name, endpoint }) => [name, endpoint.method.toLowerCase(), endpoint.path])
        .sort(),
    );
  });

  it('asks for a token everywhere but where the endpoint is public', () => {
    expect(document.security).toEqual([{ bearer: [] }]);
    const open = operations.filter(({ operation }) => operation.security?.length === 0);
    expect(open.map(({ path }) => path)).toEqual(['/.well-known/jwks.json']);
  });

  it.each(listEndpoints())('lists the statuses that $name may answer, and no others', ({ name, endpoint }) => {
    const operation = operations.find((each) => each.operation.operationId === name)?.operation;
    const guarded = endpoint.scope === 'public' ? [] : [401, 403];
    const own = endpoint.errors.map((reason) => apiErrors[reason].status);
    const statuses = [
      endpoint.reply.status,
      400,
      ...guarded,
      ...own,
      ...(mutates(endpoint) ? [409, 413] : []),
      429,
      500,
      503,
    ];
    expect(Object.keys(operation.responses).map(Number)).toEqual([...new Set(statuses)].sort((a, b) => a - b));
  });

  it('shows what is on the wire: usesPerKey is text, and dates are text', () => {
    const { schema } = document.paths['/create-key'].post.requestBody.content['application/json'];
    expect(schema.required).toEqual(['productId']);
    expect(schema.properties.usesPerKey.anyOf).toEqual([
      { type: 'string', pattern: '^[1-9][0-9]{0,8}$' },
      { type: 'null' },
    ]);
    expect(schema.properties.expiryDate.anyOf[0]).toMatchObject({ type: 'string', format: 'date-time' });
  });

  it('names the parameters of a query, and which of them are required', () => {
    const named = operations.flatMap(({ operation }) =>
      (operation.parameters ?? []).map((each: Parsed) => [operation.operationId, each.name, each.in, each.required]),
    );
    expect(named.filter(([, , place]) => place === 'query')).toEqual([
      ['keys.get', 'productId', 'query', true],
      ['keys.get', 'licenseKey', 'query', true],
      ['customers.delete', 'customerId', 'query', true],
      ['products.get', 'productId', 'query', true],
      ['products.update', 'productId', 'query', true],
      ['tokens.revoke', 'tokenId', 'query', true],
      ['signingKeys.jwks', 'account', 'query', false],
    ]);
  });

  it.each(listEndpoints())('offers both idempotency headers where $name changes something', ({ name, endpoint }) => {
    const operation = operations.find((each) => each.operation.operationId === name)?.operation;
    const headers = operation.parameters
      .filter((each: Parsed) => each.in === 'header')
      .map((each: Parsed) => each.name);
    expect(headers).toEqual(mutates(endpoint) ? ['Idempotency-Key', 'X-Idempotency-Key'] : []);
  });
});

describe('the envelope', () => {
  const enveloped = listEndpoints().filter(
    ({ endpoint }) => 'action' in Object(endpoint.reply.wrap(undefined as never)),
  );

  it('is that of the customer family on all but the key endpoints and the public keys', () => {
    const names = enveloped.map(({ name }) => name);
    const others = listEndpoints()
      .map(({ name }) => name)
      .filter((name) => !names.includes(name));
    expect(others).toEqual([
      'keys.create',
      'keys.get',
      'keys.deactivate',
      'keys.sign',
      'keys.checkout',
      'signingKeys.jwks',
    ]);
  });

  it.each(enveloped)('of $name has its name for its action', ({ name, endpoint }) => {
    expect(endpoint.reply.wrap(undefined as never)).toMatchObject({ action: name, status: true, code: 0 });
  });
});
