import type { Duration } from '../contract/fields.ts';
import type { Instant, ProductId } from '../contract/scalars.ts';
import type { Features, License } from './license.ts';

/** The terms of the keys that are issued by a plan. */
export interface PlanTerms
  extends Pick<
    License,
    | 'maxActivations'
    | 'gracePeriod'
    | 'isTrial'
    | 'licenseType'
    | 'maxConcurrentSessions'
    | 'heartbeatInterval'
    | 'sessionLeaseDuration'
    | 'customerCanSelfReset'
    | 'fingerprintMatch'
  > {
  /** How long a key lasts; null: it never expires. */
  readonly duration: Duration | null;
  /** Whether it lasts so long from its first use. */
  readonly fromFirstUse: boolean;
}

/** Limits, term and features of keys of a product, under a name. */
export interface Plan {
  readonly id: string;
  readonly productId: ProductId;
  readonly name: string;
  readonly active: boolean;
  readonly terms: PlanTerms;
  readonly features: Features;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** The features of a licence: its own features, and further features of its plan. */
export const featuresOf = ({ features }: License, plan: Pick<Plan, 'features'> | null): Features => ({
  ...plan?.features,
  ...features,
});

/** The fields of a plan that contradict each other. */
export function contradictionsIn({ terms }: Pick<Plan, 'terms'>): string[] {
  const { licenseType, maxConcurrentSessions, heartbeatInterval, sessionLeaseDuration, isTrial, duration } = terms;
  return [
    ...(licenseType === 'node-locked' && maxConcurrentSessions !== null ? ['maxConcurrentSessions'] : []),
    ...(heartbeatInterval > sessionLeaseDuration ? ['heartbeatInterval'] : []),
    // A trial must have an end.
    ...((isTrial || terms.fromFirstUse) && duration === null ? ['duration'] : []),
  ];
}
