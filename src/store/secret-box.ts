import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
export const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

const ID_BYTES = 9;

export type Random = (length: number) => Uint8Array;

/** The key that seals the secrets of one database, stored there under a master key. */
export interface DataKey {
  readonly id: string;
  readonly bytes: Uint8Array;
}

/** 32 bytes that an operator keeps away from the database. */
export type MasterKey = Uint8Array;

/** A data key as it is kept. */
export interface WrappedKey {
  readonly id: string;
  readonly sealed: string;
}

const START = 'lkm1';

/** Seals secrets that repositories write, and opens secrets that they read. */
export interface Secrets {
  readonly kept: 'plain' | 'sealed';
  /**
   * `context` names table and row, as {@link secretContext} does: a secret that is sealed for one place opens nowhere else.
   */
  sealSecret(secret: string, context: string): string;
  /** Throws an Error for a secret under another key or of another context, an altered secret, and a plain secret. */
  openSecret(kept: string, context: string): string;
}

export const secretContext = (table: string, ...key: readonly string[]): string => [table, ...key].join(' ');

/** Keeps secrets plain. */
export const plainSecrets: Secrets = { kept: 'plain', sealSecret: (secret) => secret, openSecret: (kept) => kept };

/** Secrets under a data key, by AES-256-GCM: `lkm1.<id of the key>.<nonce, ciphertext, tag>`. Without a key they are plain. */
export function secretsUnder(key: DataKey | null, random: Random): Secrets {
  if (key === null) return plainSecrets;
  const { id, bytes } = key;
  return {
    kept: 'sealed',
    sealSecret: (secret, context) => `${START}.${id}.${seal(bytes, Buffer.from(secret), `${id} ${context}`, random)}`,
    openSecret(kept, context) {
      const [start, keyId, sealed] = kept.split('.');
      // Only somebody without the key can have written a plain secret.
      if (start !== START || sealed === undefined) throw new Error(`the secret of ${context} is not sealed`);
      if (keyId !== id) throw new Error(`the secret of ${context} is sealed under another data key`);
      return open(bytes, sealed, `${id} ${context}`).toString();
    },
  };
}

export const createDataKey = (random: Random): DataKey => ({
  id: Buffer.from(random(ID_BYTES)).toString('base64url'),
  bytes: random(KEY_BYTES),
});

export function wrapDataKey(master: MasterKey, { id, bytes }: DataKey, random: Random): WrappedKey {
  return { id, sealed: seal(master, bytes, contextOf(id), random) };
}

/** Null for a wrong master key. */
export function unwrapDataKey(master: MasterKey, { id, sealed }: WrappedKey): DataKey | null {
  try {
    return { id, bytes: open(master, sealed, contextOf(id)) };
  } catch {
    return null;
  }
}

const contextOf = (id: string): string => `data key ${id}`;

const seal = (key: Uint8Array, plain: Uint8Array, context: string, random: Random): string =>
  sealBytes(key, random(NONCE_BYTES), plain, context).toString('base64url');

const open = (key: Uint8Array, sealed: string, context: string): Buffer =>
  openBytes(key, Buffer.from(sealed, 'base64url'), context);

/** Seals with AES-256-GCM: nonce, ciphertext, tag. It opens with the same context alone. */
export function sealBytes(key: Uint8Array, nonce: Uint8Array, plain: Uint8Array, context: string): Buffer {
  const cipher = createCipheriv(ALGORITHM, keyObject(key), nonce).setAAD(Buffer.from(context));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Opens the bytes that {@link sealBytes} has made. Throws an Error when it was changed, or sealed for another context. */
export function openBytes(key: Uint8Array, bytes: Uint8Array, context: string): Buffer {
  if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new Error('the sealed text was cut off');
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(ALGORITHM, keyObject(key), nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
}

/** Node.js 24 tells bytes from a key by the two errors that it throws and catches; they take as long as the sealing. */
const keyObject = (key: Uint8Array): KeyObject => createSecretKey(key);
