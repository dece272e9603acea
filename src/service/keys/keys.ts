import type { InputOf, PayloadOf } from '../../contract/endpoint.ts';
import { apiError } from '../../contract/errors.ts';
import { writeDuration } from '../../contract/fields.ts';
import type { Contract } from '../../contract/index.ts';
import { DEFAULT_HEARTBEAT_SECONDS, DEFAULT_LEASE_SECONDS } from '../../contract/keys/licenses.ts';
import { freeMetadataOf } from '../../contract/keys/metadata.ts';
import type { Instant, LicenseKey, ProductId } from '../../contract/scalars.ts';
import { type Caller, canAccessProduct, seesOtherDevices, seesSecrets } from '../../domain/access.ts';
import { newId } from '../../domain/ids.ts';
import { showIp } from '../../domain/ip-address.ts';
import { type Device, defaultExpiry, isActivated, type License, NO_TAG } from '../../domain/license.ts';
import { mintKey, revealKey, showKey } from '../../domain/license-key.ts';
import { graceUntil } from '../../domain/term.ts';
import type { Context } from '../context.ts';
import { addCustomer, seesCustomer } from '../customers.ts';
import { listFiles } from '../license-files.ts';
import { listLiveSessions } from '../live-sessions.ts';
import { type ShownVersion, versionOf } from '../product-versions.ts';
import { licenseEvent } from '../record.ts';

type Keys = Contract['keys'];

/** Issues a key for an active product. */
export async function createKey(context: Context, input: InputOf<Keys['create']>): Promise<PayloadOf<Keys['create']>> {
  const { repositories, caller } = context;
  const product = await repositories.products.find(caller.accountId, input.productId);
  if (!product?.active) throw apiError('productUnavailable');
  // First of all, so that whoever asks again for the same reference is told so, whatever else the request would do.
  await refuseTaken(context, input.reference);
  await countIssue(context);
  const customerId = await customerOf(context, input).catch(async (error: unknown) => {
    // The customer may have come with the same reference, at the same time.
    await refuseTaken(context, input.reference);
    throw error;
  });
  const license = newLicense(context, input, customerId);
  if (!(await repositories.keys.insert(license))) throw referenceTaken(license.reference);
  context.record(licenseEvent('license.created', license));
  return { key: revealKey(license.key) };
}

async function refuseTaken({ repositories, caller }: Context, reference: string | undefined): Promise<void> {
  if (reference === undefined) return;
  const found = await repositories.keys.findByReference(caller.accountId, reference);
  if (found !== null) throw referenceTaken(reference);
}

const referenceTaken = (reference: string | null) =>
  apiError('referenceTaken', reference === null ? {} : { reference });

/** Counts a key that the caller gets against its `maxIssues`. Throws ApiError `issueLimit` when it has had that many. */
export async function countIssue({ repositories, caller, noteBudget }: Context): Promise<void> {
  if (caller.tokenId === null || caller.maxIssues === null) return;
  const remaining = await repositories.tokens.countIssue(caller.accountId, caller.tokenId);
  if (remaining === null) throw apiError('issueLimit');
  noteBudget(remaining);
}

/** Shows one licence with its devices and its customer. */
export async function getKey(context: Context, input: InputOf<Keys['get']>): Promise<PayloadOf<Keys['get']>> {
  const { repositories, caller } = context;
  const { accountId } = caller;
  const { licenseKey, reference = '' } = input;
  const productId =
    input.productId ??
    (await repositories.keys.findProduct(accountId, licenseKey === undefined ? { reference } : { licenseKey }));
  if (productId === null || !canAccessProduct(caller, productId)) throw apiError('licenseNotFound');
  const found = await (licenseKey === undefined
    ? repositories.keys.findReferenceWithCustomer(accountId, productId, reference)
    : repositories.keys.findWithCustomer(accountId, productId, licenseKey));
  if (found === null) throw apiError('licenseNotFound');
  const { license, customer, hasFiles } = found;
  // Most keys of a vendor that are asked for have neither devices nor files, and then one statement is all.
  const devices = license.activations === 0 ? [] : await repositories.devices.list(license);
  return {
    license: showLicense(license, devices, caller, await versionOf(context, license)),
    customer: customer && (seesOtherDevices(caller) ? customer : { ...customer, email: null }),
    ...(license.licenseType === 'floating' &&
      seesOtherDevices(caller) && { sessions: await listLiveSessions(context, license) }),
    ...(seesOtherDevices(caller) && { files: hasFiles ? await listFiles(context, license) : [] }),
  };
}

/** The licence that product and key name together, or null. */
export async function findLicense(
  { repositories, caller }: Context,
  address: { productId: ProductId; licenseKey: LicenseKey },
): Promise<License | null> {
  return repositories.keys.find(caller.accountId, address.productId, address.licenseKey);
}

/** The customer that an input names, which stays until this transaction ends, or creates; null for none. */
export async function customerOf(
  context: Context,
  input: Pick<InputOf<Keys['create']>, 'customerId' | 'newCustomer'>,
): Promise<string | null> {
  if (input.newCustomer != null) return (await addCustomer(context, input.newCustomer)).id;
  if (input.customerId == null) return null;
  const { customerId } = input;
  // Held, since a key must not be given to a customer that is removed at this moment.
  const held = await context.repositories.customers.hold(context.caller.accountId, customerId);
  if (!held || !(await seesCustomer(context, customerId))) throw apiError('customerNotFound', { customerId });
  return customerId;
}

/** What a key that is issued and one that moves in say in the same fields, with what holds where nothing is said. */
export const termsOf = (input: InputOf<Keys['create']> | InputOf<Keys['import']>) => ({
  reference: input.reference ?? null,
  expiresAfter: input.expiresAfter ?? null,
  gracePeriod: input.gracePeriod ?? null,
  features: input.metadata?.features ?? {},
  metadata: freeMetadataOf(input.metadata),
  isTrial: input.metadata?.is_trial ?? false,
  allowedHosts: input.allowedHosts ?? null,
  licenseType: input.licenseType ?? 'node-locked',
  maxConcurrentSessions: input.maxConcurrentSessions ?? null,
  heartbeatInterval: input.heartbeatInterval ?? DEFAULT_HEARTBEAT_SECONDS,
  sessionLeaseDuration: input.sessionLeaseDuration ?? DEFAULT_LEASE_SECONDS,
  customerCanSelfReset: input.customerCanSelfReset ?? false,
});

function newLicense(context: Context, input: InputOf<Keys['create']>, customerId: string | null): License {
  const { caller, now, random } = context;
  return {
    id: newId('lic', now, random(10)),
    accountId: caller.accountId,
    productId: input.productId,
    key: mintKey(random(15)),
    ...termsOf(input),
    customerId,
    maxActivations: input.usesPerKey ?? null,
    activations: 0,
    expirationDate: endOf(input, now),
    vendorDisabled: false,
    versionId: null,
    createdAt: now,
    updatedAt: now,
  };
}

function endOf(
  { expiryDate, expiresAfter }: Pick<InputOf<Keys['create']>, 'expiryDate' | 'expiresAfter'>,
  now: Instant,
): Instant | null {
  if (expiresAfter !== undefined) return null;
  return expiryDate === undefined ? defaultExpiry(now) : expiryDate;
}

/** The licence as the caller may see it, with its devices and its version. */
export function showLicense(
  license: License,
  devices: readonly Device[],
  caller: Caller,
  version: ShownVersion | null,
): PayloadOf<Keys['get']>['license'] {
  const seesAll = seesSecrets(caller);
  const seesOthers = seesOtherDevices(caller);
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
    expiresAfter: license.expiresAfter && writeDuration(license.expiresAfter),
    gracePeriod: license.gracePeriod && writeDuration(license.gracePeriod),
    graceUntil: graceUntil(license),
    metadata: { ...(seesOthers && license.metadata), features: license.features, is_trial: license.isTrial },
    ...(seesOthers && {
      reference: license.reference,
      allowedHosts: license.allowedHosts && [...license.allowedHosts],
    }),
    licenseType: license.licenseType,
    maxConcurrentSessions: license.maxConcurrentSessions,
    heartbeatInterval: license.heartbeatInterval,
    sessionLeaseDuration: license.sessionLeaseDuration,
    customerCanSelfReset: license.customerCanSelfReset,
    vendorDisabled: license.vendorDisabled,
    devices: seesOthers ? devices.map((device) => showDevice(device, seesAll)) : [],
    versionId: license.versionId,
    version,
    createdAt: license.createdAt,
    updatedAt: license.updatedAt,
  };
}

/** A device as the caller may see it; `seesAll` shows its whole address. */
export const showDevice = (device: Device, seesAll: boolean) => ({
  id: device.id,
  hostId: device.hostId,
  deviceTag: device.deviceTag ?? NO_TAG,
  ipAddress: showIp(device.ipAddress, seesAll),
  activationTime: device.activationTime,
});
