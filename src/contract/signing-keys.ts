import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { pageFields } from './fields.ts';
import { acted, listReply, plain, textReply } from './reply.ts';
import { AccountId, Active, InstantText, Kid, resource, shown } from './scalars.ts';

export const Jwk = resource('Jwk', 'A public Ed25519 key (RFC 8037)', {
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  alg: z.literal('EdDSA'),
  use: z.literal('sig'),
  kid: Kid,
  x: shown('The public key, base64url', '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'),
});
export type Jwk = z.output<typeof Jwk>;

/** A signing key by its public half; the private half never leaves the service. */
export const SigningKey = resource('SigningKey', 'A key that signs licence files, or has signed them', {
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
});
export type SigningKey = z.output<typeof SigningKey>;

/** The account of a public request, which has no token. */
const publicAccount = z.object({
  account: AccountId.optional().describe('Default: the oldest account of the service'),
});

export const signingKeys = {
  /** Lists the signing keys of the account, newest first; the newest key signs. Source: decision 0007. */
  list: endpoint('GET /signing-key', 'license:read', {
    summary: 'List signing keys',
    description: 'Lists the keys that sign licence files or have signed them, newest first: all of them, or one page.',
    query: z.object(pageFields),
    reply: listReply('ListSigningKeysResponse', 'signingKeys.list', SigningKey),
    example: { page: '1' },
  }),

  /**
   * Makes a new signing key, which signs from now on; older keys still verify their own signatures. Source: decision 0007.
   */
  rotate: endpoint('POST /signing-key/rotate', 'license:sign', {
    summary: 'Rotate the signing key',
    description:
      'Makes a new key, which signs licence files from now on. Programs that carry the public keys need it to verify ' +
      'new files; old files go on verifying. Only for an admin token that is limited to no product.',
    reply: acted('RotateSigningKeyResponse', 'signingKeys.rotate', SigningKey, { status: 201 }),
  }),

  /** The public keys of one account, newest first; without `account`, of the oldest account. Source: decision 0007. */
  jwks: endpoint('GET /.well-known/jwks.json', 'public', {
    summary: 'The public keys that verify licence files',
    description: 'Returns the public keys of an account as a JSON Web Key Set, newest first. Old keys stay in it.',
    query: publicAccount,
    reply: plain('JwksResponse', { keys: z.array(Jwk) }),
    headers: ['ETag', 'Cache-Control'],
    errors: ['accountNotFound'],
  }),
};

const RevocationList = z
  .string()
  .regex(/^[\w-]+\.[\w-]+\.[\w-]+$/)
  .meta({
    id: 'RevocationList',
    description: 'A compact JWS of type `lic-rev+jwt`',
    examples: [
      'eyJhbGciOiJFZERTQSIsInR5cCI6ImxpYy1yZXYrand0Iiwia2lkIjoiLi4uIn0.eyJzZXEiOjEsImZpbGVzIjpbXSwibGljZW5zZXMiOltdfQ.c2lnbmF0dXJl',
    ],
  });

export const revocations = {
  /** The revocation list of one account; without `account`, of the oldest account. Source: decision 0007. */
  export: endpoint('GET /.well-known/revocations', 'public', {
    summary: 'The revoked licence files',
    description:
      'Returns a compact JWS of type `lic-rev+jwt`, signed with a key of the account, with the claims `iss`, `iat`, ' +
      '`exp`, `seq`, which goes up with each change, `files` (ids of files whose devices were freed or licences deleted) ' +
      'and `licenses` (ids of blocked licences).',
    query: publicAccount,
    reply: textReply('application/jwt', RevocationList),
    headers: ['ETag', 'Cache-Control'],
    errors: ['accountNotFound'],
  }),
};
