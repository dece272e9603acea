import type { AccountId, Instant } from '../../contract/scalars.ts';
import type { Connection } from '../engine/driver.ts';
import { sql } from '../engine/sql.ts';
import { type Secrets, secretContext } from '../secret-box.ts';
import { type RecordOf, tableOf, text } from '../table.ts';

const signingKeys = tableOf('signing_keys', {
  accountId: text<AccountId>('account_id'),
  kid: text('kid'),
  privatePem: text('private_pem'),
  publicPem: text('public_pem'),
  createdAt: text<Instant>('created_at'),
});

/** A key pair that signs licence files; both halves are PEM text. */
export type SigningKey = RecordOf<typeof signingKeys.columns>;

export type PublicSigningKey = Pick<SigningKey, 'kid' | 'publicPem' | 'createdAt'>;

/** The most signing keys that are read. */
const MAX_LIST_ROWS = 1_000;

const newestFirst = (accountId: AccountId, limit: number) => sql`
  select * from signing_keys where account_id = ${accountId} order by created_at desc, kid limit ${limit}`;

const contextOf = (accountId: string, kid: string): string => secretContext('signing_keys', accountId, kid);

export const signingKeyRepository = (db: Connection, { sealSecret, openSecret }: Secrets) => ({
  insert(key: SigningKey) {
    const privatePem = sealSecret(key.privatePem, contextOf(key.accountId, key.kid));
    return signingKeys.add(db, { ...key, privatePem });
  },

  /** The key that signs now: its id and its private half. */
  async current(accountId: AccountId): Promise<Pick<SigningKey, 'kid' | 'privatePem'> | null> {
    const key = await signingKeys.first(db)`${newestFirst(accountId, 1)}`;
    return key && { kid: key.kid, privatePem: openSecret(key.privatePem, contextOf(accountId, key.kid)) };
  },

  /** The public halves, newest first. */
  async list(accountId: AccountId): Promise<PublicSigningKey[]> {
    const keys = await signingKeys.all(db)`${newestFirst(accountId, MAX_LIST_ROWS)}`;
    return keys.map(({ kid, publicPem, createdAt }) => ({ kid, publicPem, createdAt }));
  },
});
