import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { aliasesOf, mutates } from '../../src/contract/endpoint.ts';
import { apiErrors } from '../../src/contract/errors.ts';
import { listEndpoints } from '../../src/contract/index.ts';
import { exampleOf } from '../../src/contract/openapi/examples.ts';
import { responseHeaders } from '../../src/contract/openapi/headers.ts';
import { toOpenApi } from '../../src/contract/openapi/openapi.ts';
import { createWorld, type Parsed } from '../support/world.ts';

const document: Parsed = toOpenApi();

/** What stands in `components` for a reference; anything else as it is. */
const resolve = (value: Parsed): Parsed =>
  value.$ref === undefined
    ? value
    : value.$ref
        .slice(2)
        .split('/')
        .reduce((part: Parsed, name: string) => part[name], document);

const operations: readonly { readonly path: string; readonly method: string; readonly operation: Parsed }[] =
  Object.entries<object>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

const known = listEndpoints();

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    expect(await new Validator().validate(toOpenApi())).toEqual({ valid: true });
  });

  it('is what docs/openapi.json says, and what the server serves', async () => {
    const file = readFileSync(join(import.meta.dirname, '../../docs/openapi.json'), 'utf8');
    expect(file, 'docs/openapi.json is out of date: npm run openapi').toBe(`${JSON.stringify(document, null, 2)}\n`);
    await using world = await createWorld();
    expect((await world.call('nobody', 'GET', '/openapi.json')).body).toEqual(document);
  });

  it('has one operation for each endpoint, under the endpoint’s name, and one for each of its aliases', () => {
    const aliases = known.flatMap(({ endpoint }) =>
      aliasesOf(endpoint).map(({ method, path }) => [method.toLowerCase(), path]),
    );
    const isAlias = ({ operation }: (typeof operations)[number]) => operation.operationId.split('.').length > 2;
    expect(
      operations
        .filter(isAlias)
        .map(({ method, path }) => [method, path])
        .sort(),
    ).toEqual(aliases.sort());
    expect(
      operations
        .filter((one) => !isAlias(one))
        .map(({ path, method, operation }) => [operation.operationId, method, path])
        .sort(),
    ).toEqual(known.map(({ name, endpoint }) => [name, endpoint.method.toLowerCase(), endpoint.path]).sort());
  });

  it.each(known)('lists the statuses and the parameters of $name, and no others', ({ endpoint }) => {
    const { responses, ...operation } = document.paths[endpoint.path][endpoint.method.toLowerCase()];
    const parameters = parametersOf(operation);
    const guarded = endpoint.scope === 'public' ? [] : [401, 403];
    const ofMutations = mutates(endpoint) ? [409, 413, 415] : [];
    const own = endpoint.errors.map((reason) => apiErrors[reason].status);
    const statuses = new Set([endpoint.reply.status, 400, ...guarded, ...own, ...ofMutations, 414, 429, 500, 503]);
    expect(Object.keys(responses).map(Number)).toEqual([...statuses].sort((a, b) => a - b));
    const namesIn = (place: string) =>
      parameters.filter((each: Parsed) => each.in === place).map((each: Parsed) => each.name);
    const headers = mutates(endpoint) ? ['Idempotency-Key', 'X-Idempotency-Key'] : [];
    expect(namesIn('header')).toEqual([...Object.values(endpoint.queryInHeaders ?? {}), ...headers]);
    const example = Object.keys(exampleOf(endpoint).query).map((field) => field.replace(/^metadata\..*/, 'metadata'));
    expect(namesIn('query')).toEqual(expect.arrayContaining(example));
  });
});

/** What a body is in its one media type. */
const contentOf = (content: Record<string, Parsed>): Parsed => Object.values(content)[0];

describe('what generators make of the document', () => {
  it('has a name for every request and every reply', () => {
    const anonymous = operations.flatMap(({ operation }) => {
      const bodies = [operation.requestBody, ...Object.values<Parsed>(operation.responses).map(resolve)].filter(
        Boolean,
      );
      return bodies.filter(({ content }) => contentOf(content).schema.$ref === undefined);
    });
    expect(anonymous).toEqual([]);
  });

  it('has true bounds for every integer, and integers for every code', () => {
    const positive = JSON.parse(JSON.stringify(document, (name, value) => (name === 'not' ? undefined : value)));
    const unbounded = collect(positive, (schema) => {
      if (schema.type !== 'integer' || 'const' in schema || 'enum' in schema) return false;
      return !(Number.isInteger(schema.minimum) && schema.minimum >= 0 && schema.maximum < 2 ** 32);
    });
    expect(unbounded).toEqual([]);
    expect(collect(document, (schema) => schema.type === 'number' && 'const' in schema)).toEqual([]);
    expect(document.components.schemas.CreateKeyResponse.properties.code).toMatchObject({ type: 'integer', const: 0 });
    const codes = Object.values(apiErrors).map(({ code }) => code);
    expect(new Set(document.components.schemas.Error.properties.code.enum)).toEqual(new Set(codes));
  });

  it.each(operations)('describes $method $path and each of its parameters, with examples', ({ operation }) => {
    expect(operation.description.length).toBeGreaterThan(20);
    expect(operation.summary.length).toBeGreaterThan(5);
    for (const { description } of parametersOf(operation)) expect(description).toEqual(expect.any(String));
    const bodies = [operation.requestBody, operation.responses[200] ?? operation.responses[201]].filter(Boolean);
    for (const { content } of bodies) expect(contentOf(content).example).toBeDefined();
  });

  it('leaves the type of other members open beside those with a type of their own, as generated types need it', () => {
    const narrow = collect(
      document,
      ({ properties, additionalProperties: others }) =>
        Object.values(properties ?? {}).some((member) => Object.keys(Object(member)).length > 0) &&
        Object.keys(Object(others)).length > 0,
    );
    expect(narrow).toEqual([]);
  });

  it('has an example of an idempotency key for each operation that is of no other, each a UUID v4', () => {
    const keys = operations.flatMap(({ operation }) =>
      parametersOf(operation)
        .filter(({ name }) => name === 'Idempotency-Key')
        .map(({ example }) => example),
    );
    expect(keys.length).toBeGreaterThan(20);
    expect(new Set(keys).size).toBe(keys.length);
    for (const key of keys) expect(key).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  });

  it('has a text for every tag', () => {
    const used = new Set(operations.flatMap(({ operation }) => operation.tags));
    expect(document.tags.map(({ name }: Parsed) => name)).toEqual([...used]);
    for (const { description } of document.tags) expect(description).toEqual(expect.any(String));
  });
});

describe('the headers of responses', () => {
  it.each(operations)('are listed for each response of $method $path', ({ operation }) => {
    const changes = parametersOf(operation).some(({ name }) => name === 'Idempotency-Key');
    for (const [status, response] of Object.entries<Parsed>(operation.responses)) {
      const { headers } = resolve(response);
      expect(headers['X-Request-Id']).toEqual({ $ref: '#/components/headers/X-Request-Id' });
      expect('RateLimit' in headers && 'RateLimit-Policy' in headers).toBe(true);
      expect('WWW-Authenticate' in headers).toBe(status === '401');
      expect('Retry-After' in headers).toBe(['429', '503'].includes(status) || (status === '409' && changes));
      if (Number(status) < 300) expect('Idempotency-Replayed' in headers).toBe(changes);
      for (const { $ref } of Object.values<Parsed>(headers)) {
        expect(document.components.headers[$ref.split('/').at(-1)].description).toEqual(expect.any(String));
      }
    }
  });

  it('cover what the server sends', async () => {
    await using world = await createWorld({ perMinute: 12 });
    const headers = { 'Idempotency-Key': 'once' };
    const answers = [
      ['/customer', 'post', await world.call('admin', 'POST', '/customer', { name: 'Acme' }, headers)],
      ['/customer', 'post', await world.call('admin', 'POST', '/customer', { name: 'Acme' }, headers)],
      ['/customer', 'post', await world.call('admin', 'POST', '/customer', {}, { 'Idempotency-Key': 'bad' })],
      ['/customer', 'post', await world.call('admin', 'POST', '/customer', {}, { 'Idempotency-Key': 'bad' })],
      ['/customer', 'get', await world.call('nobody', 'GET', '/customer')],
      ['/.well-known/jwks.json', 'get', await world.call('nobody', 'GET', '/.well-known/jwks.json')],
    ] as const;
    const ours = Object.keys(responseHeaders).filter((name) => name !== 'Cache-Control');
    for (const [path, method, { status, headers }] of answers) {
      const documented = Object.keys(resolve(document.paths[path][method].responses[status]).headers);
      const sent = ours.filter((name) => name.toLowerCase() in headers);
      expect(documented).toEqual(expect.arrayContaining(sent));
      expect(sent).toContain('X-Request-Id');
    }
    expect(answers[1][2].headers['idempotency-replayed']).toBe('true');
    expect(answers[3][2].headers['idempotency-replayed']).toBe('true');
  });
});

describe('the envelope', () => {
  const enveloped = listEndpoints().filter(({ endpoint }) => 'action' in Object(exampleOf(endpoint).reply));

  it.each(enveloped)('of $name has its name for its action', ({ name, endpoint }) => {
    expect(exampleOf(endpoint).reply).toMatchObject({ action: name, status: true, code: 0 });
  });
});

const parametersOf = (operation: Parsed): readonly Parsed[] => operation.parameters.map(resolve);

/** Every object in a document that passes. */
function collect(value: unknown, passes: (object: Parsed) => boolean): Parsed[] {
  if (typeof value !== 'object' || value === null) return [];
  return [...(passes(value) ? [value] : []), ...Object.values(value).flatMap((member) => collect(member, passes))];
}
