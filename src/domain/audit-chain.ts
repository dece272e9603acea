import { createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';
import type { AccountId, Instant } from '../contract/scalars.ts';
import type { Jwk } from '../contract/signing-keys.ts';
import { canonicalJson } from './canonical-json.ts';
import type { Signer } from './license-file/jws.ts';

/** Stands for the hash before the first row of an account. */
export const FIRST_HASH = '0'.repeat(64);

/** The fields that a list adds to a row: its hash, and names that may change later. */
interface Added {
  readonly hash?: unknown;
  readonly tokenName?: unknown;
  readonly productName?: unknown;
  readonly customerName?: unknown;
  readonly customerEmail?: unknown;
}

/** The text of a row that is hashed: its canonical JSON, without the fields that a list adds. */
export function contentOf<Row extends object>(row: Row & Added): string {
  const { hash: _, tokenName, productName, customerName, customerEmail, ...hashed } = row;
  return canonicalJson(hashed);
}

/** The hash of a row: hex SHA-256 over the hash of the row before and the row's own content. */
export const linkOf = (previousHash: string, content: string): string => hash('sha256', previousHash + content);

/** States that the account's row `seq` has this hash, and so does everything before it; signed with its signing key. */
export interface Checkpoint {
  readonly accountId: AccountId;
  readonly seq: number;
  readonly hash: string;
  readonly at: Instant;
  readonly kid: string;
  /** Ed25519 over {@link signedText}, base64url. */
  readonly signature: string;
}

type CheckpointFacts = Omit<Checkpoint, 'kid' | 'signature'>;

/** The text that the signature of a checkpoint is over. */
export const signedText = ({ accountId, seq, hash, at }: CheckpointFacts): string =>
  canonicalJson({ accountId, seq, hash, at });

/** Signs a checkpoint. */
export function signCheckpoint({ kid, privateKey }: Signer, facts: CheckpointFacts): Checkpoint {
  const signature = sign(null, Buffer.from(signedText(facts)), privateKey).toString('base64url');
  return { ...facts, kid, signature };
}

/** Whether one of the keys has signed the checkpoint. */
export function isSigned(checkpoint: Checkpoint, keys: readonly Jwk[]): boolean {
  const jwk = keys.find(({ kid }) => kid === checkpoint.kid);
  const signature = Buffer.from(checkpoint.signature, 'base64url');
  return jwk !== undefined && verify(null, Buffer.from(signedText(checkpoint)), publicKeyOf(jwk), signature);
}

/** A public key as SPKI PEM. */
export const publicKeyPem = (jwk: Jwk): string => publicKeyOf(jwk).export({ type: 'spki', format: 'pem' }).toString();

const publicKeyOf = (jwk: Jwk): KeyObject => createPublicKey({ key: { ...jwk }, format: 'jwk' });
