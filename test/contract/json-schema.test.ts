import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import type { AnyEndpoint } from '../../src/contract/endpoint.ts';
import { contract } from '../../src/contract/index.ts';
import { toOpenApi } from '../../src/contract/openapi/openapi.ts';
import { absentIds } from '../support/requests.ts';

/** What another program makes of the document: it has the schemas and nothing of zod. */
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(toOpenApi(), 'document');

const { keys, products, tokens } = contract;
const { productId } = absentIds;
const floating = { productId, licenseType: 'floating' };
const token = { name: 'n', kind: 'scoped', scopes: ['license:read'] };
const metadataOf = (count: number) => ({
  ...Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i}`, i])),
});
const longName = 'n'.repeat(65);

const newCustomer = (fields: object) => ({ productId, newCustomer: { name: 'A', ...fields } });
const metadata = (fields: object) => ({ productId, metadata: fields });

/** Bodies that both the server and the document accept, and such that both refuse. */
const cases: readonly (readonly [string, AnyEndpoint, accepted: readonly object[], refused: readonly object[]])[] = [
  [
    'CreateKeyRequest',
    keys.create,
    [
      { productId },
      { productId: `${productId} pPcCsS` },
      { productId, customerId: 'c', newCustomer: null },
      { ...newCustomer({}), customerId: null },
      ...[
        'a@b-c.example',
        'me@shöpware.example',
        'müller@x.example',
        '"a b"@x.example',
        'a..b@x.example',
        '.a.@x.example',
      ]
        .concat('me@xn--shpware-b1a.example', 'u@x.xn--p1ai', '用户@例子.广告', "o'brien+1@x.example")
        .map((email) => newCustomer({ email })),
      { productId, gracePeriod: 'P0Y10D' },
      { productId, expiryDate: '2027-01-01T00:00:00+01:00' },
      { ...floating, maxConcurrentSessions: 5 },
      { productId, maxConcurrentSessions: null },
      metadata({ ...metadataOf(50), features: {} }),
    ],
    [
      {},
      { productId: 'p'.repeat(21) },
      { productId: `${productId}\n-` },
      { ...newCustomer({}), customerId: 'c' },
      newCustomer({ name: ' ' }),
      ...[
        'a@b',
        'a@b-.example',
        'a@-b.example',
        'a@b..example',
        'a@.b.example',
        'a@b.example.',
        '@b.example',
        'b.example',
      ]
        .concat('a b@c.example', 'a@b c.example', 'a@b.example\r\nBcc: c@d.example', 'a\n@b.example', 'a@b@c.example')
        .concat('"a@b.example', '""@b.example', '"a\nb"@c.example', 'a,b@c.example', '<a@b.example>', 'a@10.0.0.1')
        .concat('a\u00a0@b.example', `${'a'.repeat(250)}@b.example`)
        .map((email) => newCustomer({ email })),
      { productId, gracePeriod: 'P00D' },
      { productId, usesPerKey: 5 },
      { productId, usesPerKey: '0' },
      { productId, expiryDate: '2027-01-01' },
      { productId, maxConcurrentSessions: 5 },
      { productId, licenseType: 'node-locked', maxConcurrentSessions: 5 },
      { ...floating, maxConcurrentSessions: 0 },
      { ...floating, heartbeatInterval: 59 },
      { productId, allowedHosts: [] },
      { productId, allowedHosts: Array.from({ length: 1_001 }, String) },
      metadata({ 'a\nb': 1 }),
      metadata(metadataOf(53)),
      metadata({ [longName]: 1 }),
      metadata({ features: metadataOf(41) }),
      metadata({ features: { [longName]: true } }),
      metadata({ features: { a: null } }),
    ],
  ],
  ['UpdateProductRequest', products.update, [{ active: false }], [{}, { colour: 'blue' }]],
  [
    'CreateTokenRequest',
    tokens.create,
    [token, { name: 'n', kind: 'admin' }],
    [
      { name: 'n', kind: 'scoped' },
      { ...token, kind: 'admin' },
      { ...token, scopes: ['license:all'] },
      { ...token, maxIssues: 1.5 },
    ],
  ],
];

describe('the schema of a request', () => {
  it.each(cases)('%s says what the server says', (name, { body: schema }, accepted, refused) => {
    const isValid = ajv.compile({ $ref: `document#/components/schemas/${name}` });
    const judge = (body: object) => ({ body, server: schema?.safeParse(body).success, document: isValid(body) });
    const expected = (bodies: readonly object[], is: boolean) =>
      bodies.map((body) => ({ body, server: is, document: is }));
    expect(accepted.map(judge)).toEqual(expected(accepted, true));
    expect(refused.map(judge)).toEqual(expected(refused, false));
  });

  it('leaves to the server what no schema can say: lone surrogates, blanks of every kind, one number beside another', () => {
    const bodies = [
      { productId: `${productId}\ud800` },
      { productId, newCustomer: { name: '\u2003\u00a0' } },
      { productId, heartbeatInterval: 901 },
      { productId, heartbeatInterval: 400, sessionLeaseDuration: 399 },
      { productId, metadata: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`n${i}`, 'é'.repeat(250)])) },
    ];
    for (const body of bodies) expect(keys.create.body?.safeParse(body).success).toBe(false);
  });
});
