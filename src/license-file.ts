/** The entry `lkm/license-file`: verifies licence files in the software that is licensed, with nothing but Node.js. */
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import {
  type ActivationCheck,
  type ActivationOptions,
  verifyActivation as verifyProof,
} from './domain/license-file/activation.ts';
import { signDeactivation } from './domain/license-file/offline.ts';
import { describePublicKey } from './domain/license-file/sign.ts';
import { type Verification, type VerifyOptions, verifyLicenseFile as verify } from './domain/license-file/verify.ts';
import { epochSeconds, toInstant } from './domain/time.ts';

export type { ActivationCheck, ActivationClaims, ActivationVerdict } from './domain/license-file/activation.ts';
export type { LicenseClaims } from './domain/license-file/claims.ts';
export type { PublicKey } from './domain/license-file/jws.ts';
export { type OfflineRequest, writeOfflineRequest } from './domain/license-file/offline.ts';
export type { Verdict, Verification } from './domain/license-file/verify.ts';

/** The expected values that a licence file is checked against. */
export interface VerifyLicenseFileOptions extends Omit<VerifyOptions, 'now'> {
  /** The time at which the file must be valid; default is the present. */
  readonly now?: Date;
}

/**
 * Verifies a licence file without a network: `verdict` is `ok` or the first check that failed, and `watermark` is to be
 * stored for the next check. Any text gets a verdict. Throws when the key that the file names is not an Ed25519 point.
 */
export function verifyLicenseFile(text: string, options: VerifyLicenseFileOptions): Verification {
  const { now = new Date(), ...rest } = options;
  return verify(text, { ...rest, now: toInstant(now.getTime()) });
}

/** The expected values that the proof of an activation is checked against. */
export interface VerifyActivationOptions extends Omit<ActivationOptions, 'now'> {
  /** The time at which the proof must be valid; default is the present. */
  readonly now?: Date;
}

/**
 * Verifies the `proof` of `POST /key/activate`, which shows that the vendor's own service has answered this request. `verdict` is
 * `ok` or the first check that failed. Any text gets a verdict. Throws when the key that the proof names is not an Ed25519
 * point.
 */
export function verifyActivation(proof: string, options: VerifyActivationOptions): ActivationCheck {
  const { now = new Date(), ...rest } = options;
  return verifyProof(proof, { ...rest, now: toInstant(now.getTime()) });
}

/** A key of a device that has no network. */
export interface DeviceKey {
  /** PEM; it stays on the device. */
  readonly privateKey: string;
  /** The Ed25519 point, base64url, for `publicKey` of `POST /key/sign`. */
  readonly publicKey: string;
}

/** Makes the key with which a device signs that it was deactivated. */
export function createDeviceKey(): DeviceKey {
  const { privateKey } = generateKeyPairSync('ed25519');
  return readDeviceKey(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
}

/** The key of a device from its private half in PEM. Throws for a key that is not Ed25519. */
export const readDeviceKey = (privateKey: string): DeviceKey => ({
  privateKey,
  publicKey: describePublicKey(createPrivateKey(privateKey)).jwk.x,
});

/**
 * The proof that a device has removed its licence file, for `POST /key/deactivate-offline`: a compact JWS, signed with the
 * device key of the request for the file. Throws for a text that is no licence file, and for a key that is not Ed25519.
 */
export function createDeactivationProof(licenseFile: string, privateKey: string, now: Date = new Date()): string {
  const proof = signDeactivation(privateKey, licenseFile, epochSeconds(toInstant(now.getTime())));
  if (proof === null) throw new TypeError('this is not a licence file of lkm');
  return proof;
}
