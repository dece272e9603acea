import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { pageFields } from './fields.ts';
import { examples } from './openapi/examples.ts';
import { acted, actedList, plain } from './reply.ts';
import { AccountId, InstantText } from './scalars.ts';

/** A public key that verifies licence files (RFC 8037). */
export const Jwk = z
  .looseObject({
    kty: z.literal('OKP'),
    crv: z.literal('Ed25519'),
    alg: z.literal('EdDSA'),
    use: z.literal('sig'),
    kid: z.string().describe('The id of the key: base64url(SHA-256(SPKI DER))'),
    x: z.string().describe('The public key, base64url'),
  })
  .meta({ id: 'Jwk', description: 'A public Ed25519 key (RFC 8037)' });
export type Jwk = z.output<typeof Jwk>;

/** A signing key by its public half; the private one never leaves the service. */
export const SigningKey = z
  .looseObject({
    kid: z.string().meta({ description: 'The id of the key', examples: [examples.signingKey.kid] }),
    fingerprint: z.string().meta({
      description: '`sha256:` and the hex SHA-256 of the public key (SPKI DER)',
      examples: [examples.signingKey.fingerprint],
    }),
    current: z.boolean().describe('Whether it signs now'),
    publicKey: z.string().describe('The public key in PEM'),
    jwk: Jwk,
    createdAt: InstantText,
  })
  .meta({ id: 'SigningKey', description: 'A key that signs licence files, or has signed them' });
export type SigningKey = z.output<typeof SigningKey>;

/** The operations on signing keys. */
export const signingKeys = {
  /** Lists the signing keys of the account, newest first; the newest one signs. */
  list: endpoint({
    summary: 'List signing keys',
    description:
      'Lists the keys that sign licence files or have signed them, newest first, by their public halves. Without ' +
      '`page` and `limit` the list is complete; with one of them it is one page, and `meta` says where that stands.',
    method: 'GET',
    path: '/signing-key',
    scope: 'license:read',
    query: z.object(pageFields),
    reply: actedList('ListSigningKeysResponse', 'signingKeys.list', SigningKey),
    example: { query: { page: '1' }, reply: { items: [examples.signingKey], meta: examples.page } },
    errors: [],
    source: 'decision 0007',
  }),

  /** Makes a new signing key, which signs from now on; the others go on verifying what they signed. */
  rotate: endpoint({
    summary: 'Rotate the signing key',
    description:
      'Makes a new key, which signs licence files from now on. The files of the others go on verifying. Programs that ' +
      'carry the public keys need the new one before they can verify new files. Only an admin token that is limited to ' +
      'no product may do it.',
    method: 'POST',
    path: '/signing-key/rotate',
    scope: 'license:sign',
    reply: acted('RotateSigningKeyResponse', 'signingKeys.rotate', SigningKey, 201),
    example: { reply: examples.signingKey },
    errors: [],
    source: 'decision 0007',
  }),

  /** The public keys of one account, newest first; without `account`, of the oldest account. */
  jwks: endpoint({
    summary: 'The public keys that verify licence files',
    description:
      'Returns the public keys of an account as a JSON Web Key Set, newest first. Old keys stay in it, so that the ' +
      'files they signed go on verifying.',
    method: 'GET',
    path: '/.well-known/jwks.json',
    scope: 'public',
    query: z.object({ account: AccountId.optional().describe('Default: the oldest account of the service') }),
    reply: plain('JwksResponse', { keys: z.array(Jwk) }),
    headers: ['ETag', 'Cache-Control'],
    example: { reply: { keys: [examples.jwk] } },
    errors: ['accountNotFound'],
    source: 'decision 0007',
  }),
};
