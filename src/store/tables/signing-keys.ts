import { sql } from 'kysely';
import type { AccountId, Instant } from '../../contract/scalars.ts';
import type { Connection } from '../engine/driver.ts';
import { statement } from '../engine/statement.ts';
import { type Secrets, secretContext } from '../secrets.ts';
import { insertInto, type RecordOf, readerOf, type Table, text } from '../table.ts';

export const signingKeyColumns = {
  accountId: text<AccountId>()('account_id'),
  kid: text()('kid'),
  privatePem: text()('private_pem'),
  publicPem: text()('public_pem'),
  createdAt: text<Instant>()('created_at'),
};

/** A key pair that signs licence files; both halves are PEM text. */
export type SigningKey = RecordOf<typeof signingKeyColumns>;

/** A signing key without its private half. */
export type PublicSigningKey = Pick<SigningKey, 'kid' | 'publicPem' | 'createdAt'>;

const signingKeys: Table<typeof signingKeyColumns> = { name: 'signing_keys', columns: signingKeyColumns };
const insert = insertInto(signingKeys);
const toPublic = readerOf(signingKeys, ['kid', 'publicPem', 'createdAt']);

const newest = statement<{ accountId: AccountId }>()((db, $) =>
  db
    .selectFrom('signing_keys')
    .select(['kid', 'private_pem'])
    .where('account_id', '=', $.accountId)
    .orderBy('created_at', 'desc')
    .orderBy('kid')
    .limit(sql.lit(1)),
);

/** More keys than any account rotates through. */
const MAX_LIST_ROWS = 1_000;

const list = statement<{ accountId: AccountId }>()((db, $) =>
  db
    .selectFrom('signing_keys')
    .select(['kid', 'public_pem', 'created_at'])
    .where('account_id', '=', $.accountId)
    .orderBy('created_at', 'desc')
    .orderBy('kid')
    .limit(sql.lit(MAX_LIST_ROWS)),
);

const contextOf = (accountId: string, kid: string): string => secretContext('signing_keys', accountId, kid);

/** The signing keys of accounts. */
export const signingKeyRepository = (db: Connection, { sealSecret, openSecret }: Secrets) => ({
  async insert(key: SigningKey): Promise<void> {
    await db.run(insert, { ...key, privatePem: sealSecret(key.privatePem, contextOf(key.accountId, key.kid)) });
  },

  /** The key that signs now: its id and its private half. */
  async current(accountId: AccountId): Promise<Pick<SigningKey, 'kid' | 'privatePem'> | null> {
    const row = await db.first(newest, { accountId });
    if (row === undefined) return null;
    return { kid: row.kid, privatePem: openSecret(row.private_pem, contextOf(accountId, row.kid)) };
  },

  /** The public halves, newest first. */
  async list(accountId: AccountId): Promise<PublicSigningKey[]> {
    return (await db.all(list, { accountId })).map(toPublic);
  },
});
