import type { Instant } from '../../contract/scalars.ts';
import type { License } from '../license.ts';
import { canonicalKey } from '../license-key.ts';
import { addSeconds, epochSeconds } from '../time.ts';
import { isRecord, type LicenseClaims } from './claims.ts';
import { isSignedBy, type PublicKey, readJws, type Signer, signJws } from './jws.ts';

/** The `typ` in the header of the proof of an activation. */
const PROOF_TYPE = 'lic-act+jwt';

/** How long a proof is valid, in seconds. Source: decision 0007. */
const PROOF_SECONDS = 300;

/** How far a clock may be behind the clock of the service. */
const CLOCK_LEEWAY_SECONDS = 60;

/** The signed claims of the proof of an activation. Times are whole seconds since 1970. */
export interface ActivationClaims
  extends Pick<LicenseClaims, 'iss' | 'jti' | 'sub' | 'key' | 'productId' | 'machine' | 'iat' | 'exp'> {
  /** The nonce of the request. */
  readonly nonce: string;
}

interface ActivationFacts {
  readonly id: string;
  readonly license: License;
  readonly hostId: string;
  readonly nonce: string;
  readonly now: Instant;
}

/** Signs that a device of a licence is activated now: a compact JWS. */
export function signActivation(signer: Signer, { id, license, hostId, nonce, now }: ActivationFacts): string {
  const claims: ActivationClaims = {
    ...{ iss: license.accountId, jti: id, sub: license.id, key: license.key, productId: license.productId },
    ...{ machine: hostId, nonce, iat: epochSeconds(now), exp: epochSeconds(addSeconds(now, PROOF_SECONDS)) },
  };
  return signJws(signer, PROOF_TYPE, claims);
}

/** The result of a check, decided in the order of the list. */
export type ActivationVerdict =
  | 'token_malformed'
  | 'unknown_kid'
  | 'signature_invalid'
  | 'nonce_mismatch'
  | 'not_yet_valid'
  | 'token_expired'
  | 'key_mismatch'
  | 'machine_mismatch'
  | 'product_mismatch'
  | 'ok';

/** The expected values that the proof of an activation is checked against. */
export interface ActivationOptions {
  /** The public keys to trust, from the service's `/.well-known/jwks.json`, shipped with the application. */
  readonly keys: readonly PublicKey[];
  /** The time at which the proof must be valid. */
  readonly now: Instant;
  /** The nonce of the request: random, and never used before. */
  readonly nonce: string;
  /** The key of the request. */
  readonly licenseKey: string;
  readonly hostId: string;
  readonly productId: string;
}

/** The result of a check; `claims` is null unless one of the keys signed them. */
export interface ActivationCheck {
  readonly verdict: ActivationVerdict;
  readonly claims: ActivationClaims | null;
}

/** Checks the proof of an activation; any text gets a verdict. Throws when the key that it names is not an Ed25519 point. */
export function verifyActivation(proof: string, options: ActivationOptions): ActivationCheck {
  const { keys, nonce, licenseKey, hostId, productId } = options;
  const refused = (verdict: ActivationVerdict): ActivationCheck => ({ verdict, claims: null });
  const jws = readJws(proof, PROOF_TYPE);
  if (jws === null || !isActivationClaims(jws.claims)) return refused('token_malformed');
  const { claims } = jws;
  const key = keys.find(({ kid }) => kid === jws.kid);
  if (key === undefined) return refused('unknown_kid');
  if (!isSignedBy(key, jws)) return refused('signature_invalid');
  const clock = epochSeconds(options.now);
  const faults: readonly (readonly [isFound: boolean, verdict: ActivationVerdict])[] = [
    [claims.nonce !== nonce, 'nonce_mismatch'],
    [claims.iat > clock + CLOCK_LEEWAY_SECONDS, 'not_yet_valid'],
    [claims.exp <= clock, 'token_expired'],
    [canonicalKey(claims.key) !== canonicalKey(licenseKey), 'key_mismatch'],
    [claims.machine !== hostId, 'machine_mismatch'],
    [claims.productId !== productId, 'product_mismatch'],
  ];
  return { verdict: faults.find(([isFound]) => isFound)?.[1] ?? 'ok', claims };
}

const texts = ['iss', 'jti', 'sub', 'key', 'productId', 'machine', 'nonce'] as const;

/** Whether a parsed payload has every claim with the right type. Unknown members are accepted. */
const isActivationClaims = (value: unknown): value is ActivationClaims =>
  isRecord(value) &&
  texts.every((name) => typeof value[name] === 'string') &&
  Number.isSafeInteger(value.iat) &&
  Number.isSafeInteger(value.exp);
