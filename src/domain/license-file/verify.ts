import type { Instant } from '../../contract/scalars.ts';
import { epochSeconds } from '../time.ts';
import { isLicenseClaims, isRecord, LICENSE_FILE_FORMAT, LICENSE_TOKEN_TYPE, type LicenseClaims } from './claims.ts';
import { isSignedBy, type Jws, type PublicKey, parseJson, readJws } from './jws.ts';
import { type RevocationFault, readRevocations } from './revocations.ts';

const MAX_BYTES = 64 * 1024;

/** Clocks differ, and are put right: a clock this far behind is not suspicious. */
const CLOCK_LEEWAY_SECONDS = 60;

/** The result of a check, decided in the order of the list. */
export type Verdict =
  | 'token_malformed'
  | 'unknown_kid'
  | 'signature_invalid'
  | RevocationFault
  | 'revoked'
  | 'clock_rolled_back'
  | 'not_yet_valid'
  | 'token_expired'
  | 'machine_mismatch'
  | 'product_mismatch'
  | 'nonce_mismatch'
  | 'ok';

/** The expected values that a licence file is checked against. */
export interface VerifyOptions {
  /** The public keys to trust, from the service's `/.well-known/jwks.json`; never from the file. */
  readonly keys: readonly PublicKey[];
  /** The time at which the file must be valid. */
  readonly now: Instant;
  /** The device that the file must be for; without it any device passes. */
  readonly hostId?: string | undefined;
  /** The product that the file must be for; without it any product passes. */
  readonly productId?: string | undefined;
  /** The nonce of the request for the file; without it any file passes. */
  readonly nonce?: string | undefined;
  /** The `watermark` of the last check, stored by the application: finds a clock that was set back. Any value but a whole number of seconds counts as such a clock. */
  readonly watermark?: number | undefined;
  /** The text of a revocation list, from `/.well-known/revocations`; refused unless one of the keys signed it. */
  readonly revocations?: string | undefined;
  /** Ids of signing keys (`kid`) or of files (`jti`) that are revoked. */
  readonly revoked?: ReadonlySet<string> | undefined;
}

/** The result of a check. */
export interface Verification {
  readonly verdict: Verdict;
  /** The claims of the file; null unless one of the keys signed it. */
  readonly claims: LicenseClaims | null;
  /** The latest known time, in seconds since 1970. The application gives it to the next check, so that setting the clock back gains nothing. */
  readonly watermark: number;
  /**
   * The revocation list that was read; null without a list, or when the list does not count. A list with a lower `seq` is
   * older.
   */
  readonly revocations: { readonly seq: number; readonly issuedAt: number } | null;
}

/**
 * Checks the text of a licence file; any text gets a verdict. A clock may be 60 seconds behind the file's date and the
 * watermark; `exp` has no leeway. Throws when the key in `keys` that is looked up is not an Ed25519 point.
 */
export function verifyLicenseFile(text: string, options: VerifyOptions): Verification {
  const { keys, hostId, productId, nonce, revoked, revocations } = options;
  const clock = epochSeconds(options.now);
  const known = options.watermark ?? clock;
  const isKnown = Number.isSafeInteger(known) && known >= 0;
  const watermark = isKnown ? Math.max(clock, known) : clock;
  const signed = readSigned(text, keys);
  if (typeof signed === 'string') return { verdict: signed, claims: null, watermark, revocations: null };
  const { kid, claims } = signed;
  const { jti, sub, iss, iat } = claims;
  const read =
    revocations === undefined
      ? null
      : readRevocations(revocations, { keys, issuer: iss, now: Math.max(watermark, iat) });
  const list = typeof read === 'string' ? null : read;
  const effective = Math.max(watermark, iat, list?.iat ?? 0);
  const latest = Math.max(known, list?.iat ?? 0);
  const faults: readonly (readonly [isFound: boolean | undefined, verdict: Verdict])[] = [
    [read === 'revocations_invalid', 'revocations_invalid'],
    [read === 'revocations_expired', 'revocations_expired'],
    [list?.files.includes(jti) || list?.licenses.includes(sub) || revoked?.has(kid) || revoked?.has(jti), 'revoked'],
    [!isKnown || latest > clock + CLOCK_LEEWAY_SECONDS, 'clock_rolled_back'],
    [claims.nbf > clock + CLOCK_LEEWAY_SECONDS, 'not_yet_valid'],
    [claims.exp <= effective, 'token_expired'],
    [hostId !== undefined && claims.machine !== hostId, 'machine_mismatch'],
    [productId !== undefined && claims.productId !== productId, 'product_mismatch'],
    [nonce !== undefined && claims.nonce !== nonce, 'nonce_mismatch'],
  ];
  const verdict = faults.find(([isFound]) => isFound)?.[1] ?? 'ok';
  return { verdict, claims, watermark: effective, revocations: list && { seq: list.seq, issuedAt: list.iat } };
}

/** The parts of a licence file that one of the keys signed; else the verdict. */
function readSigned(text: string, keys: readonly PublicKey[]): LicenseEnvelope | Verdict {
  const envelope = readLicenseEnvelope(text);
  if (!envelope) return 'token_malformed';
  const key = keys.find(({ kid }) => kid === envelope.kid);
  if (!key) return 'unknown_kid';
  return isSignedBy(key, envelope) && envelope.signedKey === envelope.claims.key ? envelope : 'signature_invalid';
}

/** The parts of a licence file. None of them can be trusted before the signature has been checked. */
export interface LicenseEnvelope extends Jws {
  readonly claims: LicenseClaims;
  readonly signedKey: string;
}

/**
 * Takes the text of a licence file apart; null when it is over 64 KiB or not a licence file of lkm, or when its `keyId` is
 * not the token's.
 */
export function readLicenseEnvelope(text: string): LicenseEnvelope | null {
  if (Buffer.byteLength(text) > MAX_BYTES) return null;
  const file = parseJson(text);
  if (!isRecord(file) || file.format !== LICENSE_FILE_FORMAT) return null;
  const { licenseToken, signedKey, keyId } = file;
  if (typeof licenseToken !== 'string' || typeof signedKey !== 'string') return null;
  const jws = readJws(licenseToken, LICENSE_TOKEN_TYPE);
  if (!jws || jws.kid !== keyId || !isLicenseClaims(jws.claims)) return null;
  return { ...jws, claims: jws.claims, signedKey };
}
