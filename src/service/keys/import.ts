import type { InputOf } from '../../contract/endpoint.ts';
import { apiError } from '../../contract/errors.ts';
import type { keyImport } from '../../contract/keys/import.ts';
import type { LicenseKey } from '../../contract/scalars.ts';
import { describeUse } from '../../domain/changes.ts';
import { newId } from '../../domain/ids.ts';
import { wrongFields } from '../../domain/imported-key.ts';
import { toIpAddress } from '../../domain/ip-address.ts';
import { type Features, type License, NO_TAG } from '../../domain/license.ts';
import { canonicalKey, revealKey } from '../../domain/license-key.ts';
import type { Plan } from '../../domain/plan.ts';
import { unmoved } from '../../domain/slots.ts';
import type { Context } from '../context.ts';
import { findOrAddCustomer } from '../customers.ts';
import { type Operations, onProduct, orThrow } from '../operation.ts';
import { licenseEvent } from '../record.ts';
import { countIssue, refuseTaken, termsOf } from './issue.ts';

type Input = InputOf<(typeof keyImport)['import']>;

export const importOperations: Operations<typeof keyImport> = {
  /** Adds a key that another system has issued, with its customer and devices. */
  import: {
    authorize: onProduct('productNotFound'),
    authorizeReplay: countIssue,
    async perform(context, given) {
      const { repositories, caller, now, random } = context;
      const { accountId } = caller;
      const input = { ...given, key: canonicalKey(given.key) };
      const { productId, key, createdAt = now, devices = [], maxActivations = null } = input;
      const { expirationDate = null, renewalDay = null } = input;
      const fields = wrongFields(input, now);
      if (fields.length > 0) throw apiError('invalidParams', { fields });
      orThrow(await repositories.products.find(accountId, productId), 'productNotFound');
      // Before the checks below, so that a repeated import is refused with `keyTaken`, whatever has changed since.
      await refuseKnown(context, input);
      if (input.force !== true && maxActivations !== null && devices.length > maxActivations) {
        throw apiError('inUse', { inUse: describeUse({ devices: devices.length, sessions: 0 }) ?? '' });
      }
      const versionId = await versionIdOf(context, input);
      const plan = await namedPlan(context, input);
      await countIssue(context, input);
      const license: License = {
        id: input.id ?? newId('lic', createdAt, random(10)),
        accountId,
        productId,
        key,
        ...termsOf(input),
        customerId: input.customer == null ? null : await findOrAddCustomer(context, input.customer),
        maxActivations,
        activations: devices.length,
        expirationDate,
        renewalDay,
        planId: plan?.id ?? null,
        features: ownFeatures(input, plan),
        previousKeyUntil: null,
        vendorDisabled: input.vendorDisabled === true || input.revokedAt != null,
        revokedAt: input.revokedAt ?? null,
        revocationReason: input.revocationReason ?? null,
        versionId,
        issuedBy: caller.tokenId,
        ...unmoved,
        lastSeenOn: null,
        createdAt,
        updatedAt: now,
      };
      if (!(await repositories.keys.insertUnlessThere(license))) {
        await refuseKnown(context, input);
        throw apiError('keyTaken');
      }
      // Between the check and the insert, another request may have imported this key and replaced or deleted it. After the
      // insert nobody can: the unique index holds the key for this licence.
      await refusePrevious(context, key);
      await addDevices(context, license, devices);
      // An expiry in the past gets no events.
      if (expirationDate !== null && expirationDate <= now) await repositories.licenseExpiries.markRecorded(license);
      context.record(licenseEvent('license.created', license, { imported: true, devices: devices.length }));
      return { key: revealKey(key), id: license.id };
    },
  },
};

async function refuseKnown(context: Context, { key, reference }: Input): Promise<void> {
  const { repositories, caller } = context;
  if ((await repositories.keys.findProduct(caller.accountId, { licenseKey: key })) !== null) throw apiError('keyTaken');
  await refusePrevious(context, key);
  await refuseTaken(context, reference);
}

/** Throws ApiError `keyTaken` for an earlier key of a licence, `keyRevoked` for a key that was revoked and deleted. */
async function refusePrevious({ repositories, caller }: Context, key: LicenseKey): Promise<void> {
  const state = await repositories.previousKeys.stateOf(caller.accountId, key);
  if (state !== null) throw apiError(state === 'revoked' ? 'keyRevoked' : 'keyTaken');
}

/** The version of the product with this name, active or not. */
async function versionIdOf({ repositories, caller }: Context, { productId, version }: Input): Promise<string | null> {
  if (version == null) return null;
  const versions = await repositories.productVersions.list(caller.accountId, productId);
  const named = versions.find((one) => one.version === version);
  return orThrow(named, 'versionNotFound').id;
}

/** The plan of the product with this name, active or not. */
async function namedPlan({ repositories, caller }: Context, { productId, plan }: Input): Promise<Plan | null> {
  if (plan == null) return null;
  return orThrow(await repositories.plans.findByName(caller.accountId, productId, plan), 'planNotFound');
}

/** The features that differ from the features of the plan. Equal features are left out, so that they follow the plan. */
const ownFeatures = ({ metadata }: Input, plan: Plan | null): Features =>
  Object.fromEntries(Object.entries(metadata?.features ?? {}).filter(([name, set]) => plan?.features[name] !== set));

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
