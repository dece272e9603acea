import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { data } from '../reply.ts';
import { HostId, Instant, InstantText, resource, shown } from '../scalars.ts';
import { licenseAddress } from './licenses.ts';

/** What can be asked about. */
export const explainedActions = ['activate', 'sign', 'checkout', 'deactivate'] as const;

const Rule = resource('Rule', 'A rule that stands in the way, or does not', {
  rule: shown('Its name', 'slot'),
  passed: z.boolean(),
  detail: shown('What it found, a sentence', '5 of 5 slots are taken.'),
  reason: shown('Our name for the error it leads to; only when it failed', 'activationLimit').optional(),
});

/** Whether something may be done, and every rule that was looked at. */
export const Explanation = z
  .looseObject({
    allowed: z.boolean(),
    action: z.string().meta({ examples: [...explainedActions] }),
    at: InstantText.describe('The instant that the answer is for'),
    rules: z.array(Rule).describe('In order: the first that failed is the error that the operation returns'),
  })
  .meta({ id: 'Explanation' });
export type Explanation = z.output<typeof Explanation>;

export const keyWhy = {
  /** Says whether something could be done with a key, and which rules stand in the way. Source: decision 0009. */
  why: endpoint('GET /key/why', 'license:read', {
    summary: 'Explain whether a key may be used',
    description:
      'Looks at every rule that activating, signing, checking out or deactivating has to pass, in order, and says what ' +
      'it found. Takes no slot and changes nothing. A token of kind `client` has to name its device.',
    openToClients: true,
    query: z.object({
      ...licenseAddress,
      hostId: HostId.optional().describe('The device that would do it; absent: one that holds no slot'),
      action: z.enum(explainedActions).optional().describe('What would be done; default activate'),
      at: Instant.optional().describe('When it would be done, with devices as they are now; default now'),
    }),
    reply: data('WhyKeyResponse', Explanation),
    example: { hostId: 'host-1' },
    errors: ['licenseNotFound'],
  }),
};
