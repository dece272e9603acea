import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
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
  const cases: readonly [string, (document: Document) => void, string][] = [
    ['an operation that is gone', (d) => delete d.paths['/key'].get, 'is gone'],
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
  ];

  it.each(cases)('is %s', (_, change, says) => {
    const found = compareApis(released, changed(change));
    expect(found.filter(({ breaking }) => breaking).map((one) => one.change)).toContain(says);
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
