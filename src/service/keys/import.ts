import type { InputOf } from '../../contract/endpoint.ts';
import { apiError } from '../../contract/errors.ts';
import type { keyImport } from '../../contract/keys/import.ts';
import type { Instant } from '../../contract/scalars.ts';
import { idTime, newId } from '../../domain/ids.ts';
import { toIpAddress } from '../../domain/ip-address.ts';
import { type License, NO_TAG } from '../../domain/license.ts';
import { describeUse } from '../../domain/license-changes.ts';
import { revealKey } from '../../domain/license-key.ts';
import type { Context, UseCase } from '../context.ts';
import { findOrAddCustomer } from '../customers.ts';
import { type Operations, onProduct } from '../operation.ts';
import { licenseEvent } from '../record.ts';
import { countIssue, termsOf } from './keys.ts';

type Import = (typeof keyImport)['import'];
type Input = InputOf<Import>;

/** Takes in a key that another system has issued, with all that belongs to it. */
const importKey: UseCase<Import> = async (context, input) => {
  const { repositories, caller, now } = context;
  const { accountId } = caller;
  const { createdAt = now, devices = [], maxActivations = null } = input;
  if (![createdAt, ...devices.map(({ activationTime = now }) => activationTime)].every((at) => isPast(at, now))) {
    throw apiError('invalidParams', { fields: [isPast(createdAt, now) ? 'devices' : 'createdAt'] });
  }
  if (input.id !== undefined && idTime(input.id) !== createdAt) throw apiError('invalidParams', { fields: ['id'] });
  const product = await repositories.products.find(accountId, input.productId);
  if (product === null) throw apiError('productNotFound');
  // First of all, so that whoever sends it again is told so, whatever else the request would do.
  await refuseTaken(context, input);
  if (input.force !== true && maxActivations !== null && devices.length > maxActivations) {
    throw apiError('inUse', { inUse: describeUse({ devices: devices.length, sessions: 0 }) ?? '' });
  }
  const versionId = await versionIdOf(context, input);
  await countIssue(context);
  const customerId = input.customer == null ? null : await findOrAddCustomer(context, input.customer);
  const license = importedLicense(context, input, { customerId, versionId, createdAt });
  if (!(await repositories.keys.insertUnlessThere(license))) {
    await refuseTaken(context, input);
    throw apiError('keyTaken');
  }
  await addDevices(context, license, devices);
  // It ended elsewhere, and was announced there.
  const end = license.expirationDate;
  if (end !== null && end <= now) await repositories.licenseExpiries.markRecorded(license);
  context.record(licenseEvent('license.created', license, { imported: true, devices: devices.length }));
  return { key: revealKey(license.key), id: license.id };
};

const EPOCH = '1970-01-01T00:00:00.000Z';

const isPast = (at: Instant, now: Instant): boolean => at >= EPOCH && at <= now;

async function refuseTaken(
  { repositories, caller }: Context,
  { key, reference }: Pick<Input, 'key' | 'reference'>,
): Promise<void> {
  const { accountId } = caller;
  if ((await repositories.keys.findProduct(accountId, { licenseKey: key })) !== null) throw apiError('keyTaken');
  if (reference == null) return;
  if ((await repositories.keys.findByReference(accountId, reference)) !== null) {
    throw apiError('referenceTaken', { reference });
  }
}

/** The version of the product that has this name; it need not be active any more. */
async function versionIdOf({ repositories, caller }: Context, { productId, version }: Input): Promise<string | null> {
  if (version == null) return null;
  const versions = await repositories.productVersions.list(caller.accountId, productId);
  const found = versions.find((one) => one.version === version);
  if (found === undefined) throw apiError('versionNotFound');
  return found.id;
}

function importedLicense(
  { caller, now, random }: Context,
  input: Input,
  known: Pick<License, 'customerId' | 'versionId' | 'createdAt'>,
): License {
  return {
    id: input.id ?? newId('lic', known.createdAt, random(10)),
    accountId: caller.accountId,
    productId: input.productId,
    key: input.key,
    ...termsOf(input),
    maxActivations: input.maxActivations ?? null,
    activations: input.devices?.length ?? 0,
    expirationDate: input.expirationDate ?? null,
    vendorDisabled: input.vendorDisabled ?? false,
    updatedAt: now,
    ...known,
  };
}

async function addDevices(
  { repositories, random, now, ipAddress }: Context,
  license: License,
  devices: NonNullable<Input['devices']>,
): Promise<void> {
  for (const { hostId, deviceTag, activationTime = now, ...device } of devices) {
    await repositories.devices.insert(license, {
      id: newId('dev', activationTime, random(10)),
      hostId,
      deviceTag: deviceTag === NO_TAG ? null : (deviceTag ?? null),
      ipAddress: device.ipAddress === undefined ? ipAddress : toIpAddress(device.ipAddress),
      activationTime,
    });
  }
}

/** The operations that take keys in. */
export const importOperations: Operations<typeof keyImport> = {
  import: { perform: importKey, authorize: onProduct('productNotFound'), authorizeReplay: countIssue },
};
