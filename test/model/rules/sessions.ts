import { createHmac } from 'node:crypto';
import type { Operation } from '../operations.ts';
import { done, liveSessions, type Model, pick, type Refusal, type Session, type Step, type Success } from '../state.ts';
import { instantAt, later } from '../time.ts';
import { see } from './slots.ts';
import { addressOf, begin, hasFreeSeat, isNamed, refusals, refuseUse, textsOf, useOf, warningOf } from './use.ts';

/** Leases a seat. */
export const checkout = (model: Model, { key: number, hostId }: Operation<'checkout'>): Step | null =>
  useOf(model, number, (key) => ({
    path: '/key/checkout',
    fields: { hostId },
    action: 'checkout',
    predict: () => {
      if (key.licenseType !== 'floating') return refusals.wrongType;
      const refusal = refuseUse(key, hostId, model.now);
      if (refusal !== null) return refusal;
      if (!hasFreeSeat(key, model.now)) return refusals.seatsTaken;
      const expiresAt = later(model.now, { seconds: key.leaseSeconds });
      return done(
        {
          expiresAt: instantAt(expiresAt),
          heartbeatInterval: 60,
          currentSessions: liveSessions(key, model.now).length + 1,
          maxSessions: key.maxSessions,
          ...warningOf(key, model.now),
        },
        ({ sessionId: id, sessionSecret: secret, nextNonce: nonce }) => {
          key.sessions.push({ id, key, secret, hostId, nonce, lastNonce: null, expiresAt, isEnded: false });
          begin(key, model.now);
          see(key, hostId, model.now);
        },
      );
    },
  }));

/** Prolongs the lease of a session. */
export const heartbeat = (model: Model, op: Operation<'heartbeat'>): Step | null =>
  signed(model, op, '/key/heartbeat', (session, nonce) => {
    const { key, hostId } = session;
    const refusal = key.licenseType === 'floating' ? refuseUse(key, hostId, model.now) : refusals.wrongType;
    if (refusal !== null) return refusal;
    const expiresAt = later(model.now, { seconds: key.leaseSeconds });
    const isCurrent = nonce === session.nonce;
    const told = { expiresAt: instantAt(expiresAt), ...(!isCurrent && { nextNonce: session.nonce }) };
    return done(told, ({ nextNonce }) => {
      if (isCurrent && nextNonce === session.nonce) throw new Error('the nonce stays the same');
      Object.assign(session, { lastNonce: isCurrent ? session.nonce : null, nonce: nextNonce, expiresAt });
      see(key, hostId, model.now);
    });
  });

/** Gives a seat back. */
export const checkin = (model: Model, op: Operation<'checkin'>): Step | null =>
  signed(model, op, '/key/checkin', (session) =>
    done({ message: 'Session checked in' }, () => {
      session.isEnded = true;
    }),
  );

/** Ends a session without its signature. */
export function releaseSession(model: Model, op: Operation<'releaseSession'>): Step | null {
  const session = pick(sessionsOf(model), op.session);
  if (session === undefined) return null;
  return {
    method: 'DELETE',
    path: `/session/by-id?${new URLSearchParams({ sessionId: session.id })}`,
    touched: () => [session.key],
    predict: () =>
      isLive(session, model.now)
        ? done({ status: true }, () => {
            session.isEnded = true;
          })
        : refusals.sessionNotFound,
  };
}

/** The newest first: the others have ended more often. */
const sessionsOf = ({ keys }: Model): Session[] => keys.flatMap(({ sessions }) => sessions).reverse();

const isLive = ({ key, isEnded, expiresAt }: Session, now: number): boolean =>
  !key.isDeleted && !isEnded && now < expiresAt;

/** A request of a session: the nonce that is meant, signed with its secret or with another one. */
function signed(
  model: Model,
  { session: number, text: which, nonce, isForged }: Operation<'heartbeat' | 'checkin'>,
  path: string,
  predict: (session: Session, nonce: string) => Refusal | Success,
): Step | null {
  const session = pick(sessionsOf(model), number);
  if (session === undefined) return null;
  const { id, key, secret } = session;
  const text = pick(textsOf(key), which) ?? key.text;
  const timestamp = { current: session.nonce, last: session.lastNonce ?? session.nonce, other: 'another' }[nonce];
  const hmac = createHmac('sha256', isForged ? 'forged' : secret);
  const signature = hmac.update(`${id}:${timestamp}`).digest('hex');
  return {
    method: 'POST',
    path,
    body: { ...addressOf(key, text), sessionId: id, timestamp, signature },
    touched: () => [key],
    predict: () => {
      if (!isNamed(key, text, model.now)) return refusals.notFound;
      if (!isLive(session, model.now)) return refusals.sessionNotFound;
      const isKnown = timestamp === session.nonce || timestamp === session.lastNonce;
      return isKnown && !isForged ? predict(session, timestamp) : refusals.notSigned;
    },
  };
}
