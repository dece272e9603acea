import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, scryptSync } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
/** Random bytes that sealing needs, new ones each time. */
export const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

const ID_BYTES = 9;
const SALT_BYTES = 16;

type Random = (length: number) => Uint8Array;

/** The key that seals the secrets of one database. It is kept there itself, sealed under a master key. */
export interface DataKey {
  readonly id: string;
  readonly bytes: Uint8Array;
}

/** What an operator keeps away from the database: 32 bytes, or a passphrase. */
export type MasterKey =
  | { readonly kind: 'key'; readonly bytes: Uint8Array }
  | { readonly kind: 'passphrase'; readonly text: string };

/** A data key as it is kept. */
export interface WrappedKey {
  readonly id: string;
  readonly sealed: string;
  /** What the passphrase is stretched with; null for a master key of 32 bytes. */
  readonly salt: string | null;
}

const START = 'lkm1';

/**
 * Seals a secret with AES-256-GCM: `lkm1.<id of the key>.<nonce, ciphertext, tag>`.
 *
 * @param context where it is kept, such as its table and the key of its row: it opens nowhere else
 */
export function sealSecret({ id, bytes }: DataKey, secret: string, context: string, random: Random): string {
  return `${START}.${id}.${seal(bytes, Buffer.from(secret), `${id} ${context}`, random)}`;
}

/** Opens a sealed secret. Throws an Error when it is of another key or context, was changed, or is not sealed at all. */
export function openSecret({ id, bytes }: DataKey, kept: string, context: string): string {
  const [start, keyId, sealed] = kept.split('.');
  // A plain one has been put there by somebody who has no key.
  if (start !== START || sealed === undefined) throw new Error(`the secret of ${context} is not sealed`);
  if (keyId !== id) throw new Error(`the secret of ${context} is sealed under another data key`);
  return open(bytes, sealed, `${id} ${context}`).toString();
}

/** Makes a data key. */
export const createDataKey = (random: Random): DataKey => ({
  id: Buffer.from(random(ID_BYTES)).toString('base64url'),
  bytes: random(KEY_BYTES),
});

/** Seals a data key under a master key. */
export function wrapDataKey(master: MasterKey, { id, bytes }: DataKey, random: Random): WrappedKey {
  const salt = master.kind === 'key' ? null : Buffer.from(random(SALT_BYTES)).toString('base64url');
  return { id, salt, sealed: seal(bytesOf(master, salt), bytes, contextOf(id), random) };
}

/** Opens a data key; null when the master key is another one. */
export function unwrapDataKey(master: MasterKey, { id, salt, sealed }: WrappedKey): DataKey | null {
  if ((master.kind === 'key') !== (salt === null)) return null;
  try {
    return { id, bytes: open(bytesOf(master, salt), sealed, contextOf(id)) };
  } catch {
    return null;
  }
}

const contextOf = (id: string): string => `data key ${id}`;

/** 128 MiB and about half a second: once for each start (RFC 7914; OWASP, "Password Storage"). */
const SCRYPT = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1_048_576 };

function bytesOf(master: MasterKey, salt: string | null): Uint8Array {
  if (master.kind === 'key') return master.bytes;
  return scryptSync(master.text.normalize('NFC'), Buffer.from(salt ?? '', 'base64url'), KEY_BYTES, SCRYPT);
}

const seal = (key: Uint8Array, plain: Uint8Array, context: string, random: Random): string =>
  sealBytes(key, random(NONCE_BYTES), plain, context).toString('base64url');

const open = (key: Uint8Array, sealed: string, context: string): Buffer =>
  openBytes(key, Buffer.from(sealed, 'base64url'), context);

/** Seals with AES-256-GCM: nonce, ciphertext, tag. It opens with the same context alone. */
export function sealBytes(key: Uint8Array, nonce: Uint8Array, plain: Uint8Array, context: string): Buffer {
  const cipher = createCipheriv(ALGORITHM, keyObject(key), nonce).setAAD(Buffer.from(context));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Opens what {@link sealBytes} has made. Throws an Error when it was changed, or sealed for another context. */
export function openBytes(key: Uint8Array, bytes: Uint8Array, context: string): Buffer {
  if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new Error('the sealed text was cut off');
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(ALGORITHM, keyObject(key), nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
}

/** Node.js 24 tells bytes from a key by the two errors that it throws and catches; they take as long as the sealing. */
const keyObject = (key: Uint8Array): KeyObject => createSecretKey(key);
