import type { Duration } from '../contract/fields.ts';
import type { AccountId, Instant, LicenseKey, ProductId } from '../contract/scalars.ts';
import type { IpAddress } from './ip-address.ts';
import { addCalendarMonth } from './time.ts';

/** Stands on the wire for the tag of a device that has none. Source: API description, "Device". */
export const NO_TAG = 'No tag';

/** What a licence switches on in the product. */
export type Features = Readonly<Record<string, boolean | number | string>>;

/** Free entries of the vendor, which mean nothing to the service. */
export type Metadata = Readonly<Record<string, boolean | number | string>>;

/** A licence as the store keeps it. Source: API description, "License". */
export interface License {
  readonly id: string;
  readonly accountId: AccountId;
  readonly productId: ProductId;
  readonly key: LicenseKey;
  /** What the vendor calls it, such as an order number: unique in the account. */
  readonly reference: string | null;
  readonly customerId: string | null;
  /** Null means unlimited. */
  readonly maxActivations: number | null;
  /** How many devices hold a slot. */
  readonly activations: number;
  /** Null means never, or with `expiresAfter` that the first use sets it. */
  readonly expirationDate: Instant | null;
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
  readonly versionId: string | null;
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
}

/** The expiry of a key created without one: a calendar month later. Source: API description, POST /create-key. */
export function defaultExpiry(now: Instant): Instant {
  return addCalendarMonth(now);
}

/** Whether the licence has a device and the vendor has not disabled it. */
export function isActivated(license: Pick<License, 'activations' | 'vendorDisabled'>): boolean {
  return license.activations > 0 && !license.vendorDisabled;
}
