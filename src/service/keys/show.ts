import { writeDuration } from '../../contract/fields.ts';
import type {
  Device as ShownDevice,
  License as ShownLicense,
  Session as ShownSession,
} from '../../contract/keys/licenses.ts';
import type { ListedLicense } from '../../contract/keys/lists.ts';
import { type Caller, seesSecrets, seesWholeLicense } from '../../domain/access.ts';
import { showIp } from '../../domain/ip-address.ts';
import { type Device, graceUntil, isActivated, type License, NO_TAG } from '../../domain/license.ts';
import { showKey } from '../../domain/license-key.ts';
import type { Session } from '../../store/tables/sessions.ts';
import type { Context } from '../context.ts';
import { type ShownVersion, versionOf } from '../products.ts';

export function showLicense(
  license: License,
  devices: readonly Device[],
  caller: Caller,
  version: ShownVersion | null,
): ShownLicense {
  const isWhole = seesWholeLicense(caller);
  // Counted from the list, so that both agree even while another request takes a slot.
  const activations = devices.length;
  return {
    id: license.id,
    key: showKey(license.key, seesSecrets(caller)),
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
    devices: isWhole ? devices.map((device) => showDevice(device, caller)) : [],
    versionId: license.versionId,
    version,
    createdAt: license.createdAt,
    updatedAt: license.updatedAt,
  };
}

export async function showListed(context: Context, licenses: readonly License[]): Promise<ListedLicense[]> {
  const versions = new Map<string | null, ShownVersion | null>();
  for (const license of licenses) {
    if (!versions.has(license.versionId)) versions.set(license.versionId, await versionOf(context, license));
  }
  return licenses.map((license) => {
    const { devices: _, ...shown } = showLicense(license, [], context.caller, versions.get(license.versionId) ?? null);
    const { activations, customerId } = license;
    return { ...shown, activations, activated: isActivated(license), customerId };
  });
}

export const showDevice = (device: Device, caller: Caller): ShownDevice => ({
  id: device.id,
  hostId: device.hostId,
  deviceTag: device.deviceTag ?? NO_TAG,
  ipAddress: showIp(device.ipAddress, seesSecrets(caller)),
  activationTime: device.activationTime,
});

export const showSession = ({ id, hostId, tag, userIdentifier, createdAt, expiresAt }: Session): ShownSession => ({
  id,
  hostId,
  deviceTag: tag ?? NO_TAG,
  userIdentifier,
  createdAt,
  expiresAt,
});
