import { z } from 'zod';
import { examples } from './openapi/examples.ts';
import { InstantText } from './scalars.ts';

/** A session whose lease runs. Its secret is never shown again. */
export const Session = z
  .looseObject({
    id: z.string().meta({ description: 'Identifier of the session', examples: [examples.session.sessionId] }),
    hostId: z.string().nullable().describe('The device that uses it; null when none was named'),
    deviceTag: z.string().describe('What people call the device; "No tag" when there is none'),
    userIdentifier: z.string().nullable().describe('Who uses it; null when nobody was named'),
    createdAt: InstantText,
    expiresAt: InstantText.describe('When its lease ends unless it is prolonged'),
  })
  .meta({ id: 'Session', description: 'A leased concurrent use of a floating licence' });
export type Session = z.output<typeof Session>;
