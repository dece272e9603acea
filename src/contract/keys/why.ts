import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { examples } from '../openapi/examples.ts';
import { data } from '../reply.ts';
import { HostId, Instant, InstantText } from '../scalars.ts';
import { licenseAddress } from './licenses.ts';

const { productId, licenseKey, hostId } = examples.device;

/** What can be asked about. */
export const explainedActions = ['activate', 'sign', 'checkout', 'deactivate'] as const;

/** One rule with its outcome. */
const Rule = z
  .looseObject({
    rule: z.string().meta({ description: 'Its name', examples: ['slot'] }),
    passed: z.boolean(),
    detail: z
      .string()
      .meta({ description: 'What it found, a sentence', examples: ['No slot is free: 5 of 5 are taken.'] }),
    reason: z
      .string()
      .optional()
      .meta({
        description: 'Our name for the error it leads to; only when it failed',
        examples: ['activationLimit'],
      }),
  })
  .meta({ id: 'Rule', description: 'A rule that stands in the way, or does not' });

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

/** The operation that explains what the others would decide. */
export const keyWhy = {
  /** Says whether something could be done with a key, and which rules stand in the way. */
  why: endpoint({
    summary: 'Explain whether a key may be used',
    description:
      'Looks at every rule that activating, signing, checking out or deactivating has to pass, in order, and says what ' +
      'it found. Takes no slot and changes nothing. A token of kind `client` has to name its device.',
    method: 'GET',
    path: '/key/why',
    scope: 'license:read',
    openToClients: true,
    query: z.object({
      ...licenseAddress,
      hostId: HostId.optional().describe('The device that would do it; absent: one that holds no slot'),
      action: z.enum(explainedActions).optional().describe('What would be done; default activate'),
      at: Instant.optional().describe('When it would be done, with devices as they are now; default now'),
    }),
    reply: data('WhyKeyResponse', Explanation),
    example: {
      query: { productId, licenseKey, hostId },
      reply: {
        allowed: false,
        action: 'activate',
        at: '2026-11-21T10:00:00.000Z',
        rules: [
          { rule: 'enabled', passed: true, detail: 'The vendor has not disabled the licence.' },
          { rule: 'term', passed: true, detail: 'The licence expires at 2027-11-21T10:00:00.000Z.' },
          { rule: 'customer', passed: true, detail: 'Its customer is active.' },
          { rule: 'host', passed: true, detail: 'Any host may use the licence.' },
          { rule: 'slot', passed: false, detail: 'No slot is free: 5 of 5 are taken.', reason: 'activationLimit' },
        ],
      },
    },
    errors: ['licenseNotFound'],
    source: 'decision 0009',
  }),
};
