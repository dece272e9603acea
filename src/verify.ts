import type { Jwk } from './contract/signing-keys.ts';
import { toInstant } from './domain/time.ts';
import { type Verification, verifyLicenseFile as verify } from './domain/verify-license-file.ts';

/** What a licence file is held against. */
export interface VerifyLicenseFileOptions {
  /** The public keys to trust, from the service's `/.well-known/jwks.json`; never from the file. */
  readonly keys: readonly Jwk[];
  /** The time to judge by; default is the present. */
  readonly now?: Date;
  /** The device that asks; without it any device passes. */
  readonly hostId?: string;
  /** The product that asks; without it any product passes. */
  readonly productId?: string;
  /** The latest time the application has seen: an earlier `now` means that the clock was set back. */
  readonly lastSeenAt?: Date;
  /** Ids of signing keys (`kid`) or of files (`jti`) that no longer count. */
  readonly revoked?: ReadonlySet<string>;
}

/**
 * Verifies a licence file without a network, from its text and the public keys.
 *
 * The verdict is `ok` or the first thing that is wrong; `claims` are set when the signature is good. No text makes it
 * throw.
 */
export function verifyLicenseFile(text: string, options: VerifyLicenseFileOptions): Verification {
  const { now = new Date(), lastSeenAt, ...rest } = options;
  return verify(text, {
    ...rest,
    now: toInstant(now.getTime()),
    ...(lastSeenAt ? { lastSeenAt: toInstant(lastSeenAt.getTime()) } : {}),
  });
}
