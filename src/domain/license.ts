import type { Reason } from '../contract/errors.ts';
import type { AccountId, HostId, Instant, LicenseKey, ProductId } from '../contract/scalars.ts';
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
  readonly customerId: string | null;
  /** Null means unlimited. */
  readonly maxActivations: number | null;
  /** How many devices hold a slot. */
  readonly activations: number;
  /** Null means never. */
  readonly expirationDate: Instant | null;
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

/** Whether the licence has expired: from the instant of its expiry on. */
export function isExpired(license: Pick<License, 'expirationDate'>, now: Instant): boolean {
  return license.expirationDate !== null && license.expirationDate <= now;
}

/** A request to activate, sign or check out. A licence without a customer counts as `customerActive`. */
export interface Use {
  readonly customerActive: boolean;
  readonly hostId: HostId | null;
  readonly now: Instant;
}

/**
 * The first reason why the licence may not be used in this way, or null when it may. Limits are not checked here: the
 * store takes a slot or a session in one statement. Source: API description, POST /key/sign and "Errors", 403.
 */
export function refusalToUse(license: License, use: Use): Reason | null {
  if (license.vendorDisabled) return 'licenseDisabled';
  if (isExpired(license, use.now)) return 'licenseExpired';
  if (!use.customerActive) return 'customerInactive';
  if (!allowsHost(license.allowedHosts, use.hostId)) return 'deviceNotAllowed';
  return null;
}

function allowsHost(allowedHosts: readonly string[] | null, hostId: HostId | null): boolean {
  return allowedHosts === null || (hostId !== null && allowedHosts.includes(hostId));
}
