import type { AccountId, Instant, TokenId } from '../../contract/scalars.ts';
import type { Scope, TokenKind } from '../../contract/scopes.ts';
import type { Token } from '../../contract/tokens.ts';
import type { Connection } from '../engine/driver.ts';
import { sql } from '../engine/sql.ts';
import { type List, listsOf } from '../lists.ts';
import { integer, json, optional, type RecordOf, tableOf, text, unlessTaken } from '../table.ts';

const columns = {
  accountId: text<AccountId>('account_id'),
  id: text('id'),
  /** Hex SHA-256 of the secret, which is not stored itself. */
  hash: text('hash'),
  name: text('name'),
  kind: text<TokenKind>('kind'),
  scopes: json<Scope[]>('scopes'),
  productIds: optional(json<string[]>('product_ids')),
  networks: optional(json<string[]>('networks')),
  maxIssues: optional(integer('max_issues')),
  issued: integer('issued'),
  /** The replaced token whose `issued` counts for this token. */
  budgetOf: optional(text('budget_of')),
  rateLimit: optional(integer('rate_limit')),
  expiresAt: optional(text<Instant>('expires_at')),
  revokedAt: optional(text<Instant>('revoked_at')),
  /** A day, as `2026-11-21`. */
  lastUsedOn: optional(text('last_used_on')),
  createdAt: text<Instant>('created_at'),
};

const tokens = tableOf('tokens', columns);
const lists = listsOf(tokens, 'id');

/** Whether a token has not ended, by its term. */
const isLasting = (now: Instant) => sql`(expires_at is null or expires_at > ${now})`;

type TokenRecord = RecordOf<typeof columns>;

/** The data of a new token, without its secret. */
export interface NewToken
  extends Pick<TokenRecord, 'accountId' | 'id' | 'hash' | 'name' | 'kind' | 'maxIssues' | 'expiresAt'> {
  readonly scopes: readonly Scope[];
  readonly productIds: readonly string[] | null;
  readonly networks?: readonly string[] | null;
  /** The token whose `maxIssues` it counts against, instead of its own. */
  readonly budgetOf?: string | null;
  readonly rateLimit?: number | null;
  readonly now: Instant;
}

/** See {@link tokenRepository}. */
export type TokenRepository = ReturnType<typeof tokenRepository>;

/**
 * The tokens of accounts.
 *
 * @param onChange called before each change of a token, to clear cached tokens
 */
export const tokenRepository = (db: Connection, onChange: () => void = () => {}) => ({
  /** Adds a token; false when another token has its secret. */
  insert({ now, networks = null, budgetOf = null, rateLimit = null, ...token }: NewToken): Promise<boolean> {
    const scopes = [...token.scopes];
    const productIds = token.productIds && [...token.productIds];
    const unused = { issued: 0, revokedAt: null, lastUsedOn: null, createdAt: now };
    const record = { ...token, scopes, productIds, networks: networks && [...networks], budgetOf, rateLimit };
    return tokens.insert(db, { ...record, ...unused }, unlessTaken);
  },

  /** The token with this hash, of any account, also expired or revoked. */
  async findByHash(hash: string): Promise<(Token & { accountId: AccountId }) | null> {
    const found = await tokens.find(db, { hash });
    return found && { accountId: found.accountId, ...toToken(found) };
  },

  async find(accountId: AccountId, id: string): Promise<Token | null> {
    const found = await tokens.find(db, { accountId, id });
    return found && withBudget(db, found);
  },

  /** The token whose `maxIssues` this token counts against: itself, or the first token that it replaced. */
  async budgetOf(accountId: AccountId, id: string): Promise<string> {
    return (await tokens.find(db, { accountId, id }))?.budgetOf ?? id;
  },

  /** Tokens, oldest first. */
  list: (accountId: AccountId): List<Token> => lists.of(db, { accountId }).map((record) => withBudget(db, record)),

  /** Revokes a token, once and for all; false when there is no such token. */
  async revoke(accountId: AccountId, id: TokenId, now: Instant): Promise<boolean> {
    onChange();
    const revoked = await db.run(sql`
      update tokens set revoked_at = coalesce(revoked_at, ${now}) where account_id = ${accountId} and id = ${id}`);
    return revoked === 1;
  },

  /** Whether another token of the account is an admin that may do everything, now. */
  async hasOtherAdmin(accountId: AccountId, id: TokenId, now: Instant): Promise<boolean> {
    const other = await tokens.first(db)`
      select * from tokens
      where account_id = ${accountId} and id <> ${id} and kind = 'admin' and revoked_at is null
        and product_ids is null and networks is null and max_issues is null and ${isLasting(now)}
      order by id limit 1`;
    return other !== null;
  },

  /** Ends a token at `end` at the latest, and returns it; null if it has ended already. */
  async retire(accountId: AccountId, id: TokenId, { now, end }: { now: Instant; end: Instant }): Promise<Token | null> {
    onChange();
    const retired = await tokens.first(db)`
      update tokens set expires_at = case when expires_at is null or expires_at > ${end} then ${end} else expires_at end
      where account_id = ${accountId} and id = ${id} and revoked_at is null and ${isLasting(now)} returning *`;
    return retired && toToken(retired);
  },

  /** Notes the last day on which the token was used; an earlier day changes nothing. */
  async noteUse(accountId: AccountId, id: TokenId, day: string): Promise<void> {
    onChange();
    await db.run(sql`
      update tokens set last_used_on = ${day}
      where account_id = ${accountId} and id = ${id} and (last_used_on is null or last_used_on < ${day})`);
  },

  /** Counts keys against the token's `maxIssues`, and returns how many are left; null if too few were left. */
  countIssues(accountId: AccountId, id: TokenId, count: number): Promise<number | null> {
    onChange();
    const counted = sql`
      update tokens set issued = issued + ${count}
      where account_id = ${accountId} and issued + ${count} <= max_issues and id = (
        select coalesce(own.budget_of, own.id) from tokens as own
        where own.account_id = ${accountId} and own.id = ${id})
      returning max_issues - issued as "left"`;
    return db.first(counted, (row: { left: number }) => row.left);
  },
});

/** Tokens with their `issued` counts, which may be stored with a replaced token. */
async function withBudget(db: Connection, record: TokenRecord): Promise<Token> {
  if (record.budgetOf === null) return toToken(record);
  const first = await tokens.find(db, { accountId: record.accountId, id: record.budgetOf });
  return toToken({ ...record, issued: first?.issued ?? record.issued });
}

function toToken({ accountId: _account, hash: _hash, budgetOf: _budget, ...token }: TokenRecord): Token {
  return { ...token, issued: token.maxIssues === null ? null : token.issued };
}
