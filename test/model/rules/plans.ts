import { deepStrictEqual } from 'node:assert/strict';
import { given, merged } from '../fields.ts';
import type { Operation } from '../operations.ts';
import { done, type Model, type Plan, pick, type Step, type Terms } from '../state.ts';
import { durationText, instantAt } from '../time.ts';
import { refusals } from './use.ts';

/** What is so unless a plan or a key says otherwise. */
export const usualTerms: Terms = {
  ...{ maxActivations: null, grace: null, isTrial: false },
  ...{ licenseType: 'node-locked', maxSessions: null, leaseSeconds: 900 },
};

/** Creates a plan. */
export function createPlan(model: Model, op: Operation<'createPlan'>): Step | null {
  const product = pick(model.products, op.product);
  if (product === undefined) return null;
  const { features: entries = {}, ...terms } = op.terms;
  const own = { name: `Plan ${op.name}`, features: merged(entries, {}) };
  return {
    method: 'POST',
    path: '/plan',
    body: { productId: product.id, ...sentOf(terms), ...own, heartbeatInterval: 60 },
    touched: () => [],
    predict: () => {
      const now = instantAt(model.now);
      const said = { ...usualTerms, duration: null, fromFirstUse: false, ...given(terms), ...own };
      const plan: Plan = { ...said, id: '', product, active: true, createdAt: now, updatedAt: now };
      if (contradicts(plan)) return refusals.invalid;
      if (isNamed(model, plan, null)) return refusals.planTaken;
      const { id: _, ...data } = viewOf(plan);
      return done({ status: true, data }, ({ data: { id } }) => void model.plans.push({ ...plan, id }), 201);
    },
  };
}

/** Changes a plan, and through its features the keys that have it. */
export function updatePlan(model: Model, op: Operation<'updatePlan'>): Step | null {
  const plan = pick(model.plans, op.plan);
  if (plan === undefined) return null;
  const { name: number, active, features, ...terms } = op.changes;
  const name = number === undefined ? undefined : `Plan ${number}`;
  const changes = given({ ...sentOf(terms), name, active, features });
  return {
    method: 'PUT',
    path: `/plan/by-id?${new URLSearchParams({ planId: plan.id })}`,
    body: changes,
    touched: () => model.keys.filter((key) => key.plan === plan),
    predict: () => {
      if (Object.keys(changes).length === 0) return refusals.invalid;
      const own = { ...given({ name, active }), features: merged(plan.features, features ?? {}) };
      const after: Plan = { ...plan, ...given(terms), ...own };
      if (contradicts(after)) return refusals.invalid;
      if (isNamed(model, after, plan)) return refusals.planTaken;
      return done({ status: true }, ({ data: { updatedAt, ...data } }) => {
        const isSame = JSON.stringify(viewOf(after)) === JSON.stringify(viewOf(plan));
        if (isSame !== (updatedAt === plan.updatedAt)) throw new Error(`the plan was changed at ${updatedAt}`);
        Object.assign(plan, after, { updatedAt });
        deepStrictEqual({ ...data, updatedAt }, viewOf(plan));
      });
    },
  };
}

/** Terms by the names that requests and answers have for them. */
const sentOf = ({ duration, grace, maxSessions, leaseSeconds, ...others }: Partial<Plan>) =>
  given({
    ...others,
    duration: duration && durationText(duration),
    gracePeriod: grace && durationText(grace),
    maxConcurrentSessions: maxSessions,
    sessionLeaseDuration: leaseSeconds,
  });

const viewOf = ({ product, ...plan }: Plan) => ({
  ...{ ...sentOf(plan), productId: product.id },
  ...{ heartbeatInterval: 60, customerCanSelfReset: true, fingerprintMatch: null },
});

/** Whether no key could be issued by it. */
const contradicts = ({ licenseType, maxSessions, isTrial, fromFirstUse, duration }: Plan): boolean =>
  (licenseType === 'node-locked' && maxSessions !== null) || ((isTrial || fromFirstUse) && duration === null);

const isNamed = ({ plans }: Model, { product, name }: Plan, except: Plan | null): boolean =>
  plans.some((other) => other !== except && other.product === product && other.name === name);
