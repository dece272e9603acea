import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { listEndpoints } from '../../src/contract/index.ts';
import { compareApis } from '../../src/contract/openapi/diff.ts';
import { toOpenApi } from '../../src/contract/openapi/openapi.ts';

const released = JSON.parse(readFileSync(new URL('../../docs/openapi-released.json', import.meta.url), 'utf8'));

/** Breaking changes that the date of the contract does not announce. */
function unannounced(now: { info: { version: string } }): unknown[] {
  if (now.info.version > released.info.version) return [];
  return compareApis(released, now).filter(({ breaking }) => breaking);
}

type Document = ReturnType<typeof JSON.parse>;

/** The released document with one thing changed. */
function changed(change: (document: Document) => void): Document {
  const document = structuredClone(released);
  change(document);
  return document;
}

const schemaOf = (document: Document, name: string) => document.components.schemas[name];

describe('the contract', () => {
  it('breaks no client of the last released document without a new date', () => {
    expect(unannounced(JSON.parse(JSON.stringify(toOpenApi())))).toEqual([]);
  });

  it('may break them under a new date', () => {
    const gone = changed((document) => delete document.paths['/create-key']);
    expect(unannounced(gone)).toHaveLength(1);
    gone.info.version = '9999-01-01';
    expect(unannounced(gone)).toEqual([]);
  });
});

describe('a breaking change', () => {
  const create = (document: Document) => document.paths['/create-key'].post;
  const signed = (document: Document) => document.paths['/key/sign'].post;
  const cases: readonly [string, (document: Document) => void, string][] = [
    ['an operation that is gone', (d) => delete d.paths['/key'].get, 'is gone'],
    [
      'a reply of another type of content',
      (d) => {
        const { content } = create(d).responses['200'];
        content['application/xml'] = content['application/json'];
        delete content['application/json'];
      },
      '200 is not application/json any more',
    ],
    [
      'a body of another type of content',
      (d) => {
        const { content } = create(d).requestBody;
        content['text/plain'] = content['application/json'];
        delete content['application/json'];
      },
      'body is not application/json any more',
    ],
    ['an event that is gone', (d) => delete d.webhooks['license.created'], 'is not sent any more'],
    ['a path that is gone', (d) => delete d.paths['/create-key'], 'is gone'],
    ['a parameter that is gone', (d) => create(d).parameters.shift(), 'header Idempotency-Key is gone'],
    [
      'a parameter that has become required',
      (d) => (d.components.parameters['Idempotency-Key'].required = true),
      'header Idempotency-Key is required',
    ],
    [
      'a new required field of a request',
      (d) => {
        schemaOf(d, 'CreateKeyRequest').properties.colour = { type: 'string' };
        schemaOf(d, 'CreateKeyRequest').required.push('colour');
      },
      'body.colour is new and required',
    ],
    [
      'a field of a request that is gone',
      (d) => delete schemaOf(d, 'CreateKeyRequest').properties.reference,
      'body.reference is gone',
    ],
    [
      'a tighter bound',
      (d) => (d.components.parameters['Idempotency-Key'].schema.maxLength = 10),
      'header Idempotency-Key must be within maxLength 10',
    ],
    [
      'another type of a request',
      (d) => (d.components.parameters['Idempotency-Key'].schema.type = 'integer'),
      'header Idempotency-Key is integer, not string',
    ],
    [
      'a field of a reply that is gone',
      (d) => delete schemaOf(d, 'CreateKeyResponse').properties.key,
      '200.key is gone',
    ],
    [
      'a field of a reply that may be left out',
      (d) => (schemaOf(d, 'CreateKeyResponse').required = ['code']),
      '200.key may be left out',
    ],
    [
      'another type of a reply',
      (d) => (schemaOf(d, 'CreateKeyResponse').properties.key = { type: ['string', 'null'] }),
      '200.key is string or null, not string',
    ],
    [
      'another status of success',
      (d) => {
        create(d).responses[201] = create(d).responses[200];
        delete create(d).responses[200];
      },
      'does not return 200 any more',
    ],
    ['a body that is gone', (d) => delete create(d).requestBody, 'takes no body any more'],
    [
      'a body that was not needed',
      (d) => (d.paths['/key'].get.requestBody = structuredClone(create(d).requestBody)),
      'needs a body',
    ],
    ['a token that was not needed', (d) => delete d.paths['/.well-known/jwks.json'].get.security, 'needs a token'],
    ['other credentials', (d) => (create(d).security = [{ certificate: [] }]), 'needs other credentials'],
    [
      'another scope',
      (d) => (create(d).description = create(d).description.replace('license:write', 'product:write')),
      'needs product:write, not license:write',
    ],
    [
      'a kind of token that is refused',
      (d) => (signed(d).description += ' Not open to tokens of kind `client`.'),
      'is closed to tokens of kind client',
    ],
    [
      'a field that is gone from an object that may be null',
      (d) => delete schemaOf(d, 'CustomerSummary').properties.name,
      '200.data.customer.name is gone',
    ],
    [
      'a tighter bound of a list that may be null',
      (d) => (schemaOf(d, 'CreateKeyRequest').properties.allowedHosts.anyOf[0].maxItems = 10),
      'body.allowedHosts must be within maxItems 10',
    ],
    [
      'another type of the fields of a map',
      (d) => (schemaOf(d, 'NewLicenseMetadata').properties.features.additionalProperties = { type: 'string' }),
      'body.metadata.features.* is string, not boolean or number or string',
    ],
    [
      'a map that is closed',
      (d) => (schemaOf(d, 'NewLicenseMetadata').properties.features.additionalProperties = false),
      'body.metadata.features may have no other fields any more',
    ],
    [
      'a reply that has become any number',
      (d) => (schemaOf(d, 'CreateKeyResponse').properties.code.type = 'number'),
      '200.code is number, not integer',
    ],
  ];

  it.each(cases)('is %s', (_, change, says) => {
    const found = compareApis(released, changed(change));
    expect(found.filter(({ breaking }) => breaking).map((one) => one.change)).toContain(says);
  });

  it('is found where a document refers to a part of itself, and in the parameters of a path', () => {
    const written = (type: string, required: boolean) => ({
      paths: {
        '/thing': {
          parameters: [{ in: 'query', name: 'id', required, schema: { type: 'string' } }],
          head: { responses: {} },
          post: {
            requestBody: { $ref: '#/components/requestBodies/Thing' },
            responses: { 200: { $ref: '#/components/responses/Thing' } },
          },
        },
      },
      components: {
        requestBodies: { Thing: { required, content: { 'application/json': { schema: { type } } } } },
        responses: { Thing: { content: { 'application/json': { schema: { type } } } } },
      },
    });
    const found = compareApis(written('string', false), written('integer', true));
    expect(found.map(({ operation, change }) => `${operation} ${change}`).sort()).toEqual([
      'HEAD /thing query id is required',
      'POST /thing 200 is integer, not string',
      'POST /thing body is integer, not string',
      'POST /thing needs a body',
      'POST /thing query id is required',
    ]);
  });

  it('is another scope of any operation: the document says each of them', () => {
    const now = JSON.parse(JSON.stringify(toOpenApi()).replaceAll(/(?<=Needs the scope `)[^`]+/g, 'other:scope'));
    const scoped = listEndpoints().filter(({ endpoint: { scope } }) => scope !== 'public' && scope !== 'none');
    const operations = scoped.map(({ endpoint: { method, path } }) => `${method} ${path}`);
    const found = compareApis(toOpenApi(), now).map(({ operation }) => operation);
    expect(found.toSorted()).toEqual([...operations, 'GET /event/stream'].toSorted());
  });
});

describe('a compatible change', () => {
  const cases: readonly [string, (document: Document) => void, string][] = [
    ['a new operation', (d) => (d.paths['/new'] = { get: d.paths['/key'].get }), 'is new'],
    [
      'a new optional field of a request',
      (d) => (schemaOf(d, 'CreateKeyRequest').properties.colour = {}),
      'body.colour is new',
    ],
    ['a new field of a reply', (d) => (schemaOf(d, 'CreateKeyResponse').properties.colour = {}), '200.colour is new'],
    ['a wider bound', (d) => (d.components.parameters['Idempotency-Key'].schema.maxLength = 999), ''],
    [
      'any number where an integer had to be sent',
      (d) => (schemaOf(d, 'CreateKeyRequest').properties.heartbeatInterval.type = 'number'),
      '',
    ],
    [
      'an object that may also be sent as null',
      (d) => {
        const { properties } = schemaOf(d, 'CreateKeyRequest');
        properties.metadata = { anyOf: [properties.metadata, { type: 'null' }] };
      },
      '',
    ],
    ['a token that is not needed any more', (d) => (d.paths['/create-key'].post.security = []), ''],
    ['a retirement', (d) => (d.paths['/create-key'].post.deprecated = true), 'is being retired'],
  ];

  it.each(cases)('is %s', (_, change, says) => {
    const found = compareApis(released, changed(change));
    expect(found.filter(({ breaking }) => breaking)).toEqual([]);
    if (says !== '') expect(found.map((one) => one.change)).toContain(says);
  });

  it('is none at all between the same documents', () => {
    expect(compareApis(released, released)).toEqual([]);
  });
});
