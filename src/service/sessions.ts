import type { InputOf } from '../contract/endpoint.ts';
import { apiError } from '../contract/errors.ts';
import { MIN_LICENSE_KEY } from '../contract/limits.ts';
import type { LicenseKey, ProductId } from '../contract/scalars.ts';
import type { keySessions, sessions } from '../contract/sessions.ts';
import { type Caller, canAccessProduct, productsOf, seesSecrets } from '../domain/access.ts';
import { newId } from '../domain/ids.ts';
import { expiryIfUsed, graceWarning, isWaiting, type License } from '../domain/license.ts';
import { canonicalKey, showKey } from '../domain/license-key.ts';
import { acceptRequest, type NextNonces } from '../domain/session.ts';
import { addSeconds, dayOf } from '../domain/time.ts';
import type { ListedSession, Session } from '../store/tables/sessions.ts';
import type { Context } from './context.ts';
import { byKey, findLicense, foundByKey } from './keys/find.ts';
import { showNames, showSession } from './keys/show.ts';
import { readList } from './lists.ts';
import { anyone, type Operations, onProduct, orThrow, replayToAnyone } from './operation.ts';
import { sessionEvent } from './record.ts';
import { loadAllowed } from './rules.ts';
import { seeLicense } from './slots.ts';

export const keySessionOperations: Operations<typeof keySessions> = {
  checkout: {
    ...replayToAnyone(onProduct('licenseNotFound')),
    async perform(context, { hostId = null, deviceTag: tag = null, userIdentifier = null, ...address }) {
      const { repositories, now } = context;
      const named = await findLicense(context, address);
      // Locks the licence, so that no two requests take the same seat.
      await repositories.keys.lock(named);
      const lapsed = await repositories.sessions.removeLapsed(now, { license: named });
      const { license, liveSessions } = await loadAllowed(context, 'checkout', { ...address, hostId });
      const first = expiryIfUsed(license, now);
      if (isWaiting(license)) await repositories.keys.setEndAtFirstUse(license, now, first);
      const session: Session = {
        accountId: license.accountId,
        licenseId: license.id,
        id: newId('ses', now, context.random(10)),
        hostId,
        tag,
        userIdentifier,
        secret: Buffer.from(context.random(32)).toString('base64url'),
        nonce: newNonce(context),
        previousNonce: null,
        expiresAt: addSeconds(now, license.sessionLeaseDuration),
        createdAt: now,
      };
      await seeLicense(context, license);
      if (hostId !== null) await repositories.devices.markSeen(license, hostId, dayOf(now));
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
        currentSessions: liveSessions + 1,
        maxSessions: license.maxConcurrentSessions,
        ...graceWarning(license, now),
      };
    },
  },

  heartbeat: {
    ...replayToAnyone(onProduct('licenseNotFound')),
    async perform(context, input) {
      const { repositories, now } = context;
      const license = await findLicense(context, input);
      await seeLicense(context, license);
      const { session, nonces } = await authenticateSession(context, license, input);
      const { hostId } = session;
      await loadAllowed(context, 'heartbeat', { ...input, hostId });
      if (hostId !== null) await repositories.devices.markSeen(license, hostId, dayOf(now));
      const expiresAt = addSeconds(now, license.sessionLeaseDuration);
      await repositories.sessions.prolong(session, { ...nonces, expiresAt });
      context.record({ resource: { type: 'session', id: session.id }, data: { licenseId: license.id, expiresAt } });
      return { message: 'Session prolonged', expiresAt, nextNonce: nonces.nonce };
    },
  },

  checkin: {
    ...replayToAnyone(onProduct('licenseNotFound')),
    async perform(context, input) {
      const license = await findLicense(context, input);
      const { session } = await authenticateSession(context, license, input);
      await context.repositories.sessions.remove(session);
      context.record(sessionEvent('session.checked_in', license, session));
      return { message: 'Session checked in' };
    },
  },
};

const showListedSession = (session: ListedSession, caller: Caller) => ({
  ...showSession(session),
  ...{ licenseId: session.licenseId, licenseKey: showKey(session.key, seesSecrets(caller)) },
  ...{ productId: session.productId, customerId: session.customerId, ...showNames(session, caller) },
});

export const sessionOperations: Operations<typeof sessions> = {
  list: {
    // Such a token lists the sessions of its products only.
    authorize: anyone,
    async perform(context, { page, limit, productId, licenseKey }) {
      const { repositories, caller, now } = context;
      const { sessions } = repositories;
      const { accountId } = caller;
      const key = licenseKey && canonicalKey(licenseKey);
      if (key !== undefined && key.length < MIN_LICENSE_KEY)
        foundByKey(await productOfKey(context, key), key, 'sessionNotFound');
      const filters = { productIds: productsOf(caller, productId), licenseKey: key };
      return readList(
        { page, limit },
        sessions.list(accountId, now, filters).map((one) => showListedSession(one, caller)),
      );
    },
  },

  delete: {
    // A token that is limited to products has to name the product of the session.
    ...replayToAnyone(onProduct('sessionNotFound', ({ productIds }) => (productIds === null ? null : 'invalidParams'))),
    async perform({ repositories, caller: { accountId }, now, record }, { sessionId, productId }) {
      const session = orThrow(await repositories.sessions.hold(accountId, sessionId, now), 'sessionNotFound');
      const license = orThrow(await repositories.keys.findById(accountId, session.licenseId), 'sessionNotFound');
      if (productId !== undefined && productId !== license.productId) throw apiError('sessionNotFound');
      await repositories.sessions.remove(session);
      record(sessionEvent('session.checked_in', license, session, { released: true }));
    },
  },
};

/** The product of a key, where the caller may see it; else null. */
async function productOfKey(context: Context, licenseKey: LicenseKey): Promise<ProductId | null> {
  const { repositories, caller } = context;
  const product = await byKey(context, licenseKey, (key) =>
    repositories.keys.findProduct(caller.accountId, { licenseKey: key }),
  );
  return product !== null && canAccessProduct(caller, product) ? product : null;
}

/** Locks the session that signed a request. Throws ApiError `sessionNotFound` or `signatureRefused`. */
async function authenticateSession(
  context: Context,
  license: License,
  input: InputOf<(typeof keySessions)['heartbeat']>,
): Promise<{ session: Session; nonces: NextNonces }> {
  const { repositories, now } = context;
  const { sessionId, timestamp: nonce, signature } = input;
  const session = orThrow(await repositories.sessions.hold(license.accountId, sessionId, now), 'sessionNotFound');
  if (session.licenseId !== license.id) throw apiError('sessionNotFound');
  const nonces = orThrow(acceptRequest(session, { nonce, signature }, newNonce(context)), 'signatureRefused');
  return { session, nonces };
}

const newNonce = ({ random }: Context): string => Buffer.from(random(16)).toString('base64url');
