import type { Jwk } from './contract/signing-keys.ts';
import { type Verification, verifyLicenseFile as verify } from './domain/license-file/verify.ts';
import { toInstant } from './domain/time.ts';

/** What a licence file is checked against. */
export interface VerifyLicenseFileOptions {
  /** The public keys to trust, from the service's `/.well-known/jwks.json`; never from the file. */
  readonly keys: readonly Jwk[];
  /** The time at which the file must be valid; default is the present. */
  readonly now?: Date;
  /** The device that the file must be for; without it any device passes. */
  readonly hostId?: string;
  /** The product that the file must be for; without it any product passes. */
  readonly productId?: string;
  /** The latest time that the application has stored: an earlier `now` means that the clock was set back. */
  readonly lastSeenAt?: Date;
  /** Ids of signing keys (`kid`) or of files (`jti`) that are revoked. */
  readonly revoked?: ReadonlySet<string>;
}

/**
 * Verifies a licence file without a network, from its text and the public keys.
 *
 * `verdict` is `ok` or the first check that failed; `claims` are set when the signature is valid. It never throws,
 * whatever the text contains.
 */
export function verifyLicenseFile(text: string, options: VerifyLicenseFileOptions): Verification {
  const { now = new Date(), lastSeenAt, ...rest } = options;
  return verify(text, {
    ...rest,
    now: toInstant(now.getTime()),
    ...(lastSeenAt ? { lastSeenAt: toInstant(lastSeenAt.getTime()) } : {}),
  });
}
