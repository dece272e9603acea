import type { InputOf, PayloadOf } from '../../contract/endpoint.ts';
import { apiError } from '../../contract/errors.ts';
import type { JsonObject } from '../../contract/events.ts';
import type { keyChanges } from '../../contract/keys/changes.ts';
import { heartbeatsWithinLease } from '../../contract/keys/licenses.ts';
import { freeChangesOf, isWithinBounds } from '../../contract/keys/metadata.ts';
import type { Instant, LicenseKey, ProductId } from '../../contract/scalars.ts';
import type { License } from '../../domain/license.ts';
import {
  apiNameOf,
  beyondLimits,
  describeUse,
  type LicenseChanges,
  mergeEntries,
  realChanges,
  recordedValues,
  type Usage,
  withChanges,
} from '../../domain/license-changes.ts';
import { addDuration, changeInstant, later } from '../../domain/time.ts';
import type { Context, UseCase } from '../context.ts';
import { type Operations, onProduct, sameForAll } from '../operation.ts';
import { checkVersion, versionOf } from '../product-versions.ts';
import { licenseEvent, sessionEvent } from '../record.ts';
import { refuseStale } from '../write-changes.ts';
import { holdCustomer, holdOrAddCustomer } from './keys.ts';
import { showLicense } from './show-license.ts';

type Keys = typeof keyChanges;
type Update = InputOf<Keys['update']>;

/** Changes the fields of a licence that are given. */
async function updateKey(context: Context, input: Update): Promise<PayloadOf<Keys['update']>> {
  // Before the licence, since whoever removes a customer locks it before its licences.
  if (input.customerId != null) await holdCustomer(context, input.customerId);
  const license = await lockLicense(context, input);
  const changes = changesOf(license, input);
  const fields = inconsistentFields(withChanges(license, changes));
  if (fields.length > 0) throw apiError('invalidParams', { fields });
  const { versionId } = changes;
  if (versionId != null) await checkVersion(context, { productId: license.productId, versionId });
  if (input.force !== true && limits.some((limit) => changes[limit] != null)) {
    refuseUse(beyondLimits(changes, await usageOf(context, license)));
  }
  return applyAndShow(context, license, changes, (after, names) =>
    licenseEvent('license.updated', after, {
      changed: names.map(apiNameOf),
      before: recordedValues(license, changes),
      after: recordedValues(after, changes),
    }),
  );
}

const limits = ['maxActivations', 'maxConcurrentSessions', 'licenseType'] as const;

/** Adds a duration to the end of a licence, to now, or to whichever of the two is later. */
const renewKey: UseCase<Keys['renew']> = async (context, input) => {
  const { now } = context;
  const license = await lockLicense(context, input);
  const { expirationDate: end } = license;
  if (end === null) throw apiError('noEnd');
  const { from = 'later', duration } = input;
  const start = { end, now, later: later(end, now) }[from];
  return applyAndShow(context, license, { expirationDate: addDuration(start, duration) }, (after) =>
    licenseEvent('license.renewed', after, { from: end, to: after.expirationDate }),
  );
};

/** Gives a licence to another customer, to a new one, or to nobody. */
const transferKey: UseCase<Keys['transfer']> = async (context, input) => {
  const customerId = await holdOrAddCustomer(context, input);
  const license = await lockLicense(context, input);
  return applyAndShow(context, license, { customerId }, (after) =>
    licenseEvent('license.transferred', after, { from: license.customerId, to: customerId }),
  );
};

/** Disables a licence. */
const blockKey: UseCase<Keys['block']> = async (context, input) => {
  await setDisabled(context, input, 'license.blocked');
  return { message: 'License blocked' };
};

/** Makes a disabled licence usable again. */
const unblockKey: UseCase<Keys['unblock']> = async (context, input) => {
  await setDisabled(context, input, 'license.unblocked');
  return { message: 'License unblocked' };
};

/** Removes a licence for ever, with its devices and sessions. */
const deleteKey: UseCase<Keys['delete']> = async (context, input) => {
  const { keys, devices, sessions, files } = context.repositories;
  const license = await lockLicense(context, input);
  const usage = await usageOf(context, license);
  if (input.force !== true) refuseUse(describeUse(usage));
  const lapsed = await sessions.removeLapsed(context.now, { license });
  await devices.removeAll(license);
  await sessions.removeAll(license);
  await files.revoke(license, null, context.now);
  await keys.remove(license);
  context.record(licenseEvent('license.deleted', license, { ...usage }));
  for (const session of lapsed) context.record(sessionEvent('session.expired', license, session));
};

interface Address {
  readonly productId: ProductId;
  readonly licenseKey: LicenseKey;
  readonly ifUpdatedAt?: Instant | undefined;
}

/** The licence, which nobody else changes until this transaction ends. */
async function lockLicense(
  { repositories, caller }: Context,
  { productId, licenseKey, ifUpdatedAt }: Address,
): Promise<License> {
  const license = await repositories.keys.findLocked(caller.accountId, productId, licenseKey);
  if (license === null) throw apiError('licenseNotFound');
  refuseStale(license, ifUpdatedAt);
  return license;
}

async function setDisabled(
  context: Context,
  input: Address & { readonly note?: string | undefined },
  type: 'license.blocked' | 'license.unblocked',
): Promise<void> {
  const vendorDisabled = type === 'license.blocked';
  const license = await lockLicense(context, input);
  const details: JsonObject = input.note === undefined ? {} : { note: input.note };
  await applyChanges(context, license, { vendorDisabled }, (after) => ({ ...licenseEvent(type, after), details }));
  if (license.vendorDisabled !== vendorDisabled) await context.repositories.files.noteBlocking(license, context.now);
}

/** What an input asks to change, in the fields of the licence. */
function changesOf(license: License, input: Update): LicenseChanges {
  const { metadata = {}, expirationDate, licenseType, maxConcurrentSessions } = input;
  const isBound = (licenseType ?? license.licenseType) === 'node-locked';
  return realChanges(license, {
    customerId: input.customerId,
    maxActivations: input.maxActivations,
    expirationDate,
    expiresAfter: expirationDate === undefined ? undefined : null,
    gracePeriod: input.gracePeriod,
    features: mergeEntries(license.features, metadata.features ?? {}),
    metadata: mergeEntries(license.metadata, freeChangesOf(metadata)),
    isTrial: metadata.is_trial,
    allowedHosts: input.allowedHosts,
    licenseType,
    // Only a floating licence has such a limit.
    maxConcurrentSessions: isBound && maxConcurrentSessions === undefined ? null : maxConcurrentSessions,
    heartbeatInterval: input.heartbeatInterval,
    sessionLeaseDuration: input.sessionLeaseDuration,
    customerCanSelfReset: input.customerCanSelfReset,
    versionId: input.versionId,
  });
}

/** The fields with which no licence could have been created. */
function inconsistentFields(license: License): string[] {
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

type Describe = (after: License, names: readonly string[]) => ReturnType<typeof licenseEvent>;

/** Writes changes and returns the licence as the caller may see it. */
async function applyAndShow(context: Context, license: License, changes: LicenseChanges, describe: Describe) {
  const after = await applyChanges(context, license, changes, describe);
  const devices = await context.repositories.devices.list(after);
  return showLicense(after, devices, context.caller, await versionOf(context, after));
}

/** Writes what differs. Without a difference it is the same licence, and no event: the audit log alone has it. */
async function applyChanges(context: Context, license: License, changes: LicenseChanges, describe: Describe) {
  const differing = realChanges(license, changes);
  const names = Object.keys(differing);
  if (names.length === 0) {
    const { type: _, ...entry } = describe(license, names);
    context.record(entry);
    return license;
  }
  const updatedAt = changeInstant(context.now, license.updatedAt);
  const after = await context.repositories.keys.patch(license, { ...differing, updatedAt });
  context.record(describe(after, names));
  return after;
}

/** The operations that change keys. */
export const changeOperations: Operations<typeof keyChanges> = {
  update: { perform: updateKey, authorize: onProduct('licenseNotFound') },
  renew: { perform: renewKey, authorize: onProduct('licenseNotFound') },
  transfer: { perform: transferKey, authorize: onProduct('licenseNotFound') },
  block: { perform: blockKey, authorize: onProduct('licenseNotFound'), authorizeReplay: sameForAll },
  unblock: { perform: unblockKey, authorize: onProduct('licenseNotFound'), authorizeReplay: sameForAll },
  delete: { perform: deleteKey, authorize: onProduct('licenseNotFound'), authorizeReplay: sameForAll },
};
