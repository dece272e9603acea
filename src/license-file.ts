/** The entry `lkm/license-file`: verifies licence files in the software that is licensed, with nothing but Node.js. */
import { type Verification, type VerifyOptions, verifyLicenseFile as verify } from './domain/license-file/verify.ts';
import { toInstant } from './domain/time.ts';

export type { LicenseClaims } from './domain/license-file/claims.ts';
export type { PublicKey } from './domain/license-file/jws.ts';
export type { Verdict, Verification } from './domain/license-file/verify.ts';

/** What a licence file is checked against. */
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
