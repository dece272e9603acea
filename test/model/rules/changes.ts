import type { Operation } from '../operations.ts';
import {
  type Answered,
  type Expected,
  type Key,
  liveSessions,
  type Model,
  pick,
  type Refusal,
  type Step,
} from '../state.ts';
import { durationText, instantAt, later } from '../time.ts';
import { addCustomer, emailOf, isTaken } from './customers.ts';
import { addressOf, customerViewOf, viewOf } from './keys.ts';
import { refusals } from './use.ts';

/** Changes the fields that are given. */
export function update(model: Model, op: Operation<'update'>): Step | null {
  const key = pick(model.keys, op.key);
  if (key === undefined) return null;
  const { changes, force } = op;
  const customer =
    op.customer === null ? undefined : op.customer === 'nobody' ? null : pick(model.customers, op.customer);
  const expiresAt = changes.expires ? later(model.now, changes.expires) : null;
  const guard = guardOf(key, op.seen);
  const fields = {
    ...(changes.maxActivations !== undefined && { maxActivations: changes.maxActivations }),
    ...(changes.expires !== undefined && { expirationDate: expiresAt && instantAt(expiresAt) }),
    ...(changes.grace !== undefined && { gracePeriod: changes.grace && durationText(changes.grace) }),
    ...(customer !== undefined && { customerId: customer === null ? null : customer.id }),
    ...(changes.allowedHosts !== undefined && { allowedHosts: changes.allowedHosts }),
    ...(changes.licenseType !== undefined && { licenseType: changes.licenseType }),
    ...(changes.maxSessions !== undefined && { maxConcurrentSessions: changes.maxSessions }),
    ...(changes.leaseSeconds !== undefined && { sessionLeaseDuration: changes.leaseSeconds }),
    ...(changes.metadata !== undefined && { metadata: changes.metadata }),
  };
  const body = { ...addressOf(key), ...fields, ...(force && { force }), ...guard };
  return {
    request: { method: 'PATCH', path: '/key', body },
    touched: () => [key],
    predict: () => {
      if (Object.keys(fields).length === 0) return refusals.invalid;
      if (customer?.isDeleted) return refusals.customerNotFound;
      const refusal = refuseChange(key, guard);
      if (refusal !== null) return refusal;
      const licenseType = changes.licenseType ?? key.licenseType;
      const maxSessions = changes.maxSessions ?? null;
      if (licenseType === 'node-locked' && maxSessions !== null) return refusals.invalid;
      const kept = changes.maxSessions === undefined && licenseType === 'floating' ? key.maxSessions : maxSessions;
      const changed: Partial<Key> = {
        licenseType,
        maxSessions: kept,
        ...(changes.maxActivations !== undefined && { maxActivations: changes.maxActivations }),
        ...(changes.expires !== undefined && { expiresAt, expiresAfter: null }),
        ...(changes.grace !== undefined && { grace: changes.grace }),
        ...(customer !== undefined && { customer }),
        ...(changes.allowedHosts !== undefined && { allowedHosts: changes.allowedHosts }),
        ...(changes.leaseSeconds !== undefined && { leaseSeconds: changes.leaseSeconds }),
        ...mergedMetadata(key, changes.metadata),
      };
      if (!force && isBelowUse(key, { ...key, ...changed }, model.now)) return refusals.inUse;
      return changing(key, changed);
    },
  };
}

/** Moves the end of a licence. */
export function renew(model: Model, op: Operation<'renew'>): Step | null {
  const key = pick(model.keys, op.key);
  if (key === undefined) return null;
  const guard = guardOf(key, op.seen);
  const body = { ...addressOf(key), duration: durationText(op.span), ...(op.from && { from: op.from }), ...guard };
  return {
    request: { method: 'POST', path: '/key/renew', body },
    touched: () => [key],
    predict: () => {
      const refusal = refuseChange(key, guard);
      if (refusal !== null) return refusal;
      if (key.expiresAt === null) return refusals.noEnd;
      const start = { end: key.expiresAt, now: model.now, later: Math.max(key.expiresAt, model.now) }[
        op.from ?? 'later'
      ];
      return changing(key, { expiresAt: later(start, op.span) });
    },
  };
}

/** Gives a licence to a customer, a new one or nobody. */
export function transfer(model: Model, op: Operation<'transfer'>): Step | null {
  const key = pick(model.keys, op.key);
  if (key === undefined) return null;
  const guard = guardOf(key, op.seen);
  const isNew = op.customer.kind === 'new';
  const given = op.customer.kind === 'given' ? (pick(model.customers, op.customer.number) ?? null) : null;
  const email = op.customer.kind === 'new' ? emailOf(model, op.customer.email) : null;
  const target = isNew
    ? { newCustomer: { name: model.name, ...(email !== null && { email }) } }
    : { customerId: given === null ? null : given.id };
  return {
    request: { method: 'POST', path: '/key/transfer', body: { ...addressOf(key), ...target, ...guard } },
    touched: () => [key],
    predict: () => {
      if (given?.isDeleted) return refusals.customerNotFound;
      if (isNew && isTaken(model, email)) return refusals.emailTaken;
      const refusal = refuseChange(key, guard);
      if (refusal !== null) return refusal;
      if (!isNew) return changing(key, { customer: given });
      return {
        status: 200,
        body: { code: 0 },
        apply: () => {
          key.customer = addCustomer(model, { id: '', name: model.name, email });
          key.change = 'terms';
        },
      };
    },
  };
}

/** Blocks a licence, or takes that back. */
export function block(model: Model, op: Operation<'block'>): Step | null {
  const key = pick(model.keys, op.key);
  if (key === undefined) return null;
  const guard = guardOf(key, op.seen);
  const { isBlocked } = op;
  return {
    request: {
      method: 'POST',
      path: isBlocked ? '/key/block' : '/key/unblock',
      body: { ...addressOf(key), note: 'asked by the customer', ...guard },
    },
    touched: () => [key],
    predict: () => {
      const refusal = refuseChange(key, guard);
      if (refusal !== null) return refusal;
      const message = isBlocked ? 'License blocked' : 'License unblocked';
      return { ...changing(key, { isBlocked }), body: { code: 0, message } };
    },
  };
}

/** Deletes a licence with its devices and sessions. */
export function deleteKey(model: Model, op: Operation<'deleteKey'>): Step | null {
  const key = pick(model.keys, op.key);
  if (key === undefined) return null;
  const guard = guardOf(key, op.seen);
  const query = new URLSearchParams({ ...addressOf(key), ...guard, ...(op.force && { force: 'true' }) });
  return {
    request: { method: 'DELETE', path: `/key?${query}` },
    touched: () => [key],
    predict: () => {
      const refusal = refuseChange(key, guard);
      if (refusal !== null) return refusal;
      const isUsed = key.devices.length > 0 || liveSessions(key, model.now).length > 0;
      if (isUsed && !op.force) return refusals.inUse;
      return {
        status: 200,
        body: { status: true, code: 0 },
        apply: () => {
          key.isDeleted = true;
        },
      };
    },
  };
}

/** The instant of change that the caller has seen: the last one, an earlier one, or none. */
function guardOf(key: Key, seen: Operation<'renew'>['seen']): { readonly ifUpdatedAt?: string } {
  if (seen === 'nothing') return {};
  return { ifUpdatedAt: instantAt(seen === 'last' ? key.updatedAt : (key.earlier.at(-1) ?? key.updatedAt - 1)) };
}

function refuseChange(key: Key, { ifUpdatedAt }: ReturnType<typeof guardOf>): Refusal | null {
  if (key.isDeleted) return refusals.notFound;
  return ifUpdatedAt === undefined || ifUpdatedAt === instantAt(key.updatedAt) ? null : refusals.stale;
}

/** A change by the vendor, which is answered with the licence as it is then. */
function changing(key: Key, changed: Partial<Key>): Expected {
  const after = { ...key, ...changed };
  const isReal = Object.keys(changed).some((name) => isDifferent(name, key, after));
  const { devices: _, ...data } = viewOf(after);
  return {
    status: 200,
    body: { code: 0, data },
    apply: (_answer: Answered) => {
      Object.assign(key, changed);
      if (isReal) key.change = 'terms';
    },
  };
}

function isDifferent(name: string, before: Key, after: Key): boolean {
  if (name === 'customer') return customerViewOf(before)?.id !== customerViewOf(after)?.id;
  const fieldOf = (key: Key) => JSON.stringify(Object.entries(key).find(([field]) => field === name)?.[1]);
  return fieldOf(before) !== fieldOf(after);
}

/** Entries by name, of which null removes one. */
function mergedMetadata(key: Key, given: Operation<'update'>['changes']['metadata']): Partial<Key> {
  if (given === undefined) return {};
  const { features = {}, is_trial: isTrial = key.isTrial, ...free } = given;
  return { features: merged(key.features, features), isTrial, metadata: merged(key.metadata, free) };
}

const merged = (entries: object, changes: object): Record<string, unknown> =>
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
