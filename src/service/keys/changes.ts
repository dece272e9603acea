import type { InputOf } from '../../contract/endpoint.ts';
import { apiError } from '../../contract/errors.ts';
import type { EventType } from '../../contract/events.ts';
import type { keyChanges } from '../../contract/keys/changes.ts';
import { heartbeatsWithinLease } from '../../contract/keys/licenses.ts';
import { freeMetadataOf, isWithinBounds } from '../../contract/keys/metadata.ts';
import {
  beyondLimits,
  type Changes,
  describeUse,
  differences,
  mergeEntries,
  type Usage,
} from '../../domain/changes.ts';
import type { License } from '../../domain/license.ts';
import { mintKey, revealKey, showKey } from '../../domain/license-key.ts';
import { addDuration, expiryAfter, expiryFromNow } from '../../domain/time.ts';
import type { Context } from '../context.ts';
import { holdOrAddCustomer } from '../customers.ts';
import { type Operation, type Operations, onProduct, replayToAnyone } from '../operation.ts';
import { usablePlan } from '../plans.ts';
import { checkVersion } from '../products.ts';
import { licenseEvent, sessionEvent, type UseCaseEvent } from '../record.ts';
import { settleSlots } from '../slots.ts';
import { refuseStale, writeChanges } from '../write-changes.ts';
import { byKey, foundByKey } from './find.ts';
import { linksOf, productNameOf, showLicense } from './show.ts';

export const changeOperations: Operations<typeof keyChanges> = {
  update: {
    authorize: onProduct('licenseNotFound'),
    async perform(context, input) {
      const { newCustomer, ...given } = input;
      // Locks the customer before the licence, as the removal of a customer does.
      const customerId = await holdOrAddCustomer(context, input);
      const license = await lockLicense(context, input);
      const changes = changesOf(license, { ...given, ...(newCustomer && { customerId }) });
      const fields = inconsistentFields({ ...license, ...changes });
      if (fields.length > 0) throw apiError('invalidParams', { fields });
      const { versionId, planId } = changes;
      const { productId } = license;
      if (versionId != null) await checkVersion(context, { productId, versionId });
      if (planId != null) await usablePlan(context, { productId, planId });
      if (input.force !== true && limits.some((limit) => changes[limit] != null)) {
        refuseUse(beyondLimits(changes, await usageOf(context, license)));
      }
      return applyAndShow(context, license, changes, (after, names) =>
        licenseEvent('license.updated', after, {
          changed: names.map(apiNameOf),
          before: recordedValues(license, names),
          after: recordedValues(after, names),
        }),
      );
    },
  },

  renew: {
    authorize: onProduct('licenseNotFound'),
    async perform(context, input) {
      const { now } = context;
      const license = await lockLicense(context, input);
      const { expirationDate: end, renewalDay } = license;
      if (end === null) throw apiError('noEnd');
      const { from = 'later', duration } = input;
      const isFromEnd = from === 'end' || (from === 'later' && end >= now);
      const renewed = isFromEnd ? expiryAfter(end, duration, renewalDay) : expiryFromNow(now, duration);
      return applyAndShow(context, license, renewed, (after) =>
        licenseEvent('license.renewed', after, { from: end, to: after.expirationDate }),
      );
    },
  },

  transfer: {
    authorize: onProduct('licenseNotFound'),
    async perform(context, input) {
      const customerId = await holdOrAddCustomer(context, input);
      const license = await lockLicense(context, input);
      return applyAndShow(context, license, { customerId }, (after) =>
        licenseEvent('license.transferred', after, { from: license.customerId, to: customerId }),
      );
    },
  },

  block: blockingOperation(true, 'license.blocked', 'License blocked'),
  unblock: blockingOperation(false, 'license.unblocked', 'License unblocked'),

  reissue: {
    authorize: onProduct('licenseNotFound'),
    async perform(context, input) {
      const license = await lockLicense(context, input);
      const previousKeyUntil = addDuration(context.now, input.overlap ?? DEFAULT_OVERLAP);
      await context.repositories.previousKeys.add(license, previousKeyUntil);
      const key = mintKey(context.random(15));
      await applyChanges(context, license, { key, previousKeyUntil }, (after) =>
        licenseEvent('license.reissued', after, { previousKey: showKey(license.key, false), previousKeyUntil }),
      );
      return { message: 'License key reissued', key: revealKey(key), previousKeyUntil };
    },
  },

  revoke: {
    ...replayToAnyone(onProduct('licenseNotFound')),
    async perform(context, input) {
      const license = await lockAny(context, input);
      const { reason = null } = input;
      const revoked = { vendorDisabled: true, revokedAt: context.now, revocationReason: reason };
      await applyChanges(context, license, license.revokedAt === null ? revoked : {}, (after) => ({
        ...licenseEvent('license.revoked', after),
        details: { reason },
      }));
      if (!license.vendorDisabled) await context.repositories.files.noteBlocking(license, context.now);
      return { message: 'License revoked' };
    },
  },

  delete: {
    ...replayToAnyone(onProduct('licenseNotFound')),
    async perform(context, input) {
      const { keys, previousKeys, devices, sessions, files } = context.repositories;
      const license = await lockAny(context, input);
      const usage = await usageOf(context, license);
      if (input.force !== true) refuseUse(describeUse(usage));
      const lapsed = await sessions.removeLapsed(context.now, { license });
      await devices.removeAll(license);
      await sessions.removeAll(license);
      await files.revoke(license, null, context.now);
      if (license.revokedAt === null) await previousKeys.release(license);
      else await previousKeys.add(license, license.revokedAt);
      await keys.remove(license);
      context.record(licenseEvent('license.deleted', license, { ...usage }));
      for (const session of lapsed) context.record(sessionEvent('session.expired', license, session));
    },
  },
};

/** How long the old key works by default. */
const DEFAULT_OVERLAP = { days: 7 };

const limits = ['maxActivations', 'maxConcurrentSessions', 'licenseType'] as const;

/** Locks and returns a licence. Throws ApiError `licenseRevoked` for a revoked licence. */
async function lockLicense(context: Context, input: Addressed): Promise<License> {
  const license = await lockAny(context, input);
  if (license.revokedAt !== null) throw apiError('licenseRevoked');
  return license;
}

type Addressed = InputOf<(typeof keyChanges)['block']>;

/** Locks and returns a licence, revoked or not. */
async function lockAny(context: Context, { productId, licenseKey, ifUpdatedAt }: Addressed): Promise<License> {
  const { repositories, caller } = context;
  const named = await byKey(context, licenseKey, (key) =>
    repositories.keys.findLocked(caller.accountId, productId, key),
  );
  const license = foundByKey(named, licenseKey, 'licenseNotFound');
  refuseStale(license, ifUpdatedAt);
  return license;
}

function blockingOperation(
  vendorDisabled: boolean,
  type: EventType,
  message: string,
): Operation<(typeof keyChanges)['block']> {
  return {
    ...replayToAnyone(onProduct('licenseNotFound')),
    async perform(context, input) {
      const license = await lockLicense(context, input);
      const details = input.note === undefined ? {} : { note: input.note };
      await applyChanges(context, license, { vendorDisabled }, (after) => ({ ...licenseEvent(type, after), details }));
      if (license.vendorDisabled === vendorDisabled) return { message, unchanged: true as const };
      await context.repositories.files.noteBlocking(license, context.now);
      return { message };
    },
  };
}

function changesOf(
  license: License,
  input: Omit<InputOf<(typeof keyChanges)['update']>, 'newCustomer' | 'customerId'> &
    Pick<Changes<License>, 'customerId'>,
): Partial<License> {
  const { productId: _p, licenseKey: _k, ifUpdatedAt: _i, force: _f, metadata = {}, ...fields } = input;
  const isBound = (fields.licenseType ?? license.licenseType) === 'node-locked';
  return differences(license, {
    ...fields,
    features: mergeEntries(license.features, metadata.features ?? {}),
    metadata: mergeEntries(license.metadata, freeMetadataOf(metadata)),
    isTrial: metadata.is_trial,
    ...(fields.expirationDate !== undefined && { expiresAfter: null, renewalDay: null }),
    // Only a floating licence has such a limit.
    ...(isBound && fields.maxConcurrentSessions === undefined && { maxConcurrentSessions: null }),
  });
}

/** The fields of a changed licence that contradict each other or exceed their bounds. */
export function inconsistentFields(license: License): string[] {
  const { licenseType, maxConcurrentSessions, metadata, features } = license;
  return [
    ...(licenseType === 'node-locked' && maxConcurrentSessions !== null ? ['maxConcurrentSessions'] : []),
    ...(heartbeatsWithinLease(license) ? [] : ['heartbeatInterval']),
    ...(isWithinBounds({ ...metadata, features }) ? [] : ['metadata']),
  ];
}

async function usageOf({ repositories, now }: Context, license: License): Promise<Usage> {
  return { devices: license.activations, sessions: await repositories.sessions.countLive(license, now) };
}

function refuseUse(inUse: string | null): void {
  if (inUse !== null) throw apiError('inUse', { inUse });
}

const apiNameOf = (field: string): string =>
  field === 'features' ? 'metadata.features' : field === 'isTrial' ? 'metadata.is_trial' : field;

/** Fields whose values are not recorded: the vendor's own texts, lists of up to a thousand hosts, and durations. */
const unrecorded = ['features', 'metadata', 'allowedHosts', 'expiresAfter', 'gracePeriod'];

/** The values of changed fields for the record: numbers, instants, flags, ids and choices. */
const recordedValues = (license: License, names: readonly (keyof License)[]) =>
  Object.fromEntries(
    names.filter((name) => !unrecorded.includes(name)).map((name) => [apiNameOf(name), license[name]]),
  );

type Describe = (after: License, names: readonly (keyof License)[]) => UseCaseEvent;

async function applyAndShow(context: Context, license: License, changes: Changes<License>, describe: Describe) {
  const after = await applyChanges(context, license, changes, describe);
  const devices = await context.repositories.devices.list(after);
  const shown = showLicense(after, devices, context.caller, await linksOf(context, after));
  return { ...shown, ...(await productNameOf(context, after)) };
}

const applyChanges = (context: Context, license: License, changes: Changes<License>, describe: Describe) =>
  writeChanges(context, license, {
    given: changes,
    async write(differing) {
      const slots =
        license.promisedSlots + license.moves > 0 &&
        (await settleSlots(context, license, { ...license, ...differing }));
      return context.repositories.keys.patch(license, { ...differing, ...slots });
    },
    describe,
  });
