import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { changing, pageFields, positiveDurationField, record } from './fields.ts';
import { licenseSettings, withConsistentSettings } from './keys/licenses.ts';
import { Feature, FeatureName, Features, MAX_FEATURES } from './keys/metadata.ts';
import { acted, listReply } from './reply.ts';
import { Active, Count, InstantText, Limit, Name, PlanId, ProductId, resource, shown, shownId } from './scalars.ts';

const { allowedHosts: _, ...settings } = licenseSettings;

/** The terms of the keys that are issued by a plan. */
const terms = {
  maxActivations: Limit.nullish().describe('How many devices may use a key; null means unlimited'),
  duration: positiveDurationField()
    .nullish()
    .describe('How long a key lasts, ISO 8601, of days or more to the end of that day, UTC; null: it never expires'),
  fromFirstUse: z.boolean().optional().describe('Whether a key lasts so long from its first use; default false'),
  isTrial: z.boolean().optional().describe('Whether its keys are trials, which need a duration; default false'),
  ...settings,
};

/** Limits, term and features of the keys of a product, under a name. */
export const Plan = resource('Plan', 'What keys of a product are issued with, under a name', {
  id: shownId(PlanId),
  productId: shownId(ProductId),
  productName: shown('The name of its product; in lists', 'Editor').optional(),
  name: shown('Its name, unique in the product', 'Pro yearly'),
  active: Active.describe('Whether keys may be issued by it'),
  maxActivations: Count.nullable().describe('How many devices may use a key; null means unlimited'),
  duration: z.string().nullable().describe('How long a key lasts, ISO 8601; null: it never expires'),
  fromFirstUse: z.boolean().describe('Whether a key lasts so long from its first use'),
  isTrial: z.boolean().describe('Whether its keys are trials'),
  gracePeriod: z
    .string()
    .nullable()
    .describe('How long a key may be used after its expiry, ISO 8601; null: not at all'),
  licenseType: shown('node-locked or floating', 'node-locked'),
  maxConcurrentSessions: Count.nullable().describe('How many sessions a floating key has; null means unlimited'),
  heartbeatInterval: Count.describe('Seconds between two reports of a session'),
  sessionLeaseDuration: Count.describe('Seconds that a session lasts without a report'),
  customerCanSelfReset: z.boolean().describe('Whether customers may move slots to other hosts'),
  fingerprintMatch: Count.nullable().describe('How many equal components make a host a known device; null: any number'),
  features: Features.describe('What its keys switch on, also those that are issued already'),
  createdAt: InstantText,
  updatedAt: InstantText,
});
export type Plan = z.output<typeof Plan>;

const PlanName = Name.meta({ description: 'The name of the plan, unique in the product', examples: ['Pro yearly'] });

const byId = z.object({
  planId: PlanId,
  productId: ProductId.optional().describe('The product that it is expected to be of'),
});

export const plans = {
  /** Lists the plans of the products that the token may use, oldest first. Source: decision 0004. */
  list: endpoint('GET /plan', 'product:read', {
    summary: 'List plans',
    description: 'Lists the plans of the products that the token may use, oldest first: all of them, or one page.',
    query: z.object({ productId: ProductId.optional().describe('Only plans of this product'), ...pageFields }),
    readsMany: true,
    reply: listReply('ListPlansResponse', 'plans.list', Plan),
    example: { page: '1' },
  }),

  /** Creates a plan, active. Source: decision 0004. */
  create: endpoint('POST /plan', 'product:write', {
    summary: 'Create a plan',
    description:
      'Creates an active plan: what keys of a product are issued with where the request says nothing else, and the ' +
      'features of all of them.',
    body: withConsistentSettings(
      z
        .object({
          productId: ProductId,
          name: PlanName,
          ...terms,
          features: record(FeatureName, Feature, MAX_FEATURES)
            .optional()
            .describe('What its keys switch on; 4096 bytes as JSON at most'),
        })
        .refine(({ isTrial, fromFirstUse, duration }) => duration != null || !(isTrial || fromFirstUse), {
          message: 'duration goes with isTrial and fromFirstUse',
          path: ['duration'],
        }),
    ).meta({ id: 'CreatePlanRequest' }),
    reply: acted('CreatePlanResponse', 'plans.create', Plan, { status: 201 }),
    example: { maxActivations: 3, duration: 'P1Y', features: { sso: true } },
    errors: ['productNotFound', 'planTaken'],
  }),

  /** Shows one plan. Source: decision 0004. */
  get: endpoint('GET /plan/by-id', 'product:read', {
    summary: 'Show a plan',
    description: 'Shows a plan. A token that is limited to some products has to name the product.',
    query: byId,
    reply: acted('GetPlanResponse', 'plans.get', Plan),
    errors: ['planNotFound'],
  }),

  /** Changes a plan: its features for all its keys, the rest for keys issued from then on. Source: decision 0004. */
  update: endpoint('PUT /plan/by-id', 'product:write', {
    summary: 'Update a plan',
    description:
      'Changes what is given. Features count at once for every key of the plan; they are merged by name, and null removes ' +
      'one. The rest counts for keys that are issued from then on. By an inactive plan no keys are issued. A token that ' +
      'is limited to some products has to name the product.',
    query: byId,
    body: changing('UpdatePlanRequest', {
      name: PlanName.optional(),
      active: Active.optional().describe('Whether keys may be issued by it'),
      ...terms,
      features: record(FeatureName, Feature.nullable(), 2 * MAX_FEATURES)
        .optional()
        .describe(
          'Merged by name with those that are there; null removes one. 40 come of it at most, of 4096 bytes as JSON',
        ),
    }),
    reply: acted('UpdatePlanResponse', 'plans.update', Plan),
    example: { features: { sso: true, beta: null } },
    errors: ['planNotFound', 'planTaken'],
  }),
};
