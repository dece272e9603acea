import type { InputOf } from '../../contract/endpoint.ts';
import { apiError } from '../../contract/errors.ts';
import type { keyImport } from '../../contract/keys/import.ts';
import type { keys } from '../../contract/keys/keys.ts';
import { DEFAULT_HEARTBEAT_SECONDS, DEFAULT_LEASE_SECONDS } from '../../contract/keys/licenses.ts';
import { freeMetadataOf } from '../../contract/keys/metadata.ts';
import type { Instant, PlanId, ShownKey } from '../../contract/scalars.ts';
import { differences } from '../../domain/changes.ts';
import { newId } from '../../domain/ids.ts';
import { type License, termOf } from '../../domain/license.ts';
import { mintKey, revealKey } from '../../domain/license-key.ts';
import type { Plan } from '../../domain/plan.ts';
import { unmoved } from '../../domain/slots.ts';
import { A_MONTH, expiryAfter, expiryFromNow } from '../../domain/time.ts';
import type { Context } from '../context.ts';
import { holdOrAddCustomer } from '../customers.ts';
import { orThrow } from '../operation.ts';
import { usablePlan } from '../plans.ts';
import { checkVersion } from '../products.ts';
import { licenseEvent, type UseCaseEvent } from '../record.ts';
import { inconsistentFields } from './changes.ts';

/** Issues the keys of a request. */
export async function issue(context: Context, input: CreateInput) {
  const { repositories, caller } = context;
  const { productId, planId, versionId, reference, amountKeys = 1 } = input;
  const product = await repositories.products.find(caller.accountId, productId);
  if (!product?.active) throw apiError('productUnavailable');
  // First of all checks: a repeated request gets the key of its reference, whatever else is wrong.
  await refuseTaken(context, reference);
  if (versionId != null) await checkVersion(context, { productId, versionId });
  const terms =
    planId === undefined ? input : withPlan(context, input, await usablePlan(context, { productId, planId }));
  await countIssue(context, input);
  const customerId = await holdOrAddCustomer(context, input).catch(async (error: unknown) => {
    // A request with the same reference may have added the customer at the same time.
    await refuseTaken(context, reference);
    throw error;
  });
  const issued: ShownKey[] = [];
  for (let left = amountKeys; left > 0; left -= 1) {
    const license = newLicense(context, terms, customerId);
    const fields = planId === undefined ? [] : inconsistentFields(license);
    if (fields.length > 0) throw apiError('invalidParams', { fields });
    if (!(await repositories.keys.insert(license))) throw apiError('referenceTaken', { reference: `${reference}` });
    context.record(licenseEvent('license.created', license));
    issued.push(revealKey(license.key));
  }
  const [key = orThrow(issued[0], 'serverError')] = issued;
  return { key, ...(input.amountKeys !== undefined && { keys: issued }) };
}

/** Issues a key, or returns the key that another request has issued for the reference meanwhile; then undoes its own writes. */
export async function issueUnlessThere(context: Context, input: CreateInput) {
  const { repositories, record } = context;
  const events: UseCaseEvent[] = [];
  try {
    const issued = await repositories.nested(() => issue({ ...context, record: (event) => events.push(event) }, input));
    for (const event of events) record(event);
    return issued;
  } catch (error) {
    const existing = await revealExisting(context, input);
    if (existing === null) throw error;
    return existing;
  }
}

/**
 * The existing key of the product with the reference; null if the product has no such key. The key counts against the
 * `maxIssues` of a token that did not issue it. Source: decision 0004.
 */
export async function revealExisting(context: Context, input: CreateInput) {
  const { repositories, caller, record } = context;
  const license = await repositories.keys.findByReference(caller.accountId, input.reference ?? '');
  if (license === null || license.productId !== input.productId) return null;
  if (license.issuedBy !== caller.tokenId) await countIssue(context, input);
  record(licenseEvent('license.revealed', license));
  const warning = differencesOf(license, input, context.now);
  return { key: revealKey(license.key), existing: true as const, ...(warning !== null && { warning }) };
}

/**
 * How the existing key of a reference differs from the request; null if it does not. Ends are not compared, since many requests
 * count them from now, and neither are the settings of plans.
 */
function differencesOf(license: License, asked: CreateInput, now: Instant): string | null {
  const { planId = null, usesPerKey, maxConcurrentSessions, licenseType } = asked;
  const limits = { maxActivations: usesPerKey ?? null, maxConcurrentSessions: maxConcurrentSessions ?? null };
  const wanted =
    planId === null
      ? { ...limits, licenseType: licenseType ?? ('node-locked' as const), planId }
      : { maxActivations: usesPerKey, maxConcurrentSessions, licenseType, planId };
  const others = Object.keys(differences<License>(license, wanted));
  const faults = [
    ...(license.revokedAt !== null ? ['is revoked'] : license.vendorDisabled ? ['is blocked'] : []),
    ...(termOf(license, now) === 'ended' ? ['has expired'] : []),
    ...(others.length > 0 ? [`differs in ${others.join(', ')}`] : []),
  ];
  return faults.length === 0 ? null : `The key of this reference ${faults.join(', ')}`;
}

/** Throws ApiError `referenceTaken` when another key has the reference. */
export async function refuseTaken(
  { repositories, caller }: Context,
  reference: string | null | undefined,
): Promise<void> {
  if (reference == null) return;
  const known = await repositories.keys.findByReference(caller.accountId, reference);
  if (known !== null) throw apiError('referenceTaken', { reference });
}

/** Counts keys against the caller's `maxIssues`. Throws ApiError `issueLimit` when too few are left. */
export async function countIssue(
  { repositories, caller, reportRemainingBudget }: Context,
  { amountKeys = 1 }: { readonly productId: string; readonly amountKeys?: number | undefined },
): Promise<void> {
  if (caller.tokenId === null || caller.maxIssues === null) return;
  const left = await repositories.tokens.countIssues(caller.accountId, caller.tokenId, amountKeys);
  reportRemainingBudget(orThrow(left, 'issueLimit'));
}

/** The request, with missing settings from its plan. */
export function withPlan({ now }: Pick<Context, 'now'>, input: CreateInput, { id, terms }: Plan): CreateInput {
  const { maxActivations, duration, fromFirstUse, isTrial, ...settings } = terms;
  const isTimed = input.expiryDate !== undefined || input.expiresAfter !== undefined;
  const { expirationDate: expiryDate, renewalDay } = duration === null ? endless : expiryFromNow(now, duration);
  const term = fromFirstUse && duration !== null ? { expiresAfter: duration } : { expiryDate, renewalDay };
  const given = Object.entries(input).filter(([, value]) => value !== undefined);
  return {
    ...{ usesPerKey: maxActivations, ...(!isTimed && term), ...settings },
    ...(Object.fromEntries(given) as unknown as CreateInput),
    ...{ planId: id as PlanId, metadata: { is_trial: isTrial, ...input.metadata } },
  };
}

const endless = { expirationDate: null, renewalDay: null };

/** The end by the plan, with the day of the month that renewals keep. */
type CreateInput = InputOf<(typeof keys)['create']> & Partial<Pick<License, 'renewalDay'>>;

export function newLicense({ caller, now, random }: Context, input: CreateInput, customerId: string | null): License {
  const { expiryDate: expirationDate, renewalDay = null, expiresAfter } = input;
  const expiry = expirationDate === undefined ? expiryAfter(now, A_MONTH) : { expirationDate, renewalDay };
  return {
    id: newId('lic', now, random(10)),
    accountId: caller.accountId,
    productId: input.productId,
    key: mintKey(random(15)),
    ...termsOf(input),
    customerId,
    maxActivations: input.usesPerKey ?? null,
    activations: 0,
    ...(expiresAfter === undefined ? expiry : endless),
    planId: input.planId ?? null,
    previousKeyUntil: null,
    vendorDisabled: false,
    ...unrevoked,
    versionId: input.versionId ?? null,
    issuedBy: caller.tokenId,
    ...unmoved,
    lastSeenOn: null,
    createdAt: now,
    updatedAt: now,
  };
}

export const unrevoked = { revokedAt: null, revocationReason: null };

/** The fields that issuing and importing a key have in common, with their defaults. */
export const termsOf = (input: InputOf<(typeof keys)['create']> | InputOf<typeof keyImport.import>) => ({
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
  customerCanSelfReset: input.customerCanSelfReset ?? true,
  fingerprintMatch: input.fingerprintMatch ?? null,
});
