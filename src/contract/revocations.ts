import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { examples } from './openapi/examples.ts';
import { token } from './reply.ts';
import { AccountId } from './scalars.ts';

/** The operations on the revocation list. */
export const revocations = {
  /** The revocation list of one account; without `account`, of the oldest account. */
  export: endpoint({
    summary: 'The revoked licence files',
    description:
      'Returns a list of revoked licence files, signed with a key of the account: a compact JWS of type ' +
      '`lic-rev+jwt` with the claims `iss`, `iat`, `exp`, `seq`, `files` (ids of files: their devices were freed, or ' +
      'their licences deleted) and `licenses` (ids of blocked licences). `seq` goes up when the list changes.',
    method: 'GET',
    path: '/.well-known/revocations',
    scope: 'public',
    query: z.object({ account: AccountId.optional().describe('Default: the oldest account of the service') }),
    reply: token('RevocationList', 'A compact JWS of type `lic-rev+jwt`'),
    headers: ['ETag', 'Cache-Control'],
    example: { reply: examples.revocationList },
    errors: ['accountNotFound'],
    source: 'decision 0057',
  }),
};
