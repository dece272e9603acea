import type { Duration } from '../contract/fields.ts';
import type { JsonValue } from '../contract/keys/metadata.ts';
import type { AccountId, Instant, LicenseKey, ProductId, TokenId } from '../contract/scalars.ts';
import type { IpAddress } from './ip-address.ts';
import { addDuration, expiryFromNow } from './time.ts';

/** Stands on the wire for the tag of a device without a tag. Source: API description, "Device". */
export const NO_TAG = 'No tag';

/** The features that a licence switches on in the product. */
export type Features = Readonly<Record<string, boolean | number | string>>;

/** Free entries of the vendor, which the service does not interpret. */
export type Metadata = Readonly<Record<string, JsonValue>>;

/** A licence as the store keeps it. Source: API description, "License". */
export interface License {
  readonly id: string;
  readonly accountId: AccountId;
  readonly productId: ProductId;
  readonly key: LicenseKey;
  /** The vendor's own name for it, such as an order number: unique in the account. */
  readonly reference: string | null;
  readonly customerId: string | null;
  /** Null means unlimited. */
  readonly maxActivations: number | null;
  /** How many devices hold a slot. */
  readonly activations: number;
  /** Null means never, or with `expiresAfter` that the first use sets it. */
  readonly expirationDate: Instant | null;
  /** The day of the month on which it ends once it is renewed by months; null: the day of `expirationDate`. */
  readonly renewalDay: number | null;
  /** How long it lasts from its first use. */
  readonly expiresAfter: Duration | null;
  /** How long after its end it may still be used. */
  readonly gracePeriod: Duration | null;
  readonly features: Features;
  readonly metadata: Metadata;
  readonly isTrial: boolean;
  /** The only hosts that may use it; null means any. */
  readonly allowedHosts: readonly string[] | null;
  readonly licenseType: 'node-locked' | 'floating';
  /** Null means unlimited. */
  readonly maxConcurrentSessions: number | null;
  /** Seconds. */
  readonly heartbeatInterval: number;
  /** Seconds. */
  readonly sessionLeaseDuration: number;
  readonly customerCanSelfReset: boolean;
  readonly vendorDisabled: boolean;
  /** Null unless the vendor has revoked it for ever; then it is disabled as well. */
  readonly revokedAt: Instant | null;
  readonly revocationReason: string | null;
  /** The features of the plan count unless the licence has a feature of the same name. */
  readonly planId: string | null;
  /** Until when the previous key string works; null when the key was never reissued. */
  readonly previousKeyUntil: Instant | null;
  /** How many components of a fingerprint make a host a known device; null: fingerprints are not compared. */
  readonly fingerprintMatch: number | null;
  readonly versionId: string | null;
  /** The token that issued or imported it; null for the owner of a database in process. */
  readonly issuedBy: TokenId | null;
  /** The calendar year, UTC, of `promisedSlots` and `moves`. */
  readonly slotYear: number;
  /** How many slots are promised to hosts that have left them. With the devices, never more than there are slots. */
  readonly promisedSlots: number;
  /** How often tokens of kind `client` have given a slot of another host to a host. */
  readonly moves: number;
  /** The last day, UTC, on which an application used it; null if never. */
  readonly lastSeenOn: string | null;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** A device as the store keeps it: one host that holds a slot of a licence. Source: API description, "Device". */
export interface Device {
  readonly id: string;
  readonly hostId: string;
  readonly deviceTag: string | null;
  readonly ipAddress: IpAddress;
  readonly activationTime: Instant;
  /** The fingerprint that the device sent last. */
  readonly fingerprint: Fingerprint | null;
  /** The key that signs for it where it has no network: an Ed25519 point, base64url. */
  readonly publicKey: string | null;
  /** The last day, UTC, on which it used the licence; null for an unknown day. */
  readonly lastSeenOn: string | null;
}

/** Components of a machine, each by its name as the hex SHA-256 that the application has made of it. */
export type Fingerprint = Readonly<Record<string, string>>;

/** Whether the licence has a device and the vendor has not disabled it. */
export function isActivated(license: Pick<License, 'activations' | 'vendorDisabled'>): boolean {
  return license.activations > 0 && !license.vendorDisabled;
}

/** Where an instant stands in the term of a licence. */
export type Term = 'running' | 'inGrace' | 'ended';

type Ending = Pick<License, 'expirationDate' | 'gracePeriod'>;

/** Where `now` stands in the term of a licence: it ends with the instant of its expiry, or of its grace period. */
export function termOf(license: Ending, now: Instant): Term {
  const { expirationDate } = license;
  if (expirationDate === null || now < expirationDate) return 'running';
  const until = graceUntil(license);
  return until !== null && now < until ? 'inGrace' : 'ended';
}

/** Until when an expired licence may still be used; null when it has no grace period, or no end. */
export function graceUntil({ expirationDate, gracePeriod }: Ending): Instant | null {
  return expirationDate === null || gracePeriod === null ? null : addDuration(expirationDate, gracePeriod);
}

type Beginning = Pick<License, 'expirationDate' | 'renewalDay' | 'expiresAfter'>;

/** Whether the licence has no end yet because its first use will set it. */
export function isWaiting(license: Beginning): license is Beginning & { readonly expiresAfter: Duration } {
  return license.expirationDate === null && license.expiresAfter !== null;
}

/** When the licence ends if it is used now: the first use sets the end of a licence that waits for it. Null means never. */
export const endIfUsed = (license: Beginning, now: Instant): Instant | null =>
  expiryIfUsed(license, now).expirationDate;

/** The end at the first use, with the day of the month that renewals keep. */
export const expiryIfUsed = (license: Beginning, now: Instant): Pick<License, 'expirationDate' | 'renewalDay'> =>
  isWaiting(license)
    ? expiryFromNow(now, license.expiresAfter)
    : { expirationDate: license.expirationDate, renewalDay: license.renewalDay };

/** The end of the right that a use now grants: the end of the licence, or of its grace period once it has expired. */
export function grantEnd(license: License, now: Instant): Instant | null {
  return termOf(license, now) === 'inGrace' ? graceUntil(license) : license.expirationDate;
}

/** The warning in the reply to a use in the grace period. */
export function graceWarning(license: License, now: Instant): { readonly warning?: string } {
  if (termOf(license, now) !== 'inGrace') return {};
  return { warning: `License expired on ${license.expirationDate}; it may be used until ${graceUntil(license)}` };
}
