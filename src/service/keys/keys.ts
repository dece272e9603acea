import type { InputOf } from '../../contract/endpoint.ts';
import { apiError } from '../../contract/errors.ts';
import type { keyImport } from '../../contract/keys/import.ts';
import type { keys } from '../../contract/keys/keys.ts';
import { DEFAULT_HEARTBEAT_SECONDS, DEFAULT_LEASE_SECONDS } from '../../contract/keys/licenses.ts';
import { freeMetadataOf } from '../../contract/keys/metadata.ts';
import type { Instant, LicenseKey, ProductId } from '../../contract/scalars.ts';
import { canAccessProduct, seesWholeLicense } from '../../domain/access.ts';
import { newId } from '../../domain/ids.ts';
import { defaultExpiry, type License } from '../../domain/license.ts';
import { mintKey, revealKey } from '../../domain/license-key.ts';
import type { Context, UseCase } from '../context.ts';
import { addCustomer, seesCustomer } from '../customers.ts';
import { listFiles } from '../license-files.ts';
import { listLiveSessions } from '../live-sessions.ts';
import { type Operations, onProduct } from '../operation.ts';
import { checkVersion, versionOf } from '../product-versions.ts';
import { licenseEvent } from '../record.ts';
import { showLicense } from './show-license.ts';

type Keys = typeof keys;

/** Issues a key for an active product. */
const createKey: UseCase<Keys['create']> = async (context, input) => {
  const { repositories, caller } = context;
  const product = await repositories.products.find(caller.accountId, input.productId);
  if (!product?.active) throw apiError('productUnavailable');
  // First of all, so that whoever asks again for the same reference is told so, whatever else the request would do.
  await refuseTaken(context, input.reference);
  const { productId, versionId } = input;
  if (versionId != null) await checkVersion(context, { productId, versionId });
  await countIssue(context);
  const customerId = await holdOrAddCustomer(context, input).catch(async (error: unknown) => {
    // The customer may have come with the same reference, at the same time.
    await refuseTaken(context, input.reference);
    throw error;
  });
  const license = newLicense(context, input, customerId);
  if (!(await repositories.keys.insert(license))) throw referenceTaken(license.reference);
  context.record(licenseEvent('license.created', license));
  return { key: revealKey(license.key) };
};

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
const getKey: UseCase<Keys['get']> = async (context, input) => {
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
    customer: customer && (seesWholeLicense(caller) ? customer : { ...customer, email: null }),
    ...(license.licenseType === 'floating' &&
      seesWholeLicense(caller) && { sessions: await listLiveSessions(context, license) }),
    ...(seesWholeLicense(caller) && { files: hasFiles ? await listFiles(context, license) : [] }),
  };
};

/** The licence that product and key name together, or null. */
export async function findLicense(
  { repositories, caller }: Context,
  address: { productId: ProductId; licenseKey: LicenseKey },
): Promise<License | null> {
  return repositories.keys.find(caller.accountId, address.productId, address.licenseKey);
}

/** The customer that an input names or brings along, which stays until this transaction ends; null for none. */
export async function holdOrAddCustomer(
  context: Context,
  { customerId, newCustomer }: Pick<InputOf<Keys['create']>, 'customerId' | 'newCustomer'>,
): Promise<string | null> {
  if (newCustomer != null) return (await addCustomer(context, newCustomer)).id;
  if (customerId != null) await holdCustomer(context, customerId);
  return customerId ?? null;
}

/**
 * Keeps a customer until this transaction ends: a key must not be given to one that is removed at this moment. Throws
 * ApiError `customerNotFound`.
 */
export async function holdCustomer(context: Context, customerId: string): Promise<void> {
  const held = await context.repositories.customers.hold(context.caller.accountId, customerId);
  if (!held || !(await seesCustomer(context, customerId))) throw apiError('customerNotFound', { customerId });
}

/** What a key that is issued and one that moves in say in the same fields, with what holds where nothing is said. */
export const termsOf = (input: InputOf<Keys['create']> | InputOf<typeof keyImport.import>) => ({
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
    versionId: input.versionId ?? null,
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

/** The operations on keys themselves. */
export const keyOperations: Operations<typeof keys> = {
  create: { perform: createKey, authorize: onProduct('productUnavailable'), authorizeReplay: countIssue },
  get: {
    perform: getKey,
    // Without a product, that of the key is looked at once it is known. A reference is the vendor's: whoever has the
    // application must not try others.
    authorize: (caller, { productId, reference }) =>
      (productId === undefined ? null : onProduct('licenseNotFound')(caller, { productId })) ??
      (reference === undefined || seesWholeLicense(caller) ? null : 'scopeMissing'),
  },
};
