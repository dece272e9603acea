import { isRecord } from './claims.ts';
import { isSignedBy, parseJson, readJws, signJws } from './jws.ts';
import { createSigner } from './sign.ts';
import { readLicenseEnvelope } from './verify.ts';

const REQUEST_FORMAT = 'lkm-req/1';

/** The `typ` in the header of a proof that a device was deactivated. */
const PROOF_TYPE = 'lkm-deactivation+jwt';

/** The request of a device without a network for a licence file. Source: decision 0007. */
export interface OfflineRequest {
  readonly licenseKey: string;
  readonly hostId: string;
  /** The Ed25519 point of the device's own key, base64url. */
  readonly publicKey: string;
  /** Found by the key where the device does not know it. */
  readonly productId?: string | undefined;
}

/** The statement of a device that has given up its licence. */
export interface DeactivationClaims {
  /** The licence file that it has removed. */
  readonly jti: string;
  /** The licence. */
  readonly sub: string;
  readonly productId: string;
  readonly key: string;
  /** The device. */
  readonly machine: string;
  /** When, in seconds since 1970. */
  readonly iat: number;
}

/** The text of a request, which the device hands over in a file. */
export const writeOfflineRequest = (request: OfflineRequest): string =>
  `${JSON.stringify({ format: REQUEST_FORMAT, ...request })}\n`;

/** Takes a request apart; null for other text. Its values are checked where they are used. */
export function readOfflineRequest(text: string): OfflineRequest | null {
  const request = parseJson(text);
  if (!isRecord(request) || request.format !== REQUEST_FORMAT) return null;
  const { licenseKey, hostId, publicKey, productId } = request;
  if (!areTexts(licenseKey, hostId, publicKey, productId ?? '')) return null;
  return { licenseKey, hostId, publicKey, productId } as OfflineRequest;
}

/**
 * Signs, with the device's own key, that it has removed its licence file: a compact JWS. `now` in seconds since 1970. Null
 * when the text is no licence file. Throws for a key that is not Ed25519 in PEM.
 */
export function signDeactivation(privateKey: string, licenseFile: string, now: number): string | null {
  const envelope = readLicenseEnvelope(licenseFile);
  if (envelope === null) return null;
  const { jti, sub, productId, key, machine } = envelope.claims;
  const stated: DeactivationClaims = { jti, sub, productId, key, machine, iat: now };
  return signJws(createSigner(privateKey), PROOF_TYPE, stated);
}

/** Takes a proof apart; null for other text. The proof cannot be trusted before `isSignedBy` has checked it. */
export function readDeactivation(proof: string) {
  const jws = readJws(proof.trim(), PROOF_TYPE);
  if (jws === null || !isClaims(jws.claims)) return null;
  return {
    ...jws.claims,
    /** Whether the private half of this key signed the proof; false for a text that is no key. */
    isSignedBy(publicKey: string): boolean {
      try {
        return isSignedBy({ kid: jws.kid, x: publicKey }, jws);
      } catch {
        return false;
      }
    },
  };
}

function isClaims(value: unknown): value is DeactivationClaims {
  if (!isRecord(value)) return false;
  const { jti, sub, productId, key, machine, iat } = value;
  return (
    areTexts(jti, sub, productId, key, machine) && isKeepable(`${jti}${key}${machine}`) && Number.isSafeInteger(iat)
  );
}

/** Whether both databases can look up the text: PostgreSQL has neither NUL nor lone surrogates. */
const isKeepable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

const areTexts = (...values: readonly unknown[]): boolean => values.every((value) => typeof value === 'string');
