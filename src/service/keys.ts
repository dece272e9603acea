import type { InputOf, PayloadOf } from '../contract/endpoint.ts';
import { apiError } from '../contract/errors.ts';
import type { Contract } from '../contract/index.ts';
import type { LicenseKey, ProductId } from '../contract/scalars.ts';
import { canAccessProduct, seesSecrets } from '../domain/access.ts';
import { newId } from '../domain/ids.ts';
import {
  type Device,
  defaultExpiry,
  HEARTBEAT_INTERVAL_SECONDS,
  isActivated,
  type License,
  NO_TAG,
  SESSION_LEASE_SECONDS,
} from '../domain/license.ts';
import { mintKey } from '../domain/license-key.ts';
import { revealKey, showIp, showKey } from '../domain/mask.ts';
import type { Context } from './context.ts';
import { addCustomer } from './customers.ts';

type Keys = Contract['keys'];

/** Issues a key for an active product. */
export async function createKey(context: Context, input: InputOf<Keys['create']>): Promise<PayloadOf<Keys['create']>> {
  const { repositories, caller } = context;
  const product = canAccessProduct(caller, input.productId)
    ? await repositories.products.find(caller.accountId, input.productId)
    : null;
  if (!product?.active) throw apiError('productUnavailable');
  if (caller.tokenId !== null && caller.maxIssues !== null) {
    if (!(await repositories.tokens.countIssue(caller.accountId, caller.tokenId))) throw apiError('issueLimit');
  }
  const license = newLicense(context, input, await customerOf(context, input));
  await repositories.keys.insert(license);
  return { key: revealKey(license.key) };
}

/** Shows one licence with its devices and its customer. */
export async function getKey(context: Context, input: InputOf<Keys['get']>): Promise<PayloadOf<Keys['get']>> {
  const { repositories, caller } = context;
  const found = canAccessProduct(caller, input.productId)
    ? await repositories.keys.findWithCustomer(caller.accountId, input.productId, input.licenseKey)
    : null;
  if (found === null) throw apiError('licenseNotFound');
  const devices = await repositories.devices.list(found.license);
  return { license: showLicense(found.license, devices, seesSecrets(caller)), customer: found.customer };
}

/** The licence the caller names, or null; one that the caller may not touch is as good as absent. */
export async function findLicense(
  { repositories, caller }: Context,
  address: { productId: ProductId; licenseKey: LicenseKey },
): Promise<License | null> {
  if (!canAccessProduct(caller, address.productId)) return null;
  return repositories.keys.find(caller.accountId, address.productId, address.licenseKey);
}

/** Whether the licence's customer, if it has one, may use it. */
export async function hasActiveCustomer({ repositories }: Context, license: License): Promise<boolean> {
  if (license.customerId === null) return true;
  const customer = await repositories.customers.find(license.accountId, license.customerId);
  return customer?.active ?? true;
}

async function customerOf(context: Context, input: InputOf<Keys['create']>): Promise<string | null> {
  if (input.newCustomer != null) return (await addCustomer(context, input.newCustomer)).id;
  if (input.customerId == null) return null;
  const { customerId } = input;
  // Held, since a key must not be given to a customer that is removed at this moment.
  const held = await context.repositories.customers.hold(context.caller.accountId, customerId);
  if (!held) throw apiError('customerNotFound', { customerId });
  return customerId;
}

function newLicense(context: Context, input: InputOf<Keys['create']>, customerId: string | null): License {
  const { caller, now, random } = context;
  return {
    id: newId('lic', now, random(10)),
    accountId: caller.accountId,
    productId: input.productId,
    key: mintKey(random(15)),
    customerId,
    maxActivations: input.usesPerKey ?? null,
    activations: 0,
    expirationDate: input.expiryDate === undefined ? defaultExpiry(now) : input.expiryDate,
    features: input.metadata?.features ?? {},
    isTrial: input.metadata?.is_trial ?? false,
    allowedHosts: input.allowedHosts ?? null,
    licenseType: input.licenseType ?? 'node-locked',
    maxConcurrentSessions: input.maxConcurrentSessions ?? null,
    heartbeatInterval: input.heartbeatInterval ?? HEARTBEAT_INTERVAL_SECONDS,
    sessionLeaseDuration: input.sessionLeaseDuration ?? SESSION_LEASE_SECONDS,
    customerCanSelfReset: input.customerCanSelfReset ?? false,
    vendorDisabled: false,
    versionId: null,
    createdAt: now,
    updatedAt: now,
  };
}

function showLicense(
  license: License,
  devices: readonly Device[],
  seesAll: boolean,
): PayloadOf<Keys['get']>['license'] {
  // Counted from the list, so that both agree even while another request takes a slot.
  const activations = devices.length;
  return {
    id: license.id,
    key: showKey(license.key, seesAll),
    productId: license.productId,
    maxActivations: license.maxActivations,
    activations,
    activated: isActivated({ activations, vendorDisabled: license.vendorDisabled }),
    expirationDate: license.expirationDate,
    metadata: { features: license.features, is_trial: license.isTrial },
    allowedHosts: license.allowedHosts === null ? null : [...license.allowedHosts],
    licenseType: license.licenseType,
    maxConcurrentSessions: license.maxConcurrentSessions,
    heartbeatInterval: license.heartbeatInterval,
    sessionLeaseDuration: license.sessionLeaseDuration,
    customerCanSelfReset: license.customerCanSelfReset,
    vendorDisabled: license.vendorDisabled,
    devices: devices.map((device) => ({
      id: device.id,
      hostId: device.hostId,
      deviceTag: device.deviceTag ?? NO_TAG,
      ipAddress: showIp(device.ipAddress, seesAll),
      activationTime: device.activationTime,
    })),
    versionId: license.versionId,
    version: null,
    createdAt: license.createdAt,
    updatedAt: license.updatedAt,
  };
}
