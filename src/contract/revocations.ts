import { endpoint } from './endpoint.ts';
import { token } from './reply.ts';
import { publicAccount } from './signing-keys.ts';

export const revocations = {
  /** The revocation list of one account; without `account`, of the oldest account. Source: decision 0057. */
  export: endpoint('GET /.well-known/revocations', 'public', {
    summary: 'The revoked licence files',
    description:
      'Returns a compact JWS of type `lic-rev+jwt`, signed with a key of the account, with the claims `iss`, `iat`, ' +
      '`exp`, `seq`, which goes up with each change, `files` (ids of files whose devices were freed or licences deleted) ' +
      'and `licenses` (ids of blocked licences).',
    query: publicAccount,
    reply: token(
      'RevocationList',
      'A compact JWS of type `lic-rev+jwt`',
      'eyJhbGciOiJFZERTQSIsInR5cCI6ImxpYy1yZXYrand0Iiwia2lkIjoiLi4uIn0.eyJzZXEiOjEsImZpbGVzIjpbXSwibGljZW5zZXMiOltdfQ.c2lnbmF0dXJl',
    ),
    headers: ['ETag', 'Cache-Control'],
    errors: ['accountNotFound'],
  }),
};
