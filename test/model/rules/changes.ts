import type { Operation } from '../operations.ts';
import { done, type Key, liveSessions, type Model, pick, type Refusal, type Step, type Success } from '../state.ts';
import { durationText, instantAt, later } from '../time.ts';
import { givenCustomer } from './customers.ts';
import { customerViewOf, viewOf } from './keys.ts';
import { addressOf, refusals } from './use.ts';

/** A request that changes a key. */
interface Changing {
  readonly method?: string;
  readonly path: string;
  readonly fields: object;
  /** What is refused before the key is looked at. */
  readonly refuse?: () => Refusal | null;
  readonly predict: () => Refusal | Success;
}

/** Plans a change of the key of a number, unless somebody has changed it since the caller saw it. */
function changeOf(
  { keys }: Model,
  { key: number, seen }: Operation<'renew' | 'update' | 'transfer' | 'block' | 'deleteKey'>,
  plan: (key: Key) => Changing,
): Step | null {
  const key = pick(keys, number);
  if (key === undefined) return null;
  const { method = 'POST', path, fields, refuse = () => null, predict } = plan(key);
  const earlier = key.earlier.at(-1) ?? key.updatedAt - 1;
  const ifUpdatedAt = { nothing: undefined, last: instantAt(key.updatedAt), earlier: instantAt(earlier) }[seen];
  const sent = { ...addressOf(key), ...fields, ...(ifUpdatedAt && { ifUpdatedAt }) };
  return {
    method,
    ...(method === 'DELETE' ? { path: `${path}?${new URLSearchParams(sent)}` } : { path, body: sent }),
    touched: () => [key],
    predict: () => {
      const refusal = refuse();
      if (refusal !== null) return refusal;
      if (key.isDeleted) return refusals.notFound;
      return ifUpdatedAt === undefined || ifUpdatedAt === instantAt(key.updatedAt) ? predict() : refusals.stale;
    },
  };
}

/** Changes the fields that are given. */
export const update = (model: Model, op: Operation<'update'>): Step | null =>
  changeOf(model, op, (key) => {
    const { force, changes } = op;
    const { maxActivations, expires, grace, allowedHosts, maxSessions, leaseSeconds, metadata } = changes;
    const owner = typeof op.customer === 'number' ? pick(model.customers, op.customer) : null;
    const customer = op.customer === null ? undefined : owner;
    const expiresAt = expires ? later(model.now, expires) : null;
    const fields = given({
      maxActivations,
      expirationDate: expires && instantAt(later(model.now, expires)),
      gracePeriod: grace && durationText(grace),
      customerId: customer === null ? null : customer?.id,
      allowedHosts,
      licenseType: changes.licenseType,
      maxConcurrentSessions: maxSessions,
      sessionLeaseDuration: leaseSeconds,
      metadata,
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
          ...given({ maxActivations, grace, customer, allowedHosts, leaseSeconds }),
          ...(expires !== undefined && { expiresAt, expiresAfter: null }),
          ...mergedMetadata(key, metadata),
        };
        if (!force && isBelowUse(key, { ...key, ...changed }, model.now)) return refusals.inUse;
        return changing(key, changed);
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
      const start = { end, now: model.now, later: Math.max(end, model.now) }[op.from ?? 'later'];
      return changing(key, { expiresAt: later(start, op.span) });
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
          ? done({}, () => void Object.assign(key, { customer: take(), change: 'terms' }))
          : changing(key, { customer: take() }),
    };
  });

/** Blocks a licence, or takes that back. */
export const block = (model: Model, op: Operation<'block'>): Step | null =>
  changeOf(model, op, (key) => ({
    path: op.isBlocked ? '/key/block' : '/key/unblock',
    fields: { note: 'asked by the customer' },
    predict: () => {
      const { apply } = changing(key, { isBlocked: op.isBlocked });
      return done({ message: op.isBlocked ? 'License blocked' : 'License unblocked' }, apply);
    },
  }));

/** Deletes a licence with its devices and sessions. */
export const deleteKey = (model: Model, op: Operation<'deleteKey'>): Step | null =>
  changeOf(model, op, (key) => ({
    method: 'DELETE',
    path: '/key',
    fields: op.force ? { force: 'true' } : {},
    predict: () => {
      const isUsed = key.devices.length > 0 || liveSessions(key, model.now).length > 0;
      if (isUsed && !op.force) return refusals.inUse;
      return done({ status: true }, () => {
        key.isDeleted = true;
      });
    },
  }));

/** A change by the vendor, which is answered with the licence as it is then. */
function changing(key: Key, changed: Partial<Key>): Success {
  const after = { ...key, ...changed };
  const { devices: _, ...data } = viewOf(after);
  // What it is shown as, and who has it.
  const textOf = (one: Key) => JSON.stringify([viewOf(one), one.maxSessions, customerViewOf(one)?.id]);
  const isReal = textOf(after) !== textOf(key);
  return done({ data }, () => {
    Object.assign(key, changed);
    if (isReal) key.change = 'terms';
  });
}

/** The members that are given. */
const given = <T extends object>(members: T) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };

/** Entries by name, of which null removes one. */
function mergedMetadata(key: Key, metadata: Operation<'update'>['changes']['metadata']): Partial<Key> {
  if (metadata === undefined) return {};
  const { features = {}, is_trial: isTrial = key.isTrial, ...free } = metadata;
  return { features: merged(key.features, features), isTrial, metadata: merged(key.metadata, free) };
}

const merged = (entries: object, changes: object): object =>
  Object.fromEntries(Object.entries({ ...entries, ...changes }).filter(([, value]) => value !== null));

/** Whether a limit that is changed would be below what is in use. */
function isBelowUse(before: Key, after: Key, now: number): boolean {
  const isBelow = (limit: number | null, used: number) => limit !== null && limit < used;
  const seats = ({ licenseType, maxSessions }: Key) => (licenseType === 'floating' ? maxSessions : 0);
  return (
    (after.maxActivations !== before.maxActivations && isBelow(after.maxActivations, before.devices.length)) ||
    (seats(after) !== seats(before) && isBelow(seats(after), liveSessions(before, now).length))
  );
}
