import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { AccountId, Instant, TokenId } from '../../contract/scalars.ts';
import type { Connection } from '../engine/driver.ts';
import { statement } from '../engine/statement.ts';
import type { IdempotencyRow } from '../schema.ts';

/** One request that was made under an idempotency key. Neither the key nor the response is in it in clear. */
export interface IdempotencyRecord {
  readonly accountId: AccountId;
  readonly keyHash: IdempotencyKeyHash;
  readonly fingerprintVersion: number;
  readonly fingerprint: string;
  /** In progress: it may have run, and its response is not known. Only records from elsewhere are in that state. */
  readonly state: 'in_progress' | 'completed';
  readonly method: string;
  readonly path: string;
  /** The token that made the request; null for the owner of a database in process, and where it is not known. */
  readonly tokenId: TokenId | null;
  /** Null when no response is stored. */
  readonly response: SealedResponse | null;
  readonly createdAt: Instant;
}

const insert = statement<IdempotencyRow>()((db, $) =>
  db.insertInto('idempotency').values({
    account_id: $.account_id,
    key_hash: $.key_hash,
    fingerprint_version: $.fingerprint_version,
    fingerprint: $.fingerprint,
    state: $.state,
    method: $.method,
    path: $.path,
    token_id: $.token_id,
    sealed_response: $.sealed_response,
    created_at: $.created_at,
  }),
);

const find = statement<{ accountId: string; keyHash: string }>()((db, $) =>
  db.selectFrom('idempotency').selectAll().where('account_id', '=', $.accountId).where('key_hash', '=', $.keyHash),
);

const list = statement<{ accountId: string; state: IdempotencyRow['state']; pattern: string; limit: number }>()(
  (db, $) =>
    db
      .selectFrom('idempotency')
      .selectAll()
      .where('account_id', '=', $.accountId)
      .where('state', '=', $.state)
      .where('key_hash', 'like', $.pattern)
      .orderBy('created_at')
      .orderBy('key_hash')
      .limit($.limit),
);

const remove = statement<{ accountId: string; keyHash: string }>()((db, $) =>
  db.deleteFrom('idempotency').where('account_id', '=', $.accountId).where('key_hash', '=', $.keyHash),
);

const complete = statement<{ accountId: string; keyHash: string }>()((db, $) =>
  db
    .updateTable('idempotency')
    .set({ state: 'completed' })
    .where('account_id', '=', $.accountId)
    .where('key_hash', '=', $.keyHash),
);

const removeOlder = statement<{ before: string; limit: number }>()((db, $) =>
  db
    .deleteFrom('idempotency')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('account_id', 'key_hash'),
        'in',
        selectFrom('idempotency as old')
          .select(['old.account_id', 'old.key_hash'])
          .where('old.created_at', '<', $.before)
          .orderBy('old.created_at')
          .limit($.limit)
          .$asTuple('account_id', 'key_hash'),
      ),
    )
    .returning('account_id'),
);

/** The idempotency records of accounts. */
export const idempotencyRepository = (db: Connection) => ({
  /** Claims the key for this transaction; false at once when another transaction holds it. */
  claim: (accountId: AccountId, keyHash: IdempotencyKeyHash): Promise<boolean> => db.tryLock(`${accountId} ${keyHash}`),

  async find(accountId: AccountId, keyHash: IdempotencyKeyHash): Promise<IdempotencyRecord | null> {
    const row = await db.first(find, { accountId, keyHash });
    return row === undefined ? null : toRecord(row);
  },

  async insert(record: IdempotencyRecord): Promise<void> {
    await db.run(insert, toRow(record));
  },

  /** Records of one state, oldest first; with `prefix`, in hexadecimal digits, those whose hash begins with it. */
  async list(
    accountId: AccountId,
    state: IdempotencyRecord['state'],
    { prefix = '', limit }: { readonly prefix?: string; readonly limit: number },
  ): Promise<IdempotencyRecord[]> {
    const rows = await db.all(list, { accountId, state, pattern: `${prefix}%`, limit });
    return rows.map(toRecord);
  },

  /** Marks a record as completed; when it holds no response, retries are refused with `storedResponseMissing`. */
  async complete(accountId: AccountId, keyHash: IdempotencyKeyHash): Promise<void> {
    await db.run(complete, { accountId, keyHash });
  },

  async remove(accountId: AccountId, keyHash: IdempotencyKeyHash): Promise<void> {
    await db.run(remove, { accountId, keyHash });
  },

  /** Removes up to `limit` records of all accounts made before the instant, oldest first; returns the account of each. */
  async removeOlder(before: Instant, limit: number): Promise<AccountId[]> {
    return (await db.all(removeOlder, { before, limit })).map((row) => row.account_id as AccountId);
  },
});

const toRow = (record: IdempotencyRecord): IdempotencyRow => ({
  account_id: record.accountId,
  key_hash: record.keyHash,
  fingerprint_version: record.fingerprintVersion,
  fingerprint: record.fingerprint,
  state: record.state,
  method: record.method,
  path: record.path,
  token_id: record.tokenId,
  sealed_response: record.response,
  created_at: record.createdAt,
});

const toRecord = (row: IdempotencyRow): IdempotencyRecord => ({
  accountId: row.account_id as AccountId,
  keyHash: row.key_hash as IdempotencyKeyHash,
  fingerprintVersion: row.fingerprint_version,
  fingerprint: row.fingerprint,
  state: row.state,
  method: row.method,
  path: row.path,
  tokenId: row.token_id as TokenId | null,
  response: row.sealed_response as SealedResponse | null,
  createdAt: row.created_at as Instant,
});

/** A response as it was sent. */
export interface StoredResponse {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

declare const brand: unique symbol;

/** What a record is found by, in place of its idempotency key: 64 hexadecimal digits. Only {@link deriveKey} makes one. */
export type IdempotencyKeyHash = string & { readonly [brand]: 'IdempotencyKeyHash' };

/** A stored response that only its idempotency key opens, as base64url. Only {@link sealResponse} makes one. */
export type SealedResponse = string & { readonly [brand]: 'SealedResponse' };

/** What is derived from an idempotency key. */
export interface DerivedKey {
  readonly hash: IdempotencyKeyHash;
  /** 256 bits for AES. Never stored. */
  readonly sealingKey: Uint8Array;
}

/** The record that a sealed response belongs to. A response that is moved to another record does not open. */
export interface SealedFor {
  readonly accountId: AccountId;
  readonly fingerprint: string;
  /** The token that made the request, if that is known. */
  readonly tokenId: string | null;
}

/** The first byte of a sealed response; goes up when the layout below changes. */
const VERSION = 1;

/** Random bytes that {@link sealResponse} needs, new ones each time. */
export const NONCE_BYTES = 12;

const TAG_BYTES = 16;
const HASH_BYTES = 32;
const SEALING_KEY_BYTES = 32;

/**
 * Derives from an idempotency key what its record is found by, and what seals the response: HKDF-SHA-256 (RFC 5869)
 * with the account in the salt, so that a guess must be made again for each account. Decision 0027.
 */
export function deriveKey(accountId: AccountId, idempotencyKey: string): DerivedKey {
  const length = HASH_BYTES + SEALING_KEY_BYTES;
  const bytes = Buffer.from(hkdfSync('sha256', idempotencyKey, `lkm-idempotency-1\0${accountId}`, '', length));
  return {
    hash: bytes.toString('hex', 0, HASH_BYTES) as IdempotencyKeyHash,
    sealingKey: bytes.subarray(HASH_BYTES),
  };
}

/** Seals a response with AES-256-GCM: version, nonce, ciphertext, tag. */
export function sealResponse(
  { status, contentType, body }: StoredResponse,
  sealingKey: Uint8Array,
  record: SealedFor,
  nonce: Uint8Array,
): SealedResponse {
  const cipher = createCipheriv('aes-256-gcm', keyObject(sealingKey), nonce);
  cipher.setAAD(contextOf(record));
  const parts = [
    Uint8Array.of(VERSION),
    nonce,
    cipher.update(`${status} ${contentType}\n${body}`, 'utf8'),
    cipher.final(),
    cipher.getAuthTag(),
  ];
  return Buffer.concat(parts).toString('base64url') as SealedResponse;
}

/** Opens a sealed response. Throws an Error when it was changed, or sealed for another record or by another version. */
export function openResponse(sealed: SealedResponse, sealingKey: Uint8Array, record: SealedFor): StoredResponse {
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes[0] !== VERSION) throw new Error(`a sealed response of version ${bytes[0]} is not known`);
  if (bytes.length < 1 + NONCE_BYTES + TAG_BYTES) throw new Error('a sealed response is too short');
  const end = bytes.length - TAG_BYTES;
  const decipher = createDecipheriv('aes-256-gcm', keyObject(sealingKey), bytes.subarray(1, 1 + NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(contextOf(record));
  decipher.setAuthTag(bytes.subarray(end));
  const text = decipher.update(bytes.subarray(1 + NONCE_BYTES, end), undefined, 'utf8') + decipher.final('utf8');
  const [space, newline] = [text.indexOf(' '), text.indexOf('\n')];
  return {
    status: Number(text.slice(0, space)),
    contentType: text.slice(space + 1, newline),
    body: text.slice(newline + 1),
  };
}

/** What is authenticated beside the response itself; JSON keeps its parts apart. */
const contextOf = ({ accountId, fingerprint, tokenId }: SealedFor): Buffer =>
  Buffer.from(JSON.stringify([accountId, fingerprint, tokenId]));

/** Node.js 24 tells bytes from a key by the two errors that it throws and catches; they take as long as the sealing. */
const keyObject = (sealingKey: Uint8Array): KeyObject => createSecretKey(sealingKey);
