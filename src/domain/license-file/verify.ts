import { createPublicKey, verify } from 'node:crypto';
import type { Instant } from '../../contract/scalars.ts';
import type { Jwk } from '../../contract/signing-keys.ts';
import { epochSeconds } from '../time.ts';
import { isLicenseClaims, isRecord, LICENSE_FILE_FORMAT, LICENSE_TOKEN_TYPE, type LicenseClaims } from './claims.ts';

const MAX_BYTES = 64 * 1024;
const NOT_BEFORE_LEEWAY_SECONDS = 60;

/** The result of a check, decided in the order of the list. */
export type Verdict =
  | 'token_malformed'
  | 'unknown_kid'
  | 'signature_invalid'
  | 'revoked'
  | 'clock_rolled_back'
  | 'not_yet_valid'
  | 'token_expired'
  | 'machine_mismatch'
  | 'product_mismatch'
  | 'ok';

/** What a licence file is checked against. */
export interface VerifyOptions {
  /** The only keys that count: no key is ever read from the file. */
  readonly keys: readonly Jwk[];
  readonly now: Instant;
  /** The device that uses the file; not given, any device is accepted. */
  readonly hostId?: string | undefined;
  /** The product that uses the file; not given, any product is accepted. */
  readonly productId?: string | undefined;
  /** The latest instant this device has known: an earlier `now` means that its clock was set back. */
  readonly lastSeenAt?: Instant | undefined;
  /** Revoked keys (`kid`) and files (`jti`). */
  readonly revoked?: ReadonlySet<string> | undefined;
}

/** `claims` are what the file states; null unless one of the keys signed them. */
export interface Verification {
  readonly verdict: Verdict;
  readonly claims: LicenseClaims | null;
}

/**
 * Checks the text of a licence file; any text gets a verdict. `nbf` has 60 seconds of leeway, `exp` none.
 * Throws when `keys` holds the file's `kid` with something that is not an Ed25519 point.
 */
export function verifyLicenseFile(text: string, options: VerifyOptions): Verification {
  const envelope = readLicenseEnvelope(text);
  if (!envelope) return { verdict: 'token_malformed', claims: null };
  const jwk = options.keys.find((key) => key.kid === envelope.kid);
  if (!jwk) return { verdict: 'unknown_kid', claims: null };
  if (!isSignedBy(jwk, envelope)) return { verdict: 'signature_invalid', claims: null };
  return { verdict: checkClaims(envelope, options), claims: envelope.claims };
}

function isSignedBy(jwk: Jwk, { signed, signature, signedKey, claims }: LicenseEnvelope): boolean {
  // Only `x` is taken, so that nothing but Ed25519 can come of it.
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: jwk.x }, format: 'jwk' });
  return verify(null, Buffer.from(signed), publicKey, signature) && signedKey === claims.key;
}

function checkClaims({ kid, claims }: LicenseEnvelope, options: VerifyOptions): Verdict {
  const { now, hostId, productId, lastSeenAt, revoked } = options;
  const nowSeconds = epochSeconds(now);
  if (revoked?.has(kid) || revoked?.has(claims.jti)) return 'revoked';
  if (lastSeenAt !== undefined && now < lastSeenAt) return 'clock_rolled_back';
  if (claims.nbf > nowSeconds + NOT_BEFORE_LEEWAY_SECONDS) return 'not_yet_valid';
  if (claims.exp <= nowSeconds) return 'token_expired';
  if (hostId !== undefined && claims.machine !== hostId) return 'machine_mismatch';
  if (productId !== undefined && claims.productId !== productId) return 'product_mismatch';
  return 'ok';
}

/** The parts of a licence file. None of them can be trusted before the signature has been checked. */
export interface LicenseEnvelope {
  readonly kid: string;
  readonly claims: LicenseClaims;
  /** What the signature covers: header and claims as they stand in the token. */
  readonly signed: string;
  readonly signature: Buffer;
  readonly signedKey: string;
}

/**
 * Takes the text of a licence file apart; null when it is not one: over 64 KiB, not our format, a token that is not
 * an EdDSA JWS with our claims, a `crit` header, or a `keyId` other than the token's `kid`.
 */
export function readLicenseEnvelope(text: string): LicenseEnvelope | null {
  if (Buffer.byteLength(text) > MAX_BYTES) return null;
  const file = parseJson(text);
  if (!isRecord(file) || file.format !== LICENSE_FILE_FORMAT) return null;
  const { licenseToken, signedKey, keyId } = file;
  if (typeof licenseToken !== 'string' || typeof signedKey !== 'string' || typeof keyId !== 'string') return null;

  const parts = licenseToken.split('.');
  const [head = '', body = '', tail = ''] = parts;
  const [header, claims, signature] = [decodeJson(head), decodeJson(body), decodeBase64url(tail)];
  if (parts.length !== 3 || !isHeader(header) || header.kid !== keyId) return null;
  if (!isLicenseClaims(claims) || !signature) return null;
  return { kid: keyId, claims, signed: `${head}.${body}`, signature, signedKey };
}

/** Members other than `crit` are ignored when unknown, as RFC 7515 §4 asks. */
function isHeader(header: unknown): header is { readonly kid: string } {
  return isRecord(header) && header.alg === 'EdDSA' && header.typ === LICENSE_TOKEN_TYPE && !('crit' in header);
}

function decodeJson(text: string): unknown {
  return parseJson(decodeBase64url(text)?.toString() ?? '');
}

/** Node skips what is not base64url and drops spare bits: only the one spelling that it writes itself counts. */
function decodeBase64url(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
