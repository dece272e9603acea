import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { examples } from './examples.ts';
import { plain } from './reply.ts';
import { AccountId } from './scalars.ts';

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

/** The operations on signing keys. */
export const signingKeys = {
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
