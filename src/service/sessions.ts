import type { InputOf, PayloadOf } from '../contract/endpoint.ts';
import { apiError } from '../contract/errors.ts';
import type { Contract } from '../contract/index.ts';
import { newId } from '../domain/ids.ts';
import { addSeconds } from '../domain/time.ts';
import type { Context } from './context.ts';
import { findLicense } from './keys.ts';
import { loadFacts, refuseUnlessAllowed } from './rules.ts';

type Checkout = Contract['keys']['checkout'];

/** Leases one concurrent use of a floating licence. */
export async function checkoutKey(context: Context, input: InputOf<Checkout>): Promise<PayloadOf<Checkout>> {
  const { repositories, now } = context;
  const found = await findLicense(context, input);
  if (found === null) throw apiError('licenseNotFound');
  // Held from here on, so that no two requests count the same seat as free.
  await repositories.keys.lock(found);
  await repositories.sessions.removeLapsed(found, now);
  const facts = await loadFacts(context, 'checkout', { ...input, hostId: input.hostId ?? null, at: now });
  if (facts === null) throw apiError('licenseNotFound');
  refuseUnlessAllowed('checkout', facts);

  const { license } = facts;
  const session = {
    id: newId('ses', now, context.random(10)),
    hostId: input.hostId ?? null,
    tag: input.deviceTag ?? null,
    userIdentifier: input.userIdentifier ?? null,
    secret: Buffer.from(context.random(32)).toString('base64url'),
    nonce: Buffer.from(context.random(16)).toString('base64url'),
    expiresAt: addSeconds(now, license.sessionLeaseDuration),
  };
  await repositories.sessions.insert(license, session, now);
  return {
    message: 'Session checked out',
    sessionId: session.id,
    sessionSecret: session.secret,
    nextNonce: session.nonce,
    expiresAt: session.expiresAt,
    heartbeatInterval: license.heartbeatInterval,
    currentSessions: facts.liveSessions + 1,
    maxSessions: license.maxConcurrentSessions,
  };
}
