import { createPrivateKey, createPublicKey, hash, type KeyObject } from 'node:crypto';
import type { HostId, Instant } from '../../contract/scalars.ts';
import type { Jwk } from '../../contract/signing-keys.ts';
import { grantEnd, type License } from '../license.ts';
import { earlier, epochSeconds } from '../time.ts';
import { LICENSE_FILE_FORMAT, LICENSE_TOKEN_TYPE, type LicenseClaims } from './claims.ts';
import { type Signer, signJws } from './jws.ts';

/** Reads a private key from PKCS #8 PEM. Throws `TypeError` when it is not an Ed25519 key. */
export function createSigner(privatePem: string): Signer {
  const privateKey = ed25519(readPrivateKey(privatePem));
  const { kid, fingerprint } = describePublicKey(privateKey);
  return { kid, fingerprint, privateKey };
}

/**
 * Reads a private key, if need be twice: an error that another use of OpenSSL in this process has left behind makes Node.js
 * refuse a good key once (seen as `asn1 encoding routines::too long`).
 */
function readPrivateKey(privatePem: string): KeyObject {
  try {
    return createPrivateKey(privatePem);
  } catch {
    return createPrivateKey(privatePem);
  }
}

/** A public key's names and its JWK (RFC 8037), from it or its private half in PEM. Throws `TypeError` unless it is Ed25519. */
export function describePublicKey(key: string | KeyObject): Omit<Signer, 'privateKey'> & { readonly jwk: Jwk } {
  const publicKey = ed25519(createPublicKey(key));
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const kid = hash('sha256', spki, 'base64url');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  const jwk: Jwk = { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid, x };
  return { kid, fingerprint: `sha256:${hash('sha256', spki)}`, jwk };
}

/** The public JWK of a public key in SPKI PEM. Throws `TypeError` when it is not an Ed25519 key. */
export const toJwk = (publicPem: string): Jwk => describePublicKey(publicPem).jwk;

/** The input of a licence file. */
export interface FileFacts {
  /** The file's own id, its `jti`. */
  readonly id: string;
  readonly license: License;
  readonly customer: LicenseClaims['customer'];
  readonly hostId: HostId;
  readonly now: Instant;
  /** When the file expires; the end of the licence, or of its grace period once it has expired, counts if it is earlier. */
  readonly expiresAt: Instant;
  /** The values that the application has sent with its request. */
  readonly nonce?: string | undefined;
}

/** Signs a licence file for one device and returns its JSON text. Source: API description, POST /key/sign. */
export function signLicenseFile(signer: Signer, facts: FileFacts): string {
  return JSON.stringify({
    format: LICENSE_FILE_FORMAT,
    licenseToken: signJws(signer, LICENSE_TOKEN_TYPE, claimsOf(facts)),
    signedKey: facts.license.key,
    signedDate: facts.now,
    keyId: signer.kid,
    publicKeyFingerprint: signer.fingerprint,
  });
}

function claimsOf({ id, license, customer, hostId, now, expiresAt, nonce }: FileFacts): LicenseClaims {
  const signedAt = epochSeconds(now);
  return {
    iss: license.accountId,
    jti: id,
    sub: license.id,
    key: license.key,
    productId: license.productId,
    machine: hostId,
    type: 'offline',
    iat: signedAt,
    nbf: signedAt,
    exp: epochSeconds(earlier(expiresAt, grantEnd(license, now))),
    licenseExp: license.expirationDate === null ? null : epochSeconds(license.expirationDate),
    features: license.features,
    is_trial: license.isTrial,
    licenseType: license.licenseType,
    customer: customer && { id: customer.id, name: customer.name },
    ...(nonce !== undefined && { nonce }),
    v: 1,
  };
}

function ed25519(key: KeyObject): KeyObject {
  if (key.asymmetricKeyType === 'ed25519') return key;
  throw new TypeError(`licence files are signed with Ed25519, not ${key.asymmetricKeyType}`);
}
