import { writeDuration } from '../../contract/fields.ts';
import type {
  Device as ShownDevice,
  License as ShownLicense,
  Session as ShownSession,
} from '../../contract/keys/licenses.ts';
import type { ListedLicense } from '../../contract/keys/lists.ts';
import { allows, type Caller, seesSecrets, seesWholeLicense } from '../../domain/access.ts';
import { showIp } from '../../domain/ip-address.ts';
import { type Device, graceUntil, isActivated, type License, NO_TAG } from '../../domain/license.ts';
import { showKey } from '../../domain/license-key.ts';
import { featuresOf, type Plan } from '../../domain/plan.ts';
import type { NamedLicense } from '../../store/tables/keys/licenses.ts';
import type { Session } from '../../store/tables/sessions.ts';
import type { Context } from '../context.ts';
import { type ShownVersion, versionOf } from '../products.ts';

export function showLicense(
  license: License,
  devices: readonly Device[],
  caller: Caller,
  { version, plan }: Links,
): ShownLicense {
  const isWhole = seesWholeLicense(caller);
  // Counts the devices of the list, so that both agree while another request takes a slot.
  const activations = devices.length;
  return {
    id: license.id,
    key: showKey(license.key, seesSecrets(caller)),
    productId: license.productId,
    maxActivations: license.maxActivations,
    activations,
    activated: isActivated({ activations, vendorDisabled: license.vendorDisabled }),
    expirationDate: license.expirationDate,
    renewalDay: license.renewalDay,
    expiresAfter: license.expiresAfter && writeDuration(license.expiresAfter),
    gracePeriod: license.gracePeriod && writeDuration(license.gracePeriod),
    graceUntil: graceUntil(license),
    metadata: { ...(isWhole && license.metadata), features: featuresOf(license, plan), is_trial: license.isTrial },
    ...(isWhole && {
      reference: license.reference,
      revocationReason: license.revocationReason,
      previousKeyUntil: license.previousKeyUntil,
      lastSeenOn: license.lastSeenOn,
      allowedHosts: license.allowedHosts && [...license.allowedHosts],
    }),
    licenseType: license.licenseType,
    maxConcurrentSessions: license.maxConcurrentSessions,
    heartbeatInterval: license.heartbeatInterval,
    sessionLeaseDuration: license.sessionLeaseDuration,
    customerCanSelfReset: license.customerCanSelfReset,
    vendorDisabled: license.vendorDisabled,
    revokedAt: license.revokedAt,
    devices: isWhole ? devices.map((device) => showDevice(device, caller)) : [],
    planId: license.planId,
    plan: plan && { id: plan.id, name: plan.name },
    fingerprintMatch: license.fingerprintMatch,
    versionId: license.versionId,
    version,
    createdAt: license.createdAt,
    updatedAt: license.updatedAt,
  };
}

/** The customer, version and plan that a licence is shown with. */
export interface Links {
  readonly version: ShownVersion | null;
  readonly plan: Plan | null;
}

export const linksOf = async (context: Context, license: License): Promise<Links> => ({
  version: license.versionId === null ? null : await versionOf(context, license.versionId),
  plan: license.planId === null ? null : await planOf(context, license.planId),
});

/** The name of the product of a licence, for who may list products. */
export async function productNameOf({ repositories, caller }: Context, { accountId, productId }: License) {
  if (!allows(caller, 'product:read')) return {};
  return { productName: (await repositories.products.find(accountId, productId))?.name };
}

export const planOf = ({ repositories, caller }: Context, planId: string): Promise<Plan | null> =>
  repositories.plans.find(caller.accountId, planId);

export async function showListed(context: Context, licenses: readonly NamedLicense[]): Promise<ListedLicense[]> {
  const known = new Map<string, Links>();
  const namesOf = ({ versionId, planId }: License) => `${versionId} ${planId}`;
  for (const license of licenses) {
    if (!known.has(namesOf(license))) known.set(namesOf(license), await linksOf(context, license));
  }
  return licenses.map((license) => {
    const links = known.get(namesOf(license)) ?? { version: null, plan: null };
    const { devices: _, ...shown } = showLicense(license, [], context.caller, links);
    const { activations, customerId } = license;
    return {
      ...shown,
      activations,
      activated: isActivated(license),
      customerId,
      ...showNames(license, context.caller),
    };
  });
}

/** The names of a product and a customer, each for who may list these. */
export const showNames = <Product extends string | null>(
  { productName, customerName, customerEmail }: Names<Product>,
  caller: Caller,
): Partial<Names<Product>> => ({
  ...(allows(caller, 'product:read') && { productName }),
  ...(allows(caller, 'customer:read') && { customerName, customerEmail }),
});

interface Names<Product> extends Pick<NamedLicense, 'customerName' | 'customerEmail'> {
  readonly productName: Product;
}

export const showDevice = (device: Device, caller: Caller): ShownDevice => ({
  id: device.id,
  hostId: device.hostId,
  deviceTag: device.deviceTag ?? NO_TAG,
  ipAddress: showIp(device.ipAddress, seesSecrets(caller)),
  activationTime: device.activationTime,
  lastSeenOn: device.lastSeenOn,
});

export const showSession = ({ id, hostId, tag, userIdentifier, createdAt, expiresAt }: Session): ShownSession => ({
  id,
  hostId,
  deviceTag: tag ?? NO_TAG,
  userIdentifier,
  createdAt,
  expiresAt,
});
