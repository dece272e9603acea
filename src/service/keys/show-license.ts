import type { PayloadOf } from '../../contract/endpoint.ts';
import { writeDuration } from '../../contract/fields.ts';
import type { Contract } from '../../contract/index.ts';
import { type Caller, seesSecrets, seesWholeLicense } from '../../domain/access.ts';
import { showIp } from '../../domain/ip-address.ts';
import { type Device, isActivated, type License, NO_TAG } from '../../domain/license.ts';
import { showKey } from '../../domain/license-key.ts';
import { graceUntil } from '../../domain/term.ts';
import type { ShownVersion } from '../product-versions.ts';

type Keys = Contract['keys'];

/** The licence as the caller may see it, with its devices and its version. */
export function showLicense(
  license: License,
  devices: readonly Device[],
  caller: Caller,
  version: ShownVersion | null,
): PayloadOf<Keys['get']>['license'] {
  const showsSecrets = seesSecrets(caller);
  const isWhole = seesWholeLicense(caller);
  // Counted from the list, so that both agree even while another request takes a slot.
  const activations = devices.length;
  return {
    id: license.id,
    key: showKey(license.key, showsSecrets),
    productId: license.productId,
    maxActivations: license.maxActivations,
    activations,
    activated: isActivated({ activations, vendorDisabled: license.vendorDisabled }),
    expirationDate: license.expirationDate,
    expiresAfter: license.expiresAfter && writeDuration(license.expiresAfter),
    gracePeriod: license.gracePeriod && writeDuration(license.gracePeriod),
    graceUntil: graceUntil(license),
    metadata: { ...(isWhole && license.metadata), features: license.features, is_trial: license.isTrial },
    ...(isWhole && {
      reference: license.reference,
      allowedHosts: license.allowedHosts && [...license.allowedHosts],
    }),
    licenseType: license.licenseType,
    maxConcurrentSessions: license.maxConcurrentSessions,
    heartbeatInterval: license.heartbeatInterval,
    sessionLeaseDuration: license.sessionLeaseDuration,
    customerCanSelfReset: license.customerCanSelfReset,
    vendorDisabled: license.vendorDisabled,
    devices: isWhole ? devices.map((device) => showDevice(device, showsSecrets)) : [],
    versionId: license.versionId,
    version,
    createdAt: license.createdAt,
    updatedAt: license.updatedAt,
  };
}

/** A device as the caller may see it; `showsSecrets` shows its whole address. */
export const showDevice = (device: Device, showsSecrets: boolean) => ({
  id: device.id,
  hostId: device.hostId,
  deviceTag: device.deviceTag ?? NO_TAG,
  ipAddress: showIp(device.ipAddress, showsSecrets),
  activationTime: device.activationTime,
});
