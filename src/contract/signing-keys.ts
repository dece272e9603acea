import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { plain } from './reply.ts';
import { AccountId } from './scalars.ts';

/** A public key that verifies licence files (RFC 8037). */
export const Jwk = z
  .looseObject({
    kty: z.literal('OKP'),
    crv: z.literal('Ed25519'),
    alg: z.literal('EdDSA'),
    use: z.literal('sig'),
    kid: z.string().describe('base64url(SHA-256(SPKI DER))'),
    x: z.string().describe('The public key, base64url'),
  })
  .meta({ id: 'Jwk' });
export type Jwk = z.output<typeof Jwk>;

export const signingKeys = {
  /** The public keys of one account, newest first; without `account`, of the oldest account. */
  jwks: endpoint({
    summary: 'The public keys that verify licence files',
    method: 'GET',
    path: '/.well-known/jwks.json',
    scope: 'public',
    query: z.object({ account: AccountId.optional() }),
    reply: plain({ keys: z.array(Jwk) }),
    errors: ['accountNotFound'],
    source: 'decision 0007',
  }),
};
