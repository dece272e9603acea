import type { Operation } from '../operations.ts';
import { done, type Key, type Model, pick, type Step } from '../state.ts';
import { durationText, instantAt, later } from '../time.ts';
import { givenCustomer } from './customers.ts';
import { graceEnd, isActivated, refusals } from './use.ts';

/** Issues a key. */
export function create(model: Model, op: Operation<'create'>): Step | null {
  const product = pick(model.products, op.product);
  if (product === undefined) return null;
  const { maxActivations, expires, expiresAfter, grace, maxSessions, leaseSeconds, allowedHosts, metadata } = op;
  const customer = givenCustomer(model, op);
  const expiresAt = expires ? later(model.now, expires) : null;
  const reference = op.reference === null ? null : `${model.name}-order-${op.reference}`;
  const isFloating = maxSessions !== null;
  return {
    method: 'POST',
    path: '/create-key',
    body: {
      productId: product.id,
      usesPerKey: maxActivations === null ? undefined : String(maxActivations),
      reference: reference ?? undefined,
      expiresAfter: expiresAfter ? durationText(expiresAfter) : undefined,
      gracePeriod: grace ? durationText(grace) : undefined,
      expiryDate: expires === undefined ? undefined : instantOrNull(expiresAt),
      ...customer.fields,
      ...(isFloating && { licenseType: 'floating', maxConcurrentSessions: maxSessions || null }),
      allowedHosts: allowedHosts ?? undefined,
      metadata,
      sessionLeaseDuration: leaseSeconds,
      heartbeatInterval: 60,
    },
    touched: () => model.keys.slice(-1),
    predict: () => {
      if (expiresAfter !== null && expires !== undefined) return refusals.invalid;
      if (!product.active) return refusals.notFound;
      if (reference !== null && model.keys.some((key) => !key.isDeleted && key.reference === reference))
        return refusals.referenceTaken;
      // Without an end its first use sets one, or it comes after a month.
      const ownEnd = expiresAfter === null ? later(model.now, { months: 1 }) : null;
      const { features = {}, is_trial: isTrial = false, ...free } = metadata ?? {};
      return (
        customer.refuse() ??
        done({}, ({ key: text }) => {
          model.keys.push({
            ...{ text, product, reference, maxActivations, expiresAfter, grace, allowedHosts, leaseSeconds },
            ...{ createdAt: model.now, updatedAt: model.now, change: 'none', earlier: [] },
            customer: customer.take(),
            expiresAt: expires === undefined ? ownEnd : expiresAt,
            ...{ features, isTrial, metadata: free },
            licenseType: isFloating ? 'floating' : 'node-locked',
            maxSessions: maxSessions || null,
            ...{ isBlocked: false, isDeleted: false, devices: [], sessions: [] },
          });
        })
      );
    },
  };
}

/** The licence as an admin reads it. */
export const viewOf = (key: Key) => ({
  key: key.text,
  productId: key.product.id,
  maxActivations: key.maxActivations,
  activations: key.devices.length,
  activated: isActivated(key),
  expirationDate: instantOrNull(key.expiresAt),
  reference: key.reference,
  expiresAfter: key.expiresAfter && durationText(key.expiresAfter),
  gracePeriod: key.grace && durationText(key.grace),
  graceUntil: instantOrNull(graceEnd(key)),
  metadata: { ...key.metadata, features: key.features, is_trial: key.isTrial },
  allowedHosts: key.allowedHosts,
  licenseType: key.licenseType,
  maxConcurrentSessions: key.maxSessions,
  heartbeatInterval: 60,
  sessionLeaseDuration: key.leaseSeconds,
  customerCanSelfReset: false,
  vendorDisabled: key.isBlocked,
  devices: key.devices.map(({ hostId, tag, activatedAt }) => ({
    hostId,
    deviceTag: tag ?? 'No tag',
    activationTime: instantAt(activatedAt),
  })),
  createdAt: instantAt(key.createdAt),
});

const instantOrNull = (at: number | null): string | null => (at === null ? null : instantAt(at));

/** Its customer, as it stands beside it. */
export const customerViewOf = ({ customer }: Key) =>
  customer && { id: customer.id, name: customer.name, email: customer.email, active: customer.active };
