import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { isRecord } from './claims.ts';

/** A trusted public key: the id and the Ed25519 point of a JWK; its other members are ignored. */
export interface PublicKey {
  readonly kid: string;
  /** The point, base64url. */
  readonly x: string;
}

/** The parts of a compact JWS. None of them can be trusted before the signature has been checked. */
export interface Jws {
  readonly kid: string;
  readonly claims: unknown;
  /** The signed text: header and claims as they stand in the token. */
  readonly signed: string;
  readonly signature: Buffer;
}

/** A private Ed25519 key, ready to sign, with the two names of its public half. */
export interface Signer {
  readonly kid: string;
  /** `sha256:` and the hex SHA-256 of the public key's SPKI DER. */
  readonly fingerprint: string;
  readonly privateKey: KeyObject;
}

/** Signs claims as a compact JWS (RFC 7515) with Ed25519. */
export function signJws(signer: Signer, typ: string, claims: object): string {
  const signed = `${encodePart({ alg: 'EdDSA', typ, kid: signer.kid })}.${encodePart(claims)}`;
  return `${signed}.${sign(null, Buffer.from(signed), signer.privateKey).toString('base64url')}`;
}

/** Takes a compact JWS apart; null when it is no EdDSA signature, has another `typ`, or has a `crit` header. */
export function readJws(token: string, typ: string): Jws | null {
  const parts = token.split('.');
  const [head = '', body = '', tail = ''] = parts;
  const [header, claims, signature] = [decodeJson(head), decodeJson(body), decodeBase64url(tail)];
  if (parts.length !== 3 || !isHeader(header) || header.typ !== typ || !signature) return null;
  return { kid: header.kid, claims, signed: `${head}.${body}`, signature };
}

/** Whether the key has signed it. Throws when the key is not an Ed25519 point. */
export function isSignedBy(key: PublicKey, { signed, signature }: Jws): boolean {
  // Takes nothing but `x` from the key, so that it is always an Ed25519 key.
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key.x }, format: 'jwk' });
  return verify(null, Buffer.from(signed), publicKey, signature);
}

/** The value of a JSON text; undefined for other text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Members other than `crit` are ignored when unknown, as RFC 7515 §4 asks. */
function isHeader(header: unknown): header is { readonly kid: string; readonly typ: unknown } {
  return isRecord(header) && header.alg === 'EdDSA' && typeof header.kid === 'string' && !('crit' in header);
}

const encodePart = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

const decodeJson = (text: string): unknown => parseJson(decodeBase64url(text)?.toString() ?? '');

/** Accepts only the spelling that Node.js writes: its decoder skips other characters and drops spare bits. */
function decodeBase64url(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}
