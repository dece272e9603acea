import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { contract } from '../../src/contract/index.ts';
import { toOpenApi } from '../../src/contract/openapi/openapi.ts';
import { absentIds } from '../support/requests.ts';

/** What another program makes of the document: it has the schemas and nothing of zod. */
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(toOpenApi(), 'document');
const validatorOf = (name: string) => ajv.compile({ $ref: `document#/components/schemas/${name}` });

const { keys, products, tokens } = contract;
const { productId } = absentIds;
const floating = { productId, licenseType: 'floating' };
const token = { name: 'n', kind: 'scoped', scopes: ['license:read'] };
const metadataOf = (count: number) => ({
  ...Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i}`, i])),
});
const longName = 'n'.repeat(65);

/** Bodies that both the server and the document accept, or both refuse. */
const cases: readonly (readonly [string, { safeParse(value: unknown): { success: boolean } }, boolean, unknown])[] = [
  ['CreateKeyRequest', schemaOf(keys.create), true, { productId }],
  ['CreateKeyRequest', schemaOf(keys.create), false, {}],
  ['CreateKeyRequest', schemaOf(keys.create), false, { productId: 'p'.repeat(21) }],
  ['CreateKeyRequest', schemaOf(keys.create), false, { productId: `${productId}\n-` }],
  ['CreateKeyRequest', schemaOf(keys.create), true, { productId: `${productId} pPcCsS` }],
  ['CreateKeyRequest', schemaOf(keys.create), true, { productId, customerId: 'c', newCustomer: null }],
  ['CreateKeyRequest', schemaOf(keys.create), true, { productId, customerId: null, newCustomer: { name: 'A' } }],
  ['CreateKeyRequest', schemaOf(keys.create), false, { productId, customerId: 'c', newCustomer: { name: 'A' } }],
  ['CreateKeyRequest', schemaOf(keys.create), false, { productId, newCustomer: { name: ' ' } }],
  ['CreateKeyRequest', schemaOf(keys.create), false, { productId, newCustomer: { name: 'A', email: 'a@b' } }],
  ['CreateKeyRequest', schemaOf(keys.create), false, { productId, newCustomer: { name: 'A', email: 'a@b-.example' } }],
  ['CreateKeyRequest', schemaOf(keys.create), true, { productId, newCustomer: { name: 'A', email: 'a@b-c.example' } }],
  ['CreateKeyRequest', schemaOf(keys.create), true, { productId, gracePeriod: 'P0Y10D' }],
  ['CreateKeyRequest', schemaOf(keys.create), false, { productId, gracePeriod: 'P00D' }],
  ['CreateKeyRequest', schemaOf(keys.create), false, { productId, metadata: { 'a\nb': 1 } }],
  ['CreateKeyRequest', schemaOf(keys.create), false, { productId, usesPerKey: 5 }],
  ['CreateKeyRequest', schemaOf(keys.create), false, { productId, usesPerKey: '0' }],
  ['CreateKeyRequest', schemaOf(keys.create), true, { productId, expiryDate: '2027-01-01T00:00:00+01:00' }],
  ['CreateKeyRequest', schemaOf(keys.create), false, { productId, expiryDate: '2027-01-01' }],
  ['CreateKeyRequest', schemaOf(keys.create), true, { ...floating, maxConcurrentSessions: 5 }],
  ['CreateKeyRequest', schemaOf(keys.create), true, { productId, maxConcurrentSessions: null }],
  ['CreateKeyRequest', schemaOf(keys.create), false, { productId, maxConcurrentSessions: 5 }],
  [
    'CreateKeyRequest',
    schemaOf(keys.create),
    false,
    { ...floating, licenseType: 'node-locked', maxConcurrentSessions: 5 },
  ],
  ['CreateKeyRequest', schemaOf(keys.create), false, { ...floating, maxConcurrentSessions: 0 }],
  ['CreateKeyRequest', schemaOf(keys.create), false, { ...floating, heartbeatInterval: 59 }],
  ['CreateKeyRequest', schemaOf(keys.create), false, { productId, allowedHosts: [] }],
  [
    'CreateKeyRequest',
    schemaOf(keys.create),
    false,
    { productId, allowedHosts: Array.from({ length: 1_001 }, String) },
  ],
  ['CreateKeyRequest', schemaOf(keys.create), true, { productId, metadata: { ...metadataOf(50), features: {} } }],
  ['CreateKeyRequest', schemaOf(keys.create), false, { productId, metadata: metadataOf(53) }],
  ['CreateKeyRequest', schemaOf(keys.create), false, { productId, metadata: { [longName]: 1 } }],
  ['CreateKeyRequest', schemaOf(keys.create), false, { productId, metadata: { note: 'x'.repeat(501) } }],
  ['CreateKeyRequest', schemaOf(keys.create), false, { productId, metadata: { nested: {} } }],
  ['CreateKeyRequest', schemaOf(keys.create), false, { productId, metadata: { features: metadataOf(41) } }],
  ['CreateKeyRequest', schemaOf(keys.create), false, { productId, metadata: { features: { [longName]: true } } }],
  ['CreateKeyRequest', schemaOf(keys.create), false, { productId, metadata: { features: { a: null } } }],
  ['UpdateProductRequest', schemaOf(products.update), true, { active: false }],
  ['UpdateProductRequest', schemaOf(products.update), false, {}],
  ['UpdateProductRequest', schemaOf(products.update), false, { colour: 'blue' }],
  ['CreateTokenRequest', schemaOf(tokens.create), true, token],
  ['CreateTokenRequest', schemaOf(tokens.create), true, { name: 'n', kind: 'admin' }],
  ['CreateTokenRequest', schemaOf(tokens.create), false, { name: 'n', kind: 'scoped' }],
  ['CreateTokenRequest', schemaOf(tokens.create), false, { ...token, kind: 'admin' }],
  ['CreateTokenRequest', schemaOf(tokens.create), false, { ...token, scopes: ['license:all'] }],
  ['CreateTokenRequest', schemaOf(tokens.create), false, { ...token, maxIssues: 1.5 }],
];

describe('the schema of a request', () => {
  it.each(cases)('%s says what the server says (%#)', (name, schema, accepted, body) => {
    expect({ server: schema.safeParse(body).success, document: validatorOf(name)(body) }).toEqual({
      server: accepted,
      document: accepted,
    });
  });

  it('leaves to the server what no schema can say: lone surrogates, blanks of every kind, one number beside another', () => {
    const bodies = [
      { productId: `${productId}\ud800` },
      { productId, newCustomer: { name: '\u2003\u00a0' } },
      { productId, heartbeatInterval: 901 },
      { productId, heartbeatInterval: 400, sessionLeaseDuration: 399 },
      { productId, metadata: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`n${i}`, 'é'.repeat(250)])) },
    ];
    for (const body of bodies) expect(schemaOf(keys.create).safeParse(body).success).toBe(false);
  });
});

function schemaOf({ body }: { readonly body?: unknown }) {
  return body as { safeParse(value: unknown): { success: boolean } };
}
