import { isLicenseClaims, isRecord, type LicenseClaims } from './license-claims.ts';
import { LICENSE_FILE_FORMAT, LICENSE_TOKEN_TYPE } from './license-file.ts';

const MAX_BYTES = 64 * 1024;

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
