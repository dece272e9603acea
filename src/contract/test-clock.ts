import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { durationField } from './fields.ts';
import { data } from './reply.ts';
import { Instant, InstantText } from './scalars.ts';

/**
 * Moves the clock of a server that runs on a test clock. It is no part of the contract: other servers do not have it,
 * and the OpenAPI document does not show it.
 */
export const moveTestClock = endpoint({
  summary: 'Move the test clock',
  description:
    'Moves the clock of the server forward: by a duration, or to an instant. The response comes once the background ' +
    'work that was due has run.',
  method: 'POST',
  path: '/_test/clock',
  scope: 'none',
  body: z
    .object({
      advance: durationField().optional().describe('How far, as an ISO 8601 duration'),
      now: Instant.optional().describe('Where to; never backwards'),
    })
    .refine(({ advance, now }) => (advance === undefined) !== (now === undefined), 'give either advance or now'),
  reply: data('MoveTestClockResponse', z.object({ now: InstantText })),
  example: { body: { advance: 'P1M' }, reply: { now: '2026-12-21T10:00:00.000Z' } },
  errors: [],
  source: 'decision 0016',
});
