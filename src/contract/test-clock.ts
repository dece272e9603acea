import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { durationField, eitherOf } from './fields.ts';
import { data } from './reply.ts';
import { Instant, InstantText } from './scalars.ts';

/** Moves the clock of a server on a test clock: no part of the contract or the document. Source: decision 0012. */
export const moveTestClock = endpoint('POST /_test/clock', 'none', {
  summary: 'Move the test clock',
  description:
    'Moves the clock of the server forward: by a duration, or to an instant. The response comes once the background ' +
    'work that was due has run.',
  body: z
    .object({
      advance: durationField().optional().describe('How far, as an ISO 8601 duration'),
      now: Instant.optional().describe('Where to; never backwards'),
    })
    .refine(...eitherOf('advance', 'now')),
  reply: data('MoveTestClockResponse', z.object({ now: InstantText })),
});
