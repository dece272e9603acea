import { createPublicKey } from 'node:crypto';
import type { AccountId, HostId, Instant, LicenseKey, ProductId } from '../../src/contract/scalars.ts';
import type { License } from '../../src/domain/license.ts';

/** Now, in these tests: not on a whole second, so that rounding shows. */
export const now = '2026-11-21T10:00:00.900Z' as Instant;

export const hostId = 'host-1' as HostId;

/** A licence that anybody may use, for ever; `changes` say what the test is about. */
export function licenseWith(changes: Partial<License> = {}): License {
  return {
    id: 'lic_1',
    accountId: 'acc_1' as AccountId,
    productId: 'prod_0000000000000000000001' as ProductId,
    key: '7Q2RM-K9X0B-3FTW6-HN4ZD-85SB5' as LicenseKey,
    reference: null,
    customerId: null,
    maxActivations: null,
    activations: 0,
    expirationDate: null,
    expiresAfter: null,
    gracePeriod: null,
    features: {},
    metadata: {},
    isTrial: false,
    allowedHosts: null,
    licenseType: 'node-locked',
    maxConcurrentSessions: null,
    heartbeatInterval: 300,
    sessionLeaseDuration: 900,
    customerCanSelfReset: true,
    vendorDisabled: false,
    revokedAt: null,
    revocationReason: null,
    ...{ planId: null, previousKeyUntil: null, fingerprintMatch: null, renewalDay: null },
    ...{ versionId: null, issuedBy: null, slotYear: 0, promisedSlots: 0, moves: 0, lastSeenOn: null },
    createdAt: now,
    updatedAt: now,
    ...changes,
  };
}

/** The private keys of RFC 8032 §7.1, tests 1 and 2, in PKCS #8 PEM. */
export const privatePems = [
  privatePemOf(Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex')),
  privatePemOf(Buffer.from('4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb', 'hex')),
] as const;

/** The public half of a private key, in SPKI PEM. */
export function publicPemOf(privatePem: string): string {
  return createPublicKey(privatePem).export({ type: 'spki', format: 'pem' }).toString();
}

/** The private key with this seed of 32 bytes, in PKCS #8 PEM. */
export function privatePemOf(seed: Uint8Array): string {
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
  return `-----BEGIN PRIVATE KEY-----\n${der.toString('base64')}\n-----END PRIVATE KEY-----\n`;
}
