import { MAX_MOVES_PER_YEAR } from '../contract/devices.ts';
import { type ApiError, apiError, type Reason } from '../contract/errors.ts';
import type { HostId, Instant, LicenseKey, ProductId } from '../contract/scalars.ts';
import { recognise } from '../domain/fingerprint.ts';
import type { Device, Fingerprint, License } from '../domain/license.ts';
import { type Action, decide, type Facts } from '../domain/rules.ts';
import { type SlotPromise, slotYearOf } from '../domain/slots.ts';
import type { LicenseCustomer } from '../store/tables/keys/licenses.ts';
import type { Context } from './context.ts';
import { byKey, foundByKey } from './keys/find.ts';
import { licenseEvent, RecordedRefusal } from './record.ts';

interface LicenseUse {
  readonly productId: ProductId;
  readonly licenseKey: LicenseKey;
  readonly hostId: HostId | null;
  readonly at?: Instant;
  readonly fingerprint?: Fingerprint | undefined;
}

/** The facts for the rules, with the customer and the device. */
export interface LoadedFacts extends Facts {
  readonly customer: LicenseCustomer | null;
  /** The device of the host, if a rule needs it. */
  readonly device: Device | null;
}

/** Loads the facts for the rules of an action. Throws ApiError `absent` if product and key name no licence. */
export async function loadFacts(
  context: Context,
  action: Action,
  { productId, licenseKey, hostId, fingerprint, at = context.now }: LicenseUse,
  absent: Reason = 'licenseNotFound',
): Promise<LoadedFacts> {
  const { repositories, caller } = context;
  const looked = await byKey(context, licenseKey, (key) =>
    repositories.keys.findWithCustomer(caller.accountId, productId, { licenseKey: key }),
  );
  const { license, customer } = foundByKey(looked, licenseKey, absent);
  const looksAtSlot = action === 'activate' || action === 'sign' || action === 'deactivate';
  const named = looksAtSlot && hostId !== null ? await repositories.devices.find(license, hostId) : null;
  const device = named ?? (await knownByFingerprint(context, license, fingerprint));
  const takesSlot = device === null && (action === 'activate' || action === 'sign' || action === 'rebind');
  const promise = takesSlot ? await promiseTo({ repositories, now: at }, license, { hostId, fingerprint }) : null;
  return {
    license,
    customer,
    // A device goes by the name that it has here.
    hostId: device === null ? hostId : (device.hostId as HostId),
    device,
    holdsSlot: device !== null,
    hasPromise: promise !== null,
    liveSessions: action === 'checkout' ? await repositories.sessions.countLive(license, at) : 0,
    now: at,
    maxMoves: caller.kind === 'client' ? MAX_MOVES_PER_YEAR : null,
  };
}

/** The device that matches the fingerprint of a host without a slot, if the licence compares fingerprints. */
export async function knownByFingerprint(
  { repositories }: Context,
  license: License,
  fingerprint: Fingerprint | undefined,
): Promise<Device | null> {
  const { fingerprintMatch, activations } = license;
  if (fingerprint === undefined || fingerprintMatch === null || activations === 0) return null;
  return recognise(await repositories.devices.list(license), fingerprint, fingerprintMatch);
}

/** The slot promised to a host, by host id or else by fingerprint; null without a promise. */
export async function promiseTo(
  { repositories: { slotPromises }, now }: Pick<Context, 'repositories' | 'now'>,
  license: License,
  { hostId, fingerprint }: Pick<LicenseUse, 'hostId' | 'fingerprint'>,
): Promise<SlotPromise | null> {
  const { slotYear, promisedSlots } = slotYearOf(license, now);
  if (promisedSlots === 0 || hostId === null) return null;
  const named = await slotPromises.find(license, slotYear, hostId);
  if (named !== null || fingerprint === undefined || license.fingerprintMatch === null) return named;
  return recognise(await slotPromises.list(license, slotYear, promisedSlots), fingerprint, license.fingerprintMatch);
}

/** Loads the facts, and throws the refusal of the first rule that fails, if any. */
export async function loadAllowed(
  context: Context,
  action: Action,
  use: LicenseUse,
  absent?: Reason,
): Promise<LoadedFacts> {
  const facts = await loadFacts(context, action, use, absent);
  refuseUnlessAllowed(action, facts);
  return facts;
}

/** Throws the refusal of the first rule that fails, if any. */
export function refuseUnlessAllowed(action: Action, facts: Facts): void {
  const { refusal } = decide(action, facts);
  if (refusal !== null) throw refusalOf(refusal, facts);
}

/** The error of a rule; reached limits are recorded. */
export function refusalOf(reason: Reason, { license, hostId }: Pick<Facts, 'license' | 'hostId'>): ApiError {
  const { maxActivations, maxConcurrentSessions } = license;
  if (reason === 'activationLimit') {
    return new RecordedRefusal(reason, licenseEvent('license.limit_reached', license, { hostId, maxActivations }));
  }
  if (reason === 'sessionLimit') {
    return new RecordedRefusal(reason, licenseEvent('session.denied', license, { hostId, maxConcurrentSessions }));
  }
  return apiError(reason);
}
