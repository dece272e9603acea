import { sql } from 'kysely';
import type { AccountId, Instant, TokenId } from '../../contract/scalars.ts';
import type { Scope, TokenKind } from '../../contract/scopes.ts';
import type { Token } from '../../contract/tokens.ts';
import type { Connection } from '../engine/driver.ts';
import { statement } from '../engine/statement.ts';
import { listsOf, type Page } from '../lists.ts';
import { byKey, insertInto, integer, json, optional, type RecordOf, readerOf, type Table, text } from '../table.ts';

export const tokenColumns = {
  accountId: text<AccountId>()('account_id'),
  id: text()('id'),
  /** Hex SHA-256 of the secret, which itself is kept nowhere. */
  hash: text()('hash'),
  name: text()('name'),
  kind: text<TokenKind>()('kind'),
  scopes: json<Scope[]>()('scopes'),
  productIds: optional(json<string[]>()('product_ids')),
  networks: optional(json<string[]>()('networks')),
  maxIssues: optional(integer()('max_issues')),
  issued: integer()('issued'),
  /** The token whose `issued` counts for this one, which it has replaced. */
  budgetOf: optional(text()('budget_of')),
  rateLimit: optional(integer()('rate_limit')),
  expiresAt: optional(text<Instant>()('expires_at')),
  revokedAt: optional(text<Instant>()('revoked_at')),
  /** A day, as `2026-11-21`. */
  lastUsedOn: optional(text()('last_used_on')),
  createdAt: text<Instant>()('created_at'),
};

const tokens: Table<typeof tokenColumns> = { name: 'tokens', columns: tokenColumns };
const insert = insertInto(tokens);
const read = readerOf(tokens);
const byId = byKey(tokens, ['accountId', 'id'], read);
const byHash = byKey(tokens, ['hash'], read);
const lists = listsOf(tokens, read, { scope: ['accountId'], order: 'id', conditions: {} });

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
    .where('networks', 'is', null)
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
    .where('id', '=', (t) =>
      t
        .selectFrom('tokens as own')
        .select(({ fn }) => fn.coalesce('own.budget_of', 'own.id').as('id'))
        .where('own.account_id', '=', $.accountId)
        .where('own.id', '=', $.id),
    )
    .whereRef('issued', '<', 'max_issues')
    .returning(['issued', 'max_issues']),
);

const retire = statement<{ accountId: AccountId; id: TokenId; now: Instant; end: Instant }>()((db, $) =>
  db
    .updateTable('tokens')
    .set({
      expires_at: sql<Instant>`case when expires_at is null or expires_at > ${$.end} then ${$.end} else expires_at end`,
    })
    .where('account_id', '=', $.accountId)
    .where('id', '=', $.id)
    .where('revoked_at', 'is', null)
    .where((t) => t.or([t('expires_at', 'is', null), t('expires_at', '>', $.now)]))
    .returningAll(),
);

const noteUse = statement<{ accountId: AccountId; id: TokenId; day: string }>()((db, $) =>
  db
    .updateTable('tokens')
    .set({ last_used_on: $.day })
    .where('account_id', '=', $.accountId)
    .where('id', '=', $.id)
    .where((t) => t.or([t('last_used_on', 'is', null), t('last_used_on', '<', $.day)])),
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
  readonly networks?: readonly string[] | null;
  readonly maxIssues: number | null;
  /** The token whose budget of keys it spends, instead of one of its own. */
  readonly budgetOf?: string | null;
  readonly rateLimit?: number | null;
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
  async insert({ now, scopes, productIds, networks = null, ...token }: NewToken): Promise<void> {
    await db.run(insert, {
      ...token,
      scopes: [...scopes],
      productIds: productIds && [...productIds],
      networks: networks && [...networks],
      issued: 0,
      budgetOf: token.budgetOf ?? null,
      rateLimit: token.rateLimit ?? null,
      revokedAt: null,
      lastUsedOn: null,
      createdAt: now,
    });
  },

  /** The token with this hash, of whatever account, expired and revoked ones included. */
  async findByHash(hash: string): Promise<(Token & { accountId: AccountId }) | null> {
    const found = await byHash.find(db, { hash });
    return found && { accountId: found.accountId, ...toToken(found) };
  },

  async find(accountId: AccountId, id: string): Promise<Token | null> {
    const found = await byId.find(db, { accountId, id });
    return found && withBudget(db, found);
  },

  /** The token whose budget of keys this one spends: itself, unless it has replaced another one. */
  async budgetOf(accountId: AccountId, id: string): Promise<string> {
    return (await byId.find(db, { accountId, id }))?.budgetOf ?? id;
  },

  /** Tokens, oldest first. */
  async list(accountId: AccountId, page: Page): Promise<Token[]> {
    const tokens: Token[] = [];
    for (const record of await lists.page(db, { accountId }, page)) tokens.push(await withBudget(db, record));
    return tokens;
  },

  /** How many tokens there are. */
  count: (accountId: AccountId): Promise<number> => lists.count(db, { accountId }),

  /** All tokens, oldest first. */
  async *listAll(accountId: AccountId): AsyncGenerator<Token> {
    for await (const record of lists.walk(db, { accountId })) yield withBudget(db, record);
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

  /**
   * Lets a token end at `end`, unless it ends before, and returns it as it was restricted; null when it has ended
   * already.
   */
  async retire(accountId: AccountId, id: TokenId, { now, end }: { now: Instant; end: Instant }): Promise<Token | null> {
    onChange();
    const row = await db.first(retire, { accountId, id, now, end });
    return row === undefined ? null : toToken(read(row));
  },

  /** Notes that the token was used on a day, which the day before it does not undo. */
  async noteUse(accountId: AccountId, id: TokenId, day: string): Promise<void> {
    onChange();
    await db.run(noteUse, { accountId, id, day });
  },

  /** Counts one key against the token's `maxIssues`, and returns how many are left; null when there were none. */
  async countIssue(accountId: AccountId, id: TokenId): Promise<number | null> {
    onChange();
    const row = await db.first(countIssue, { accountId, id });
    return row === undefined ? null : (row.max_issues ?? 0) - row.issued;
  },
});

type TokenRecord = RecordOf<typeof tokenColumns>;

/** A token with what is issued from its budget, also where that is kept with a token that it has replaced. */
async function withBudget(db: Connection, record: TokenRecord): Promise<Token> {
  if (record.budgetOf === null) return toToken(record);
  const first = await byId.find(db, { accountId: record.accountId, id: record.budgetOf });
  return toToken({ ...record, issued: first?.issued ?? record.issued });
}

function toToken({ accountId: _account, hash: _hash, budgetOf: _budget, ...token }: TokenRecord): Token {
  return { ...token, issued: token.maxIssues === null ? null : token.issued };
}
