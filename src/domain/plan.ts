import type { Duration } from '../contract/fields.ts';
import type { Instant, ProductId } from '../contract/scalars.ts';
import type { Features, License } from './license.ts';

/** What a plan says of the keys that are issued by it. */
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

/** What a licence switches on: its own features, and those of its plan that it has not. */
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
    // A trial without an end is none.
    ...((isTrial || terms.fromFirstUse) && duration === null ? ['duration'] : []),
  ];
}
