import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { flagField, list, pageFields } from './fields.ts';
import { examples } from './openapi/examples.ts';
import { acted, actedList, done } from './reply.ts';
import { Count, Instant, InstantText, Limit, Name, ProductId, TokenId } from './scalars.ts';
import { Scope, TokenKind } from './scopes.ts';

/** A token as lists show it: never the secret. */
export const Token = z
  .looseObject({
    id: z.string().meta({ description: 'Identifier of the token', examples: [examples.token.id] }),
    name: z.string().meta({ examples: [examples.token.name] }),
    kind: TokenKind,
    scopes: z.array(Scope).describe('All that the token may do, the scopes of its kind included'),
    productIds: z.array(z.string()).nullable().describe('The only products it may use; null means all'),
    maxIssues: Count.nullable().describe('How many keys it may issue; null means any number'),
    issued: Count.nullable().describe('How many keys it has issued; counted only with maxIssues'),
    expiresAt: InstantText.nullable().describe('When it expires; null means never'),
    revokedAt: InstantText.nullable().describe('When it was revoked; null means it was not'),
    createdAt: InstantText,
  })
  .meta({ id: 'Token', description: 'A credential of the API, without its secret' });
export type Token = z.output<typeof Token>;

/** A token on the one occasion its secret is shown. */
export const IssuedToken = z
  .looseObject({ ...Token.shape, token: z.string().describe('The secret, shown this once') })
  .meta({ id: 'IssuedToken', description: 'A credential of the API, with its secret' });

/** The operations on tokens. */
export const tokens = {
  /** Lists the tokens of the account, oldest first, revoked ones included; all of them unless a page is asked for. */
  list: endpoint({
    summary: 'List tokens',
    description:
      'Lists the tokens of the account, oldest first, revoked ones included, never their secrets. Without `page` and ' +
      '`limit` the list is complete; with one of them it is one page, and `meta` says where that stands.',
    method: 'GET',
    path: '/token',
    scope: 'token:read',
    query: z.object(pageFields),
    reply: actedList('ListTokensResponse', 'tokens.list', Token),
    example: { query: { page: '1' }, reply: { items: [examples.token], meta: examples.page } },
    errors: [],
    source: 'decisions 0008 and 0029',
  }),

  /** Creates a token that may do no more than the one that creates it. */
  create: endpoint({
    summary: 'Create a token',
    description:
      'Creates a token. It may do no more than the token that creates it, on no more products and for no longer. Its ' +
      'secret is shown in this response and never again.',
    method: 'POST',
    path: '/token',
    scope: 'token:write',
    body: z
      .object({
        name: Name.meta({ description: 'What it is for', examples: ['shop'] }),
        kind: TokenKind,
        scopes: list(Scope, 1, 64).optional().describe('What it may do; required for kind scoped, and only for it'),
        productIds: list(ProductId, 1, 100).optional().describe('The only products it may use; absent means all'),
        maxIssues: Limit.optional().describe('How many keys it may issue; absent means any number'),
        expiresAt: Instant.optional().describe('When it expires, in the future; absent means never'),
      })
      .refine((token) => (token.kind === 'scoped') === (token.scopes !== undefined), {
        message: 'scopes go with kind scoped',
        path: ['scopes'],
      })
      .meta({
        id: 'CreateTokenRequest',
        not: {
          anyOf: [
            { properties: { kind: { const: 'scoped' } }, not: { properties: { scopes: {} }, required: ['scopes'] } },
            { properties: { kind: { not: { const: 'scoped' } }, scopes: {} }, required: ['scopes'] },
          ],
        },
      }),
    reply: acted('CreateTokenResponse', 'tokens.create', IssuedToken, 201),
    example: {
      body: {
        name: 'shop',
        kind: 'scoped',
        scopes: ['license:write'],
        productIds: [examples.product.id],
        maxIssues: 1_000,
        expiresAt: '2027-11-21T10:00:00Z',
      },
      reply: examples.issuedToken,
    },
    errors: ['productNotFound'],
    source: 'decision 0008',
  }),

  /** Revokes a token; its next request is refused. */
  revoke: endpoint({
    summary: 'Revoke a token',
    description:
      'Revokes a token; its next request is refused. Revoking it again changes nothing. The last admin token of an ' +
      'account is revoked only with `force`, since nothing could create another one over the API.',
    method: 'DELETE',
    path: '/token/by-id',
    scope: 'token:write',
    query: z.object({
      tokenId: TokenId,
      force: flagField().optional().describe('Revoke it even if it is the last admin token; default false'),
    }),
    reply: done('RevokeTokenResponse', 'tokens.revoke'),
    example: { query: { tokenId: examples.token.id }, reply: undefined },
    errors: ['tokenNotFound', 'lastAdminToken'],
    source: 'decision 0008',
  }),

  /** Shows the token in use. */
  self: endpoint({
    summary: 'Show the token in use',
    description: 'Shows the token that the request carries. Any valid token may call it.',
    method: 'GET',
    path: '/token/self',
    scope: 'none',
    openToClients: true,
    reply: acted('GetOwnTokenResponse', 'tokens.self', Token),
    example: { reply: examples.token },
    errors: [],
    source: 'decision 0008',
  }),
};
