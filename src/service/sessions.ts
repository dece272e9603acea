import type { InputOf, PayloadOf } from '../contract/endpoint.ts';
import { apiError } from '../contract/errors.ts';
import type { Contract } from '../contract/index.ts';
import { newId } from '../domain/ids.ts';
import { refusalToUse } from '../domain/license.ts';
import { addSeconds } from '../domain/time.ts';
import type { Context } from './context.ts';
import { findLicense, hasActiveCustomer } from './keys.ts';

type Checkout = Contract['keys']['checkout'];

/** Leases one concurrent use of a floating licence. */
export async function checkoutKey(context: Context, input: InputOf<Checkout>): Promise<PayloadOf<Checkout>> {
  const { repositories, now } = context;
  const license = await findLicense(context, input);
  if (license === null) throw apiError('licenseNotFound');
  if (license.licenseType !== 'floating') throw apiError('wrongLicenseType');
  const refusal = refusalToUse(license, {
    customerActive: await hasActiveCustomer(context, license),
    hostId: input.hostId ?? null,
    now,
  });
  if (refusal !== null) throw apiError(refusal);

  await repositories.keys.lock(license);
  const live = await repositories.sessions.countLive(license, now);
  if (license.maxConcurrentSessions !== null && live >= license.maxConcurrentSessions) throw apiError('sessionLimit');

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
    currentSessions: live + 1,
    maxSessions: license.maxConcurrentSessions,
  };
}
