import { given, merged } from '../fields.ts';
import type { Operation } from '../operations.ts';
import { done, type Key, liveSessions, type Model, pick, type Refusal, type Step, type Success } from '../state.ts';
import { durationText, endAfter, endFromNow, instantAt, later } from '../time.ts';
import { givenCustomer } from './customers.ts';
import { customerViewOf, viewOf } from './keys.ts';
import { settle } from './slots.ts';
import { addressOf, isNamed, named, refusals, textsOf } from './use.ts';

/** A request that changes a key. */
interface Changing {
  readonly method?: string;
  readonly path: string;
  readonly fields: object;
  /** What is refused before the key is looked at. */
  readonly refuse?: () => Refusal | null;
  /** Whether a revoked key takes it. */
  readonly evenRevoked?: boolean;
  readonly predict: () => Refusal | Success;
}

/** Plans a change of the key of a number, unless somebody has changed it since the caller saw it. */
function changeOf(
  model: Model,
  { key: number, seen }: Operation<'renew' | 'update' | 'transfer' | 'block' | 'revoke' | 'reissue' | 'deleteKey'>,
  plan: (key: Key) => Changing,
): Step | null {
  const { key, text } = named(model, number) ?? {};
  if (key === undefined || text === undefined) return null;
  const { method = 'POST', path, fields, refuse = () => null, evenRevoked = false, predict } = plan(key);
  const earlier = key.earlier.at(-1) ?? key.updatedAt - 1;
  const ifUpdatedAt = { nothing: undefined, last: instantAt(key.updatedAt), earlier: instantAt(earlier) }[seen];
  const sent = { ...addressOf(key, text), ...fields, ...(ifUpdatedAt && { ifUpdatedAt }) };
  return {
    method,
    ...(method === 'DELETE' ? { path: `${path}?${new URLSearchParams(sent)}` } : { path, body: sent }),
    touched: () => [key],
    predict: () => {
      const refusal = refuse();
      if (refusal !== null) return refusal;
      if (!isNamed(key, text, model.now)) return refusals.notFound;
      if (ifUpdatedAt !== undefined && ifUpdatedAt !== instantAt(key.updatedAt)) return refusals.stale;
      return key.revoked && !evenRevoked ? refusals.revoked : predict();
    },
  };
}

/** Changes the fields that are given. */
export const update = (model: Model, op: Operation<'update'>): Step | null =>
  changeOf(model, op, (key) => {
    const { force, changes } = op;
    const { maxActivations, expires, grace, allowedHosts, maxSessions, leaseSeconds, metadata, selfReset } = changes;
    const owner = typeof op.customer === 'number' ? pick(model.customers, op.customer) : null;
    const customer = op.customer === null ? undefined : owner;
    const others = { nothing: undefined, none: null, own: key.plan };
    const plan = typeof op.plan === 'number' ? pick(model.plans, op.plan) : others[op.plan];
    const expiresAt = expires ? later(model.now, expires) : null;
    const fields = given({
      maxActivations,
      expirationDate: expires && instantAt(later(model.now, expires)),
      gracePeriod: grace && durationText(grace),
      customerId: customer === null ? null : customer?.id,
      allowedHosts,
      customerCanSelfReset: selfReset,
      licenseType: changes.licenseType,
      maxConcurrentSessions: maxSessions,
      sessionLeaseDuration: leaseSeconds,
      metadata,
      planId: plan === null ? null : plan?.id,
    });
    return {
      method: 'PATCH',
      path: '/key',
      fields: { ...fields, ...(force && { force }) },
      refuse: () => {
        if (Object.keys(fields).length === 0) return refusals.invalid;
        return customer?.isDeleted ? refusals.customerNotFound : null;
      },
      predict: () => {
        const licenseType = changes.licenseType ?? key.licenseType;
        if (licenseType === 'node-locked' && (maxSessions ?? null) !== null) return refusals.invalid;
        const kept = licenseType === 'floating' ? key.maxSessions : null;
        const changed: Partial<Key> = {
          licenseType,
          maxSessions: maxSessions === undefined ? kept : maxSessions,
          ...given({ maxActivations, grace, customer, allowedHosts, leaseSeconds, plan, canSelfReset: selfReset }),
          ...(expires !== undefined && { expiresAt, renewalDay: null, expiresAfter: null }),
          ...mergedMetadata(key, metadata),
        };
        // One that it has already may be of any state.
        const isUsable = !plan || plan === key.plan || (plan.active && plan.product === key.product);
        if (!isUsable) return refusals.notFound;
        if (!force && isBelowUse(key, { ...key, ...changed }, model.now)) return refusals.inUse;
        return changing(model, key, changed);
      },
    };
  });

/** Moves the end of a licence. */
export const renew = (model: Model, op: Operation<'renew'>): Step | null =>
  changeOf(model, op, (key) => ({
    path: '/key/renew',
    fields: { duration: durationText(op.span), from: op.from ?? undefined },
    predict: () => {
      const { expiresAt: end } = key;
      if (end === null) return refusals.noEnd;
      const { from } = op;
      const isFromNow = from === 'now' || (from !== 'end' && model.now > end);
      const renewed = isFromNow ? endFromNow(model.now, op.span) : endAfter(end, op.span, key.renewalDay ?? undefined);
      return changing(model, key, renewed);
    },
  }));

/** Gives a licence to a customer, a new one or nobody. */
export const transfer = (model: Model, op: Operation<'transfer'>): Step | null =>
  changeOf(model, op, (key) => {
    const { fields, refuse, take, isNew } = givenCustomer(model, op);
    return {
      path: '/key/transfer',
      fields,
      refuse,
      predict: () =>
        isNew
          ? done({}, () => {
              const before = { ...key };
              Object.assign(key, { customer: take(), change: 'terms' });
              settle(key, before, model.now);
            })
          : changing(model, key, { customer: take() }),
    };
  });

/** Blocks a licence, or takes that back. */
export const block = (model: Model, op: Operation<'block'>): Step | null =>
  changeOf(model, op, (key) => ({
    path: op.isBlocked ? '/key/block' : '/key/unblock',
    fields: { note: 'asked by the customer' },
    predict: () => {
      const { apply } = changing(model, key, { isBlocked: op.isBlocked });
      return done({ message: op.isBlocked ? 'License blocked' : 'License unblocked' }, apply);
    },
  }));

/** Ends a licence for ever; the first time counts. */
export const revoke = (model: Model, op: Operation<'revoke'>): Step | null =>
  changeOf(model, op, (key) => ({
    path: '/key/revoke',
    fields: { reason: op.reason ?? undefined },
    evenRevoked: true,
    predict: () => {
      const revoked = key.revoked ?? { at: model.now, reason: op.reason };
      return done({ message: 'License revoked' }, changing(model, key, { revoked, isBlocked: true }).apply);
    },
  }));

/** Gives a licence another text. What it had before works until the overlap is over, or its own one if that is earlier. */
export const reissue = (model: Model, op: Operation<'reissue'>): Step | null =>
  changeOf(model, op, (key) => ({
    path: '/key/reissue',
    fields: { overlap: op.overlap ? durationText(op.overlap) : undefined },
    predict: () => {
      const until = later(model.now, op.overlap ?? { days: 7 });
      return done({ message: 'License key reissued', previousKeyUntil: instantAt(until) }, ({ key: text }) => {
        if (model.keys.some((other) => textsOf(other).includes(text))) throw new Error('the key is not a new one');
        for (const earlier of key.previous) earlier.until = Math.min(earlier.until, until);
        key.previous.push({ text: key.text, until });
        Object.assign(key, { text, change: 'terms' });
      });
    },
  }));

/** Deletes a licence with its devices and sessions. */
export const deleteKey = (model: Model, op: Operation<'deleteKey'>): Step | null =>
  changeOf(model, op, (key) => ({
    method: 'DELETE',
    path: '/key',
    fields: op.force ? { force: 'true' } : {},
    evenRevoked: true,
    predict: () => {
      const isUsed = key.devices.length > 0 || liveSessions(key, model.now).length > 0;
      if (isUsed && !op.force) return refusals.inUse;
      return done({ status: true }, () => {
        key.isDeleted = true;
      });
    },
  }));

/** A change by the vendor, which is answered with the licence as it is then. */
function changing(model: Model, key: Key, changed: Partial<Key>): Success {
  const after = { ...key, ...changed };
  const { devices: _, ...data } = viewOf(after);
  // What it is shown as, and who has it.
  const textOf = (one: Key) => JSON.stringify([viewOf(one), one.features, customerViewOf(one)?.id]);
  const isReal = textOf(after) !== textOf(key);
  return done({ data }, () => {
    const before = { ...key };
    Object.assign(key, changed);
    settle(key, before, model.now);
    if (isReal) key.change = 'terms';
  });
}

/** Entries by name, of which null removes one. */
function mergedMetadata(key: Key, metadata: Operation<'update'>['changes']['metadata']): Partial<Key> {
  if (metadata === undefined) return {};
  const { features = {}, is_trial: isTrial = key.isTrial, ...free } = metadata;
  return { features: merged(key.features, features), isTrial, metadata: merged(key.metadata, free) };
}

/** Whether a limit that is changed would be below what is in use. */
function isBelowUse(before: Key, after: Key, now: number): boolean {
  const isBelow = (limit: number | null, used: number) => limit !== null && limit < used;
  const seats = ({ licenseType, maxSessions }: Key) => (licenseType === 'floating' ? maxSessions : 0);
  return (
    (after.maxActivations !== before.maxActivations && isBelow(after.maxActivations, before.devices.length)) ||
    (seats(after) !== seats(before) && isBelow(seats(after), liveSessions(before, now).length))
  );
}
