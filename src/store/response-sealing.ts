import { hkdfSync } from 'node:crypto';
import type { AccountId } from '../contract/scalars.ts';
import { openBytes, sealBytes } from './secret-box.ts';

/** A response as it was sent. */
export interface StoredResponse {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

declare const brand: unique symbol;

/**
 * The hash of an idempotency key, by which a record is found: 64 hexadecimal digits. Only {@link deriveKey} makes such a
 * hash.
 */
export type IdempotencyKeyHash = string & { readonly [brand]: 'IdempotencyKeyHash' };

/** A stored response that only its idempotency key opens, as base64url. Only {@link sealResponse} makes such a response. */
export type SealedResponse = string & { readonly [brand]: 'SealedResponse' };

/** The hash and the sealing key of an idempotency key. */
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

const HASH_BYTES = 32;
const SEALING_KEY_BYTES = 32;

/**
 * Derives from an idempotency key the hash of its record and the key that seals the response: HKDF-SHA-256 (RFC 5869) with
 * the account in the salt, so that a guess must be made again for each account. Decision 0018.
 */
export function deriveKey(accountId: AccountId, idempotencyKey: string): DerivedKey {
  const length = HASH_BYTES + SEALING_KEY_BYTES;
  const bytes = Buffer.from(hkdfSync('sha256', idempotencyKey, `lkm-idempotency-1\0${accountId}`, '', length));
  return {
    hash: bytes.toString('hex', 0, HASH_BYTES) as IdempotencyKeyHash,
    sealingKey: bytes.subarray(HASH_BYTES),
  };
}

/** Seals a response: the version, then the bytes of {@link sealBytes}. */
export function sealResponse(
  { status, contentType, body }: StoredResponse,
  sealingKey: Uint8Array,
  record: SealedFor,
  nonce: Uint8Array,
): SealedResponse {
  const plain = Buffer.from(`${status} ${contentType}\n${body}`);
  const sealed = sealBytes(sealingKey, nonce, plain, contextOf(record));
  return Buffer.concat([Uint8Array.of(VERSION), sealed]).toString('base64url') as SealedResponse;
}

/** Opens a sealed response. Throws an Error when it was changed, or sealed for another record or by another version. */
export function openResponse(sealed: SealedResponse, sealingKey: Uint8Array, record: SealedFor): StoredResponse {
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes[0] !== VERSION) throw new Error(`a sealed response of version ${bytes[0]} is not known`);
  const text = openBytes(sealingKey, bytes.subarray(1), contextOf(record)).toString();
  const [space, newline] = [text.indexOf(' '), text.indexOf('\n')];
  return {
    status: Number(text.slice(0, space)),
    contentType: text.slice(space + 1, newline),
    body: text.slice(newline + 1),
  };
}

/** The additional authenticated data of a response, as JSON. */
const contextOf = ({ accountId, fingerprint, tokenId }: SealedFor): string =>
  JSON.stringify([accountId, fingerprint, tokenId]);
