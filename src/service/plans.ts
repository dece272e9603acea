import { apiError } from '../contract/errors.ts';
import { writeDuration } from '../contract/fields.ts';
import type { Contract } from '../contract/index.ts';
import { DEFAULT_HEARTBEAT_SECONDS, DEFAULT_LEASE_SECONDS } from '../contract/keys/licenses.ts';
import { arePlanFeatures } from '../contract/keys/metadata.ts';
import type { Plan as ShownPlan } from '../contract/plans.ts';
import { productsOf } from '../domain/access.ts';
import { differences, mergeEntries } from '../domain/changes.ts';
import { newId } from '../domain/ids.ts';
import { contradictionsIn, type Plan, type PlanTerms } from '../domain/plan.ts';
import type { Context } from './context.ts';
import { readList } from './lists.ts';
import { anyone, type Operations, ofWholeAccount, onProduct, orThrow, replayToAnyone } from './operation.ts';
import { eventOf } from './record.ts';
import { writeChanges } from './write-changes.ts';

export const planOperations: Operations<Contract['plans']> = {
  list: {
    authorize: anyone,
    perform: async ({ repositories, caller }, { productId, ...page }) =>
      readList(page, repositories.plans.list(caller.accountId, productsOf(caller, productId)).map(showPlan)),
  },

  create: {
    ...replayToAnyone(onProduct('productNotFound')),
    async perform({ repositories, caller, now, random, record }, { productId, name, features = {}, ...given }) {
      const { accountId } = caller;
      orThrow(await repositories.products.find(accountId, productId), 'productNotFound');
      const times = { createdAt: now, updatedAt: now };
      const plan: Plan = {
        ...{ id: newId('plan', now, random(10)), productId, name, active: true, features, ...times },
        terms: { ...usual, ...differences<PlanTerms>(usual, given) },
      };
      refuseFaults(plan);
      if (!(await repositories.plans.insert({ ...plan, accountId }))) throw apiError('planTaken');
      record(eventOf('plan.created', 'plan', plan.id, { productId }));
      return showPlan(plan);
    },
  },

  get: {
    authorize: onProduct('planNotFound', ofWholeAccount),
    perform: async ({ repositories, caller }, { planId, productId }) =>
      showPlan(expectProduct(await repositories.plans.find(caller.accountId, planId), productId)),
  },

  update: {
    ...replayToAnyone(onProduct('planNotFound', ofWholeAccount)),
    async perform(context, { planId, productId, name, active, features = {}, ...given }) {
      const { accountId } = context.caller;
      const { plans } = context.repositories;
      const before = expectProduct(await plans.findLocked(accountId, planId), productId);
      const changes = {
        ...{ name, active, features: mergeEntries(before.features, features) },
        terms: { ...before.terms, ...differences<PlanTerms>(before.terms, given) },
      };
      refuseFaults(changes);
      const other = name === undefined ? null : await plans.findByName(accountId, before.productId, name);
      if (other !== null && other.id !== planId) throw apiError('planTaken');
      const after = await writeChanges(context, before, {
        given: changes,
        write: async (differing) => orThrow(await plans.patch(accountId, planId, differing), 'planTaken'),
        describe: ({ productId, active, terms }, fields) => {
          const ofTerms = Object.keys(differences(before.terms, terms));
          const changed = fields.flatMap((field) => (field === 'terms' ? ofTerms : [field]));
          return eventOf('plan.updated', 'plan', planId, { productId, changed, active });
        },
      });
      return showPlan(after);
    },
  },
};

/** The default terms of a plan: a key that never expires. */
const usual: PlanTerms = {
  maxActivations: null,
  duration: null,
  fromFirstUse: false,
  gracePeriod: null,
  isTrial: false,
  licenseType: 'node-locked',
  maxConcurrentSessions: null,
  heartbeatInterval: DEFAULT_HEARTBEAT_SECONDS,
  sessionLeaseDuration: DEFAULT_LEASE_SECONDS,
  customerCanSelfReset: true,
  fingerprintMatch: null,
};

function refuseFaults(plan: Pick<Plan, 'terms' | 'features'>): void {
  const fields = [...contradictionsIn(plan), ...(arePlanFeatures(plan.features) ? [] : ['features'])];
  if (fields.length > 0) throw apiError('invalidParams', { fields });
}

function expectProduct(plan: Plan | null, productId: string | undefined): Plan {
  if (plan === null || (productId !== undefined && plan.productId !== productId)) throw apiError('planNotFound');
  return plan;
}

const showPlan = ({ terms, ...plan }: Plan): ShownPlan => ({
  ...plan,
  ...terms,
  duration: terms.duration && writeDuration(terms.duration),
  gracePeriod: terms.gracePeriod && writeDuration(terms.gracePeriod),
});

/** A plan by which keys of the product can be issued. Throws ApiError `planNotFound`. */
export async function usablePlan(
  { repositories, caller }: Context,
  { productId, planId }: { readonly productId: string; readonly planId: string },
): Promise<Plan> {
  const plan = expectProduct(await repositories.plans.find(caller.accountId, planId), productId);
  if (!plan.active) throw apiError('planNotFound');
  return plan;
}
