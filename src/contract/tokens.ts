import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { acted, done } from './reply.ts';
import { Instant, InstantText, Name, ProductId, TokenId } from './scalars.ts';
import { Scope, TokenKind } from './scopes.ts';

/** A token as lists show it: never the secret. */
export const Token = z
  .looseObject({
    id: z.string(),
    name: z.string(),
    kind: TokenKind,
    scopes: z.array(Scope).describe('All that the token may do, those of its kind included'),
    productIds: z.array(z.string()).nullable().describe('The only products it may touch; null means all'),
    maxIssues: z.int().nullable().describe('How many keys it may create; null means any number'),
    issued: z.int().nullable().describe('How many keys it has created; counted only with maxIssues'),
    expiresAt: InstantText.nullable(),
    revokedAt: InstantText.nullable(),
    createdAt: InstantText,
  })
  .meta({ id: 'Token' });
export type Token = z.output<typeof Token>;

/** A token on the one occasion its secret is shown. */
export const IssuedToken = z.looseObject({ ...Token.shape, token: z.string().describe('The secret, shown this once') });

export const tokens = {
  /** Lists the tokens of the account, oldest first, revoked ones included. */
  list: endpoint({
    summary: 'List all tokens',
    method: 'GET',
    path: '/token',
    scope: 'token:read',
    reply: acted('tokens.list', z.array(Token)),
    errors: [],
    source: 'decision 0008',
  }),

  /** Creates a token that may do no more than the one that creates it. */
  create: endpoint({
    summary: 'Create a token',
    method: 'POST',
    path: '/token',
    scope: 'token:write',
    body: z
      .object({
        name: Name,
        kind: TokenKind,
        scopes: z.array(Scope).min(1).max(64).optional().describe('Required for kind scoped, and only for it'),
        productIds: z.array(ProductId).min(1).max(100).optional(),
        maxIssues: z.int().positive().max(999_999_999).optional(),
        expiresAt: Instant.optional(),
      })
      .refine((token) => (token.kind === 'scoped') === (token.scopes !== undefined), 'scopes go with kind scoped'),
    reply: acted('tokens.create', IssuedToken, 201),
    errors: ['productNotFound'],
    source: 'decision 0008',
  }),

  /** Revokes a token; its next request is refused. */
  revoke: endpoint({
    summary: 'Revoke a token',
    method: 'DELETE',
    path: '/token/by-id',
    scope: 'token:write',
    query: z.object({ tokenId: TokenId }),
    reply: done('tokens.revoke'),
    errors: ['tokenNotFound'],
    source: 'decision 0008',
  }),

  /** Shows the token that asks. */
  self: endpoint({
    summary: 'Show the token in use',
    method: 'GET',
    path: '/token/self',
    scope: 'none',
    reply: acted('tokens.self', Token),
    errors: [],
    source: 'decision 0008',
  }),
};
