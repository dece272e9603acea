import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { pageFields } from './fields.ts';
import { acted, actedList, plain } from './reply.ts';
import { AccountId, Active, InstantText, Kid, shown } from './scalars.ts';

/** A public key that verifies licence files (RFC 8037). */
export const Jwk = z
  .looseObject({
    kty: z.literal('OKP'),
    crv: z.literal('Ed25519'),
    alg: z.literal('EdDSA'),
    use: z.literal('sig'),
    kid: Kid,
    x: shown('The public key, base64url', '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'),
  })
  .meta({ id: 'Jwk', description: 'A public Ed25519 key (RFC 8037)' });
export type Jwk = z.output<typeof Jwk>;

/** A signing key by its public half; the private one never leaves the service. */
export const SigningKey = z
  .looseObject({
    kid: Kid,
    fingerprint: shown(
      '`sha256:` and the hex SHA-256 of the public key (SPKI DER)',
      'sha256:ab57eb2eb8788a0d6ad5bf1babc9898aa3d9a0da3f3d0b6c2b2f0d6b5e4c3a21',
    ),
    current: Active.describe('Whether it signs now'),
    publicKey: shown(
      'The public key in PEM',
      '-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----\n',
    ),
    jwk: Jwk,
    createdAt: InstantText,
  })
  .meta({ id: 'SigningKey', description: 'A key that signs licence files, or has signed them' });
export type SigningKey = z.output<typeof SigningKey>;

/** Which account is meant where no token says it. */
export const publicAccount = z.object({
  account: AccountId.optional().describe('Default: the oldest account of the service'),
});

/** The operations on signing keys. */
export const signingKeys = {
  /** Lists the signing keys of the account, newest first; the newest one signs. Source: decision 0007. */
  list: endpoint('GET /signing-key', 'license:read', {
    summary: 'List signing keys',
    description:
      'Lists the keys that sign licence files or have signed them, newest first, by their public halves: all of them, ' +
      'or one page.',
    query: z.object(pageFields),
    reply: actedList('ListSigningKeysResponse', 'signingKeys.list', SigningKey),
    example: { page: '1' },
  }),

  /** Makes a new signing key, which signs from now on; the others go on verifying what they signed. Source: decision 0007. */
  rotate: endpoint('POST /signing-key/rotate', 'license:sign', {
    summary: 'Rotate the signing key',
    description:
      'Makes a new key, which signs licence files from now on. The files of the others go on verifying. Programs that ' +
      'carry the public keys need the new one before they can verify new files. Only an admin token that is limited to ' +
      'no product may do it.',
    reply: acted('RotateSigningKeyResponse', 'signingKeys.rotate', SigningKey, 201),
  }),

  /** The public keys of one account, newest first; without `account`, of the oldest account. Source: decision 0007. */
  jwks: endpoint('GET /.well-known/jwks.json', 'public', {
    summary: 'The public keys that verify licence files',
    description:
      'Returns the public keys of an account as a JSON Web Key Set, newest first. Old keys stay in it, so that the ' +
      'files they signed go on verifying.',
    query: publicAccount,
    reply: plain('JwksResponse', { keys: z.array(Jwk) }),
    headers: ['ETag', 'Cache-Control'],
    errors: ['accountNotFound'],
  }),
};
