import { sql } from 'kysely';
import type { AccountId, Instant, TokenId } from '../../contract/scalars.ts';
import type { Scope, TokenKind } from '../../contract/scopes.ts';
import type { Token } from '../../contract/tokens.ts';
import type { Connection } from '../engine/driver.ts';
import { statement } from '../engine/statement.ts';
import { listsOf, type Page } from '../lists.ts';
import { insertInto, integer, json, optional, readerOf, type Table, text } from '../table.ts';

export const tokenColumns = {
  accountId: text<AccountId>()('account_id'),
  id: text()('id'),
  /** Hex SHA-256 of the secret, which itself is kept nowhere. */
  hash: text()('hash'),
  name: text()('name'),
  kind: text<TokenKind>()('kind'),
  scopes: json<Scope[]>()('scopes'),
  productIds: optional(json<string[]>()('product_ids')),
  maxIssues: optional(integer()('max_issues')),
  issued: integer()('issued'),
  expiresAt: optional(text<Instant>()('expires_at')),
  revokedAt: optional(text<Instant>()('revoked_at')),
  createdAt: text<Instant>()('created_at'),
};

const tokens: Table<typeof tokenColumns> = { name: 'tokens', columns: tokenColumns };
const insert = insertInto(tokens);
const lists = listsOf(tokens, { scope: ['accountId'], order: 'id', conditions: {} });
const read = readerOf(tokens, [
  'id',
  'name',
  'kind',
  'scopes',
  'productIds',
  'maxIssues',
  'issued',
  'expiresAt',
  'revokedAt',
  'createdAt',
]);

const findByHash = statement<{ hash: string }>()((db, $) =>
  db.selectFrom('tokens').selectAll().where('hash', '=', $.hash),
);

const find = statement<{ accountId: AccountId; id: string }>()((db, $) =>
  db.selectFrom('tokens').selectAll().where('account_id', '=', $.accountId).where('id', '=', $.id),
);

const revoke = statement<{ accountId: AccountId; id: TokenId; now: Instant }>()((db, $) =>
  db
    .updateTable('tokens')
    .set((t) => ({ revoked_at: t.fn.coalesce('revoked_at', t.val($.now)) }))
    .where('account_id', '=', $.accountId)
    .where('id', '=', $.id),
);

const otherAdmin = statement<{ accountId: AccountId; id: TokenId; now: Instant }>()((db, $) =>
  db
    .selectFrom('tokens')
    .select('id')
    .where('account_id', '=', $.accountId)
    .where('id', '!=', $.id)
    .where('kind', '=', 'admin')
    .where('revoked_at', 'is', null)
    .where('product_ids', 'is', null)
    .where('max_issues', 'is', null)
    .where((t) => t.or([t('expires_at', 'is', null), t('expires_at', '>', $.now)]))
    .orderBy('id')
    .limit(sql.lit(1)),
);

const countIssue = statement<{ accountId: AccountId; id: TokenId }>()((db, $) =>
  db
    .updateTable('tokens')
    .set((t) => ({ issued: t('issued', '+', 1) }))
    .where('account_id', '=', $.accountId)
    .where('id', '=', $.id)
    .whereRef('issued', '<', 'max_issues'),
);

/** What a new token is made of; the secret itself is not kept. */
export interface NewToken {
  readonly accountId: AccountId;
  readonly id: string;
  readonly hash: string;
  readonly name: string;
  readonly kind: TokenKind;
  readonly scopes: readonly Scope[];
  readonly productIds: readonly string[] | null;
  readonly maxIssues: number | null;
  readonly expiresAt: Instant | null;
  readonly now: Instant;
}

/** See {@link tokenRepository}. */
export type TokenRepository = ReturnType<typeof tokenRepository>;

/**
 * The tokens of accounts.
 *
 * @param onChange called in front of each change of a token that may be known already
 */
export const tokenRepository = (db: Connection, onChange: () => void = () => {}) => ({
  async insert({ now, scopes, productIds, ...token }: NewToken): Promise<void> {
    await db.run(insert, {
      ...token,
      scopes: [...scopes],
      productIds: productIds && [...productIds],
      issued: 0,
      revokedAt: null,
      createdAt: now,
    });
  },

  /** The token with this hash, of whatever account, expired and revoked ones included. */
  async findByHash(hash: string): Promise<(Token & { accountId: AccountId }) | null> {
    const row = await db.first(findByHash, { hash });
    return row === undefined ? null : { accountId: row.account_id, ...toToken(row) };
  },

  async find(accountId: AccountId, id: string): Promise<Token | null> {
    const row = await db.first(find, { accountId, id });
    return row === undefined ? null : toToken(row);
  },

  /** Tokens, oldest first. */
  async list(accountId: AccountId, page: Page): Promise<Token[]> {
    return (await lists.page(db, { accountId }, page)).map(toToken);
  },

  /** How many tokens there are. */
  count: (accountId: AccountId): Promise<number> => lists.count(db, { accountId }),

  /** All tokens, oldest first. */
  async *listAll(accountId: AccountId): AsyncGenerator<Token> {
    for await (const rows of lists.walk(db, { accountId })) yield* rows.map(toToken);
  },

  /** Revokes a token, once and for all; false when there is no such token. */
  async revoke(accountId: AccountId, id: TokenId, now: Instant): Promise<boolean> {
    onChange();
    return (await db.run(revoke, { accountId, id, now })) === 1;
  },

  /** Whether another token of the account is an admin that may do everything, now. */
  async hasOtherAdmin(accountId: AccountId, id: TokenId, now: Instant): Promise<boolean> {
    return (await db.first(otherAdmin, { accountId, id, now })) !== undefined;
  },

  /** Counts one key against the token's `maxIssues`; false when that many have been created. */
  async countIssue(accountId: AccountId, id: TokenId): Promise<boolean> {
    onChange();
    return (await db.run(countIssue, { accountId, id })) === 1;
  },
});

function toToken(row: Parameters<typeof read>[0]): Token {
  const token = read(row);
  return { ...token, issued: token.maxIssues === null ? null : token.issued };
}
