import { z } from 'zod';
import { examples } from '../openapi/examples.ts';
import { InstantText } from '../scalars.ts';

/** A licence file as the service remembers it: never its text. */
export const SignedFile = z
  .looseObject({
    id: z.string().meta({ description: 'Identifier of the file, its `jti`', examples: [examples.signedFile.id] }),
    hostId: z.string().meta({ description: 'The device it is for', examples: [examples.signedFile.hostId] }),
    kid: z.string().describe('The key that signed it'),
    signedAt: InstantText,
    endsAt: InstantText.describe('Until when it verifies'),
    revokedAt: InstantText.nullable().describe('When its device was freed; null means it was not'),
  })
  .meta({ id: 'SignedFile', description: 'A licence file that was signed and has not ended' });
export type SignedFile = z.output<typeof SignedFile>;

/** A licence file that still verifies on a device that holds no slot any more. */
export const RevokedFile = SignedFile.pick({ id: true, hostId: true, endsAt: true }).meta({
  id: 'RevokedFile',
  description: 'A licence file of a freed device: it verifies until it ends, except where the revocation list is read',
});
