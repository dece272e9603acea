import type { InputOf } from '../contract/endpoint.ts';
import { apiError } from '../contract/errors.ts';
import type { keySessions, sessions } from '../contract/sessions.ts';
import { newId } from '../domain/ids.ts';
import { acceptRequest, type NextNonces } from '../domain/session.ts';
import { endIfUsed, graceWarning, isWaiting } from '../domain/term.ts';
import { addSeconds } from '../domain/time.ts';
import type { Session } from '../store/tables/sessions.ts';
import type { Context, UseCase } from './context.ts';
import { findLicense } from './keys/keys.ts';
import { productsOf } from './keys/lists.ts';
import { readList } from './lists.ts';
import { showSession } from './live-sessions.ts';
import { anyone, type Operations, onProduct, sameForAll } from './operation.ts';
import { sessionEvent } from './record.ts';
import { type LoadedFacts, loadFacts, refuseUnlessAllowed } from './rules.ts';

type Keys = typeof keySessions;
type Sessions = typeof sessions;

/** Leases one concurrent use of a floating licence. */
const checkoutKey: UseCase<Keys['checkout']> = async (context, input) => {
  const { repositories, now } = context;
  const found = await findLicense(context, input);
  if (found === null) throw apiError('licenseNotFound');
  // Held from here on, so that no two requests count the same seat as free.
  await repositories.keys.lock(found);
  const lapsed = await repositories.sessions.removeLapsed(now, { license: found });
  const facts = await loadFacts(context, 'checkout', { ...input, hostId: input.hostId ?? null, at: now });
  refuseUnlessAllowed('checkout', facts);

  const { license } = facts;
  const end = endIfUsed(license, now);
  if (isWaiting(license) && end !== null) await repositories.keys.setEndAtFirstUse(license, now, end);
  const warning = graceWarning(license, now);
  const session: Session = {
    accountId: license.accountId,
    licenseId: license.id,
    id: newId('ses', now, context.random(10)),
    hostId: input.hostId ?? null,
    tag: input.deviceTag ?? null,
    userIdentifier: input.userIdentifier ?? null,
    secret: Buffer.from(context.random(32)).toString('base64url'),
    nonce: newNonce(context),
    previousNonce: null,
    expiresAt: addSeconds(now, license.sessionLeaseDuration),
    createdAt: now,
  };
  await repositories.sessions.insert(session);
  context.record(sessionEvent('session.checked_out', license, session));
  for (const each of lapsed) context.record(sessionEvent('session.expired', license, each));
  return {
    message: 'Session checked out',
    sessionId: session.id,
    sessionSecret: session.secret,
    nextNonce: session.nonce,
    expiresAt: session.expiresAt,
    heartbeatInterval: license.heartbeatInterval,
    currentSessions: facts.liveSessions + 1,
    maxSessions: license.maxConcurrentSessions,
    ...(warning !== null && { warning }),
  };
};

/** Starts the lease of a session anew. */
const heartbeatKey: UseCase<Keys['heartbeat']> = async (context, input) => {
  const { license, session, nonces } = await authenticateSession(context, input);
  const facts = await loadFacts(context, 'heartbeat', { ...input, hostId: session.hostId, at: context.now });
  refuseUnlessAllowed('heartbeat', facts);

  const expiresAt = addSeconds(context.now, license.sessionLeaseDuration);
  await context.repositories.sessions.prolong(session, { ...nonces, expiresAt });
  context.record({ resource: { type: 'session', id: session.id }, data: { licenseId: license.id, expiresAt } });
  return { message: 'Session prolonged', expiresAt, nextNonce: nonces.nonce };
};

/** Gives the seat of a session back. */
const checkinKey: UseCase<Keys['checkin']> = async (context, input) => {
  const { license, session } = await authenticateSession(context, input);
  await context.repositories.sessions.remove(session);
  context.record(sessionEvent('session.checked_in', license, session));
  return { message: 'Session checked in' };
};

/** Lists the sessions whose lease runs, of the products that the caller may access. */
const listSessions: UseCase<Sessions['list']> = async (context, { page, limit, productId, licenseKey }) => {
  const { repositories, caller, now } = context;
  const filters = { productIds: productsOf(caller, productId), licenseKey };
  return readList({ page, limit }, repositories.sessions.list(caller.accountId, now, filters).map(showSession));
};

/** Ends a session, whoever holds it. */
const deleteSession: UseCase<Sessions['delete']> = async (
  { repositories, caller, now, record },
  { sessionId, productId },
) => {
  const session = await repositories.sessions.hold(caller.accountId, sessionId, now);
  const license = session && (await repositories.keys.findById(caller.accountId, session.licenseId));
  if (session === null || license === null) throw apiError('sessionNotFound');
  if (productId !== undefined && productId !== license.productId) throw apiError('sessionNotFound');
  await repositories.sessions.remove(session);
  record(sessionEvent('session.checked_in', license, session, { released: true }));
};

/** Finds the session that a request is signed by, and holds it. Throws ApiError when there is none, or when it is not. */
async function authenticateSession(
  context: Context,
  input: InputOf<Keys['heartbeat']>,
): Promise<Pick<LoadedFacts, 'license'> & { session: Session; nonces: NextNonces }> {
  const { repositories, now } = context;
  const license = await findLicense(context, input);
  if (license === null) throw apiError('licenseNotFound');
  const session = await repositories.sessions.hold(license.accountId, input.sessionId, now);
  if (session?.licenseId !== license.id) throw apiError('sessionNotFound');
  const { timestamp: nonce, signature } = input;
  const nonces = acceptRequest(session, { nonce, signature }, newNonce(context));
  if (nonces === null) throw apiError('signatureRefused');
  return { license, session, nonces };
}

const newNonce = ({ random }: Context): string => Buffer.from(random(16)).toString('base64url');

/** The operations that lease sessions. */
export const keySessionOperations: Operations<typeof keySessions> = {
  checkout: { perform: checkoutKey, authorize: onProduct('licenseNotFound'), authorizeReplay: sameForAll },
  heartbeat: { perform: heartbeatKey, authorize: onProduct('licenseNotFound'), authorizeReplay: sameForAll },
  checkin: { perform: checkinKey, authorize: onProduct('licenseNotFound'), authorizeReplay: sameForAll },
};

/** The operations on sessions. */
export const sessionOperations: Operations<typeof sessions> = {
  list: {
    perform: listSessions,
    // Lists only what is of its products.
    authorize: anyone,
  },
  delete: {
    perform: deleteSession,
    // A token that is limited to products has to say which of them the session is of.
    authorize: (caller, { productId }) =>
      productId === undefined
        ? caller.productIds === null
          ? null
          : 'invalidParams'
        : onProduct('sessionNotFound')(caller, { productId }),
    authorizeReplay: sameForAll,
  },
};
