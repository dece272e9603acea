import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { durationField, flagField, list, pageFields, request } from './fields.ts';
import { acted, done, listReply } from './reply.ts';
import {
  Count,
  EndText,
  Instant,
  InstantText,
  Limit,
  Name,
  ProductId,
  resource,
  shown,
  shownId,
  TokenId,
  text,
} from './scalars.ts';
import { Scope, TokenKind } from './scopes.ts';

/** A field that older services do not send: null then. */
const later = <T extends z.ZodType>(schema: T) => schema.nullable().default(null);

/** A token as lists show it: never the secret. */
export const Token = resource('Token', 'A credential of the API, without its secret', {
  id: shownId(TokenId),
  name: shown('What it is for', 'shop'),
  kind: TokenKind,
  scopes: z.array(Scope).describe('All that the token may do, the scopes of its kind included'),
  productIds: z.array(z.string()).nullable().describe('The only products it may use; null means all'),
  networks: later(z.array(z.string())).describe('The only networks it may be used from; null means any'),
  maxIssues: Count.nullable().describe('How many keys it may issue; null means any number'),
  issued: Count.nullable().describe('How many keys it has issued; counted only with maxIssues'),
  rateLimit: later(Count).describe('Requests per minute; null means as many as the service allows any token'),
  expiresAt: InstantText.nullable().describe('When it expires; null means never'),
  revokedAt: InstantText.nullable().describe('When it was revoked; null means it was not'),
  lastUsedOn: later(z.iso.date()).describe('The last day on which it was used, UTC; null means never'),
  createdAt: InstantText,
});
export type Token = z.output<typeof Token>;

export const IssuedToken = resource('IssuedToken', 'A credential of the API, with its secret', {
  ...Token.shape,
  token: shown(
    'The secret, shown this once',
    'lkm_scoped_3m9x0v7q5k1c8w2d6t4n0f7h5j3p9r1b8y6z2a4e0s7g5k3m9q1v8cjw4t2n6',
  ),
});

const RotatedToken = resource('RotatedToken', 'A credential of the API, with its secret, that replaces another one', {
  ...IssuedToken.shape,
  replaces: z.looseObject({ id: shownId(TokenId), expiresAt: EndText }).describe('The token whose place it takes'),
});

/** A network or an address; the service refuses other text with 400/1. */
const Network = text(2, 49, /^[0-9a-fA-F:.]+([/][0-9]{1,3})?$/).meta({
  description: 'A network in CIDR notation, or one address',
  examples: ['203.0.113.0/24'],
});

/** How long a token is valid by default, in days. */
export const DEFAULT_TOKEN_DAYS = 90;

/** The highest rate limit of a token, per minute. */
const MAX_RATE = 60_000_000;

/** How long a replaced token stays valid by default: a day. */
export const DEFAULT_OVERLAP = 'P1D';

/** The rights of a new token. */
const rights = {
  name: Name.meta({ description: 'What it is for', examples: ['shop'] }),
  kind: TokenKind,
  scopes: list(Scope, 1, 64).optional().describe('What it may do; required for kind scoped, and only for it'),
  productIds: list(ProductId, 1, 100).optional().describe('The only products it may use; absent means all'),
  networks: list(Network, 1, 100).optional().describe('The only networks it may be used from; absent means any'),
  maxIssues: Limit.optional().describe('How many keys it may issue; absent means any number'),
  rateLimit: Limit.max(MAX_RATE).optional().describe('Requests per minute; absent means as many as its maker'),
  expiresAt: Instant.nullish().describe(
    `When it expires; null: never; absent: after ${DEFAULT_TOKEN_DAYS} days, or with its maker if that expires before`,
  ),
};

const tokenRequest = <S extends z.ZodRawShape>(id: string, shape: S) =>
  z
    .object(shape)
    .refine((token) => (Reflect.get(token, 'kind') === 'scoped') === (Reflect.get(token, 'scopes') !== undefined), {
      message: 'scopes: needed for kind scoped, and only for it',
      path: ['scopes'],
    })
    .meta({
      id,
      not: {
        anyOf: [
          { properties: { kind: { const: 'scoped' } }, not: { properties: { scopes: {} }, required: ['scopes'] } },
          { properties: { kind: { not: { const: 'scoped' } }, scopes: {} }, required: ['scopes'] },
        ],
      },
    });

export const tokens = {
  /** Lists the tokens of the account, oldest first, with revoked tokens. Source: decisions 0008 and 0005. */
  list: endpoint('GET /token', 'token:read', {
    summary: 'List tokens',
    description: 'Lists the tokens of the account, oldest first, revoked ones included: all of them, or one page.',
    query: z.object(pageFields),
    readsMany: true,
    reply: listReply('ListTokensResponse', 'tokens.list', Token),
    example: { page: '1' },
  }),

  /** Shows one token, never its secret. Source: decision 0008. */
  get: endpoint('GET /token/by-id', 'token:read', {
    summary: 'Show a token, without its secret',
    query: z.object({ tokenId: TokenId }),
    reply: acted('GetTokenResponse', 'tokens.get', Token),
    errors: ['tokenNotFound'],
  }),

  /** Creates a token whose rights are within the rights of the creating token. Source: decision 0008. */
  create: endpoint('POST /token', 'token:write', {
    summary: 'Create a token',
    description:
      'Creates a token. It may do no more than the token that creates it, on no more products, from no more networks, ' +
      'no more often and for no longer. Its secret is shown in this response and never again.',
    body: tokenRequest('CreateTokenRequest', rights),
    reply: acted('CreateTokenResponse', 'tokens.create', IssuedToken, { status: 201 }),
    example: { scopes: ['license:write'], networks: ['203.0.113.0/24'], maxIssues: 1_000 },
    errors: ['productNotFound', 'tokenOutlives'],
  }),

  /** Takes in a token whose secret another system has made. Source: decision 0008. */
  import: endpoint('POST /token/import', 'token:write', {
    summary: 'Take in a token of another system',
    description:
      'Creates a token with a secret that another system has made and that applications have built in. The request has only ' +
      'the hash of the secret; the hash of an easily guessed text, such as `undefined`, is refused. The token may do no more ' +
      'than the token that takes it in.',
    body: tokenRequest('ImportTokenRequest', {
      ...rights,
      hash: text(64, 64, /^[0-9a-f]{64}$/).meta({
        description: 'SHA-256 of the secret, in hexadecimal digits',
        examples: ['f1c0bb2b35fbd3a3c4f7d9f8a4b2d55b1ea86c7f0b3ba1d9f02b6d6a1f7ec943'],
      }),
    }),
    reply: acted('ImportTokenResponse', 'tokens.import', Token, { status: 201 }),
    example: { scopes: ['license:read'] },
    errors: ['productNotFound', 'tokenTaken', 'tokenOutlives'],
  }),

  /** Makes a token that replaces another token. Source: decision 0008. */
  rotate: endpoint('POST /token/rotate', 'token:write', {
    summary: 'Replace a token',
    description:
      'Creates a token with the name and the rights of another one, which stays valid for the overlap. Both share one ' +
      'budget of keys. Only a token that may do all that the replaced token may do can rotate it, and the new token expires no ' +
      'later than the token that rotates. Its secret is shown in this response and never again.',
    body: request('RotateTokenRequest', {
      tokenId: TokenId,
      overlap: durationField()
        .optional()
        .describe(`How long the old one stays valid, ISO 8601; default ${DEFAULT_OVERLAP}`),
      expiresAt: Instant.nullish().describe(
        'When the new one expires; null: never; absent: as long as the replaced one',
      ),
    }),
    reply: acted('RotateTokenResponse', 'tokens.rotate', RotatedToken, { status: 201 }),
    example: { overlap: 'PT12H' },
    errors: ['tokenNotFound', 'tokenEnded', 'tokenOutlives'],
  }),

  /** Revokes a token; its next request is refused. Source: decision 0008. */
  revoke: endpoint('DELETE /token/by-id', 'token:write', {
    summary: 'Revoke a token',
    description:
      'Revokes a token; its next request is refused. Revoking it again changes nothing. A token may revoke itself and ' +
      'every token that it could have created. The last admin token of an account is revoked only with `force`.',
    query: z.object({
      tokenId: TokenId,
      force: flagField().optional().describe('Revoke it even if it is the last admin token; default false'),
    }),
    reply: done('RevokeTokenResponse', 'tokens.revoke'),
    errors: ['tokenNotFound', 'lastAdminToken'],
  }),

  /** Shows the token that the request carries. Source: decision 0008. */
  self: endpoint('GET /token/self', 'none', {
    summary: 'Show the token in use',
    openToClients: true,
    reply: acted('GetOwnTokenResponse', 'tokens.self', Token),
  }),
};
