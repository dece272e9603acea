import { given } from '../fields.ts';
import type { Operation } from '../operations.ts';
import { done, type Key, type Model, type Plan, pick, type Step, type Terms } from '../state.ts';
import { durationText, endAfter, endFromNow, instantAt, later } from '../time.ts';
import { givenCustomer } from './customers.ts';
import { usualTerms } from './plans.ts';
import { graceEnd, isActivated, refusals } from './use.ts';

/** Issues a key. */
export function create(model: Model, op: Operation<'create'>): Step | null {
  const plan = op.plan === null ? null : (pick(model.plans, op.plan) ?? null);
  const product = plan !== null && !op.ofOtherProduct ? plan.product : pick(model.products, op.product);
  if (product === undefined) return null;
  const { isExplicit, expires, expiresAfter, allowedHosts, metadata } = op;
  const customer = givenCustomer(model, op);
  const expiresAt = expires ? later(model.now, expires) : null;
  const reference = op.reference === null ? null : `${model.name}-order-${op.reference}`;
  const unlimited = isExplicit ? null : undefined;
  const isFloating = op.maxSessions !== null;
  const isTyped = isExplicit || (isFloating && plan === null);
  const said = {
    maxActivations: op.maxActivations ?? unlimited,
    grace: op.grace ?? unlimited,
    licenseType: isTyped ? (isFloating ? 'floating' : 'node-locked') : undefined,
    maxSessions: isFloating ? op.maxSessions || null : undefined,
    leaseSeconds: isTyped ? op.leaseSeconds : undefined,
    isTrial: metadata?.is_trial,
  } as const;
  return {
    method: 'POST',
    path: '/create-key',
    body: {
      productId: product.id,
      planId: plan?.id,
      usesPerKey: said.maxActivations && String(said.maxActivations),
      reference: reference ?? undefined,
      expiresAfter: expiresAfter ? durationText(expiresAfter) : undefined,
      gracePeriod: said.grace && durationText(said.grace),
      customerCanSelfReset: op.selfReset,
      expiryDate: expires === undefined ? undefined : instantOrNull(expiresAt),
      ...customer.fields,
      licenseType: said.licenseType,
      maxConcurrentSessions: said.maxSessions,
      allowedHosts: allowedHosts ?? undefined,
      metadata,
      sessionLeaseDuration: said.leaseSeconds,
      heartbeatInterval: plan === null ? 60 : undefined,
    },
    touched: () => model.keys.slice(-1),
    predict: () => {
      if (expiresAfter !== null && expires !== undefined) return refusals.invalid;
      if (!product.active) return refusals.notFound;
      if (reference !== null && model.keys.some((key) => !key.isDeleted && key.reference === reference))
        return refusals.referenceTaken;
      if (plan !== null && !(plan.active && plan.product === product)) return refusals.notFound;
      const terms = { ...(plan ?? usualTerms), ...given(said) };
      // Without a plan a key lasts a month.
      const monthFromNow = { ...endAfter(model.now, { months: 1 }), expiresAfter: null };
      const planned = plan ? endOf(plan, model.now) : monthFromNow;
      const end =
        expires === undefined && expiresAfter === null ? planned : { expiresAt, renewalDay: null, expiresAfter };
      const { features = {}, is_trial: _, ...free } = metadata ?? {};
      const refusal = customer.refuse();
      if (refusal !== null) return refusal;
      if (terms.licenseType === 'node-locked' && terms.maxSessions !== null) return refusals.invalid;
      return done({}, ({ key: text }) => {
        const fields = { reference, customer: customer.take(), features, metadata: free, allowedHosts };
        const canSelfReset = op.selfReset ?? true;
        addKey(model, { text, product, plan, canSelfReset, ...fields }, { ...terms, ...end });
      });
    },
  };
}

/** Adds a licence that is issued now. */
export function addKey(
  model: Model,
  own: Pick<Key, 'text' | 'product' | 'plan' | 'allowedHosts'> & Partial<Key>,
  terms: Terms & Pick<Key, 'expiresAt' | 'renewalDay' | 'expiresAfter'>,
): Key {
  // What else a plan says is not the key's own.
  const { maxActivations, expiresAt, renewalDay, expiresAfter, grace, isTrial, licenseType } = terms;
  const { maxSessions, leaseSeconds } = terms;
  const key: Key = {
    ...{ maxActivations, expiresAt, renewalDay, expiresAfter, grace, isTrial, licenseType, maxSessions, leaseSeconds },
    ...{ createdAt: model.now, updatedAt: model.now, change: 'none', earlier: [] },
    ...{ reference: null, customer: null, features: {}, metadata: {}, revoked: null, previous: [] },
    ...{ id: '', isBlocked: false, isDeleted: false, devices: [], seenOn: null, sessions: [] },
    ...{ canSelfReset: true, slots: { year: 0, promises: [], moves: 0 } },
    ...own,
  };
  model.keys.push(key);
  return key;
}

/** When a key ends that is issued now: its first use may set that. */
export function endOf(
  { duration, fromFirstUse }: Pick<Plan, 'duration' | 'fromFirstUse'>,
  now: number,
): Pick<Key, 'expiresAt' | 'renewalDay' | 'expiresAfter'> {
  return fromFirstUse || duration === null
    ? { expiresAt: null, renewalDay: null, expiresAfter: duration }
    : { ...endFromNow(now, duration), expiresAfter: null };
}

/** What a licence switches on. */
export const featuresOf = ({ features, plan }: Key): object => ({ ...plan?.features, ...features });

/** The licence as an admin reads it. */
export const viewOf = (key: Key) => ({
  key: key.text,
  productId: key.product.id,
  maxActivations: key.maxActivations,
  activations: key.devices.length,
  activated: isActivated(key),
  expirationDate: instantOrNull(key.expiresAt),
  renewalDay: key.renewalDay,
  reference: key.reference,
  expiresAfter: key.expiresAfter && durationText(key.expiresAfter),
  gracePeriod: key.grace && durationText(key.grace),
  graceUntil: instantOrNull(graceEnd(key)),
  metadata: { ...key.metadata, features: featuresOf(key), is_trial: key.isTrial },
  allowedHosts: key.allowedHosts,
  licenseType: key.licenseType,
  maxConcurrentSessions: key.maxSessions,
  heartbeatInterval: 60,
  sessionLeaseDuration: key.leaseSeconds,
  customerCanSelfReset: key.canSelfReset,
  vendorDisabled: key.isBlocked,
  revokedAt: instantOrNull(key.revoked?.at ?? null),
  revocationReason: key.revoked?.reason ?? null,
  previousKeyUntil: instantOrNull(key.previous.at(-1)?.until ?? null),
  planId: key.plan?.id ?? null,
  plan: key.plan && { id: key.plan.id, name: key.plan.name },
  lastSeenOn: key.seenOn,
  devices: key.devices.map(({ hostId, tag, activatedAt, seenOn }) => ({
    hostId,
    deviceTag: tag ?? 'No tag',
    activationTime: instantAt(activatedAt),
    lastSeenOn: seenOn,
  })),
  createdAt: instantAt(key.createdAt),
});

const instantOrNull = (at: number | null): string | null => (at === null ? null : instantAt(at));

/** Its customer, as it stands beside it. */
export const customerViewOf = ({ customer }: Key) =>
  customer && { id: customer.id, name: customer.name, email: customer.email, active: customer.active };
