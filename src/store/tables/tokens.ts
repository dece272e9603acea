import type { AccountId, Instant, TokenId } from '../../contract/scalars.ts';
import type { Scope, TokenKind } from '../../contract/scopes.ts';
import type { Token } from '../../contract/tokens.ts';
import type { Connection } from '../engine/driver.ts';
import { statement } from '../engine/statement.ts';
import type { TokenRow } from '../schema.ts';
import { listsOf } from './lists.ts';

const insert = statement<{
  accountId: string;
  id: string;
  hash: string;
  name: string;
  kind: string;
  scopes: string;
  productIds: string | null;
  maxIssues: number | null;
  expiresAt: string | null;
  now: string;
}>()((db, $) =>
  db.insertInto('tokens').values({
    account_id: $.accountId,
    id: $.id,
    hash: $.hash,
    name: $.name,
    kind: $.kind,
    scopes: $.scopes,
    product_ids: $.productIds,
    max_issues: $.maxIssues,
    issued: 0,
    expires_at: $.expiresAt,
    revoked_at: null,
    created_at: $.now,
  }),
);

const findByHash = statement<{ hash: string }>()((db, $) =>
  db.selectFrom('tokens').selectAll().where('hash', '=', $.hash),
);

const find = statement<{ accountId: string; id: string }>()((db, $) =>
  db.selectFrom('tokens').selectAll().where('account_id', '=', $.accountId).where('id', '=', $.id),
);

const list = statement<{ accountId: string; after: string; limit: number }>()((db, $) =>
  db
    .selectFrom('tokens')
    .selectAll()
    .where('account_id', '=', $.accountId)
    .where('id', '>', $.after)
    .orderBy('id')
    .limit($.limit),
);

const revoke = statement<{ accountId: string; id: string; now: string }>()((db, $) =>
  db
    .updateTable('tokens')
    .set((t) => ({ revoked_at: t.fn.coalesce('revoked_at', t.val($.now)) }))
    .where('account_id', '=', $.accountId)
    .where('id', '=', $.id),
);

const otherAdmin = statement<{ accountId: string; id: string; now: string }>()((db, $) =>
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
    .limit(1),
);

const countIssue = statement<{ accountId: string; id: string }>()((db, $) =>
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

/** The tokens of accounts. */
export const tokenRepository = (db: Connection) => ({
  async insert(token: NewToken): Promise<void> {
    await db.run(insert, {
      ...token,
      scopes: JSON.stringify(token.scopes),
      productIds: token.productIds && JSON.stringify(token.productIds),
    });
  },

  /** The token with this hash, of whatever account, expired and revoked ones included. */
  async findByHash(hash: string): Promise<(Token & { accountId: AccountId }) | null> {
    const row = await db.first(findByHash, { hash });
    return row === undefined ? null : { accountId: row.account_id as AccountId, ...toToken(row) };
  },

  async find(accountId: AccountId, id: TokenId | string): Promise<Token | null> {
    const row = await db.first(find, { accountId, id });
    return row === undefined ? null : toToken(row);
  },

  ...listsOf(
    async (accountId, after, limit) => (await db.all(list, { accountId, after, limit })).map(toToken),
    () => true,
  ),

  /** Revokes a token, once and for all; false when there is no such token. */
  async revoke(accountId: AccountId, id: TokenId, now: Instant): Promise<boolean> {
    return (await db.run(revoke, { accountId, id, now })) === 1;
  },

  /** Whether another token of the account is an admin that may do everything, now. */
  async hasOtherAdmin(accountId: AccountId, id: TokenId, now: Instant): Promise<boolean> {
    return (await db.first(otherAdmin, { accountId, id, now })) !== undefined;
  },

  /** Counts one key against the token's `maxIssues`; false when that many have been created. */
  async countIssue(accountId: AccountId, id: TokenId): Promise<boolean> {
    return (await db.run(countIssue, { accountId, id })) === 1;
  },
});

const toToken = (row: TokenRow): Token => ({
  id: row.id,
  name: row.name,
  kind: row.kind as TokenKind,
  scopes: JSON.parse(row.scopes) as Scope[],
  productIds: row.product_ids === null ? null : (JSON.parse(row.product_ids) as string[]),
  maxIssues: row.max_issues,
  issued: row.max_issues === null ? null : row.issued,
  expiresAt: row.expires_at as Instant | null,
  revokedAt: row.revoked_at as Instant | null,
  createdAt: row.created_at as Instant,
});
