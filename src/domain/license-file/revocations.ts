import { isRecord } from './claims.ts';
import { isSignedBy, type PublicKey, readJws, type Signer, signJws } from './jws.ts';

/** The `typ` in the header of a revocation list. */
export const REVOCATION_LIST_TYPE = 'lic-rev+jwt';

/** How long a list may be used, in seconds. Decision 0007. */
export const REVOCATION_LIST_SECONDS = 30 * 24 * 60 * 60;

/** An unchanged list gets a new date after this time, and is the same text until then. */
const REFRESH_INTERVAL_SECONDS = 60 * 60;

const MAX_BYTES = 16 * 1024 * 1024;

/** The signed claims of a revocation list. Times are whole seconds since 1970. Source: decision 0007. */
export interface RevocationClaims {
  /** The account that signed. */
  readonly iss: string;
  readonly iat: number;
  readonly exp: number;
  /** Incremented when the list changes. */
  readonly seq: number;
  /** Revoked files, by `jti`. */
  readonly files: readonly string[];
  /** Licences whose files are all revoked, by id. */
  readonly licenses: readonly string[];
}

/** The input of a revocation list; times are seconds since 1970. */
export interface RevocationFacts extends Omit<RevocationClaims, 'iat' | 'exp'> {
  readonly now: number;
  /** The time of the last change; null before the first. */
  readonly changedAt: number | null;
}

/** The beginning of the hour; times are seconds since 1970. */
export const hourOf = (now: number): number => now - (now % REFRESH_INTERVAL_SECONDS);

/** Signs a revocation list: a compact JWS, the same text for an hour unless the list changes. */
export function signRevocations(signer: Signer, { now, changedAt, ...content }: RevocationFacts): string {
  const hour = hourOf(now);
  const iat = Math.max(hour, changedAt ?? hour);
  const { iss, seq, files, licenses } = content;
  const claims: RevocationClaims = { iss, iat, exp: iat + REVOCATION_LIST_SECONDS, seq, files, licenses };
  return signJws(signer, REVOCATION_LIST_TYPE, claims);
}

/** Why a revocation list is refused: these keys did not sign it for this account, or it is too old. */
export type RevocationFault = 'revocations_invalid' | 'revocations_expired';

/** Reads a revocation list, or returns why it is refused; `now` in seconds since 1970. Throws for a key that is not Ed25519. */
export function readRevocations(
  token: string,
  { keys, issuer, now }: { keys: readonly PublicKey[]; issuer: string; now: number },
): RevocationClaims | RevocationFault {
  const jws = Buffer.byteLength(token) > MAX_BYTES ? null : readJws(token.trim(), REVOCATION_LIST_TYPE);
  const key = keys.find(({ kid }) => kid === jws?.kid);
  if (!jws || !key || !isSignedBy(key, jws)) return 'revocations_invalid';
  const { claims } = jws;
  if (!isRevocationClaims(claims) || claims.iss !== issuer) return 'revocations_invalid';
  return claims.exp <= now ? 'revocations_expired' : claims;
}

function isRevocationClaims(value: unknown): value is RevocationClaims {
  if (!isRecord(value) || typeof value.iss !== 'string') return false;
  const { iat, exp, seq, files, licenses } = value;
  return [iat, exp, seq].every(Number.isSafeInteger) && isTexts(files) && isTexts(licenses);
}

const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((item) => typeof item === 'string');
