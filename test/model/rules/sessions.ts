import { createHmac } from 'node:crypto';
import type { Operation } from '../operations.ts';
import { type Answered, liveSessions, type Model, pick, type Refusal, type Session, type Step } from '../state.ts';
import { instantAt, later } from '../time.ts';
import { expiryWarning } from './devices.ts';
import { addressOf } from './keys.ts';
import { begin, hasExpired, hasFreeSeat, refusals, refuseUse } from './use.ts';

/** Leases a seat. */
export function checkout(model: Model, op: Operation<'checkout'>): Step | null {
  const key = pick(model.keys, op.key);
  if (key === undefined) return null;
  const { hostId } = op;
  return {
    request: { method: 'POST', path: '/key/checkout', body: { ...addressOf(key), ...(hostId !== null && { hostId }) } },
    why: { key, action: 'checkout', hostId },
    touched: () => [key],
    predict: () => {
      if (key.isDeleted) return refusals.notFound;
      if (key.licenseType !== 'floating') return refusals.wrongType;
      const refusal = refuseUse(key, hostId, model.now);
      if (refusal !== null) return refusal;
      if (!hasFreeSeat(key, model.now)) return refusals.seatsTaken;
      const expiresAt = later(model.now, { seconds: key.leaseSeconds });
      return {
        status: 200,
        body: {
          code: 0,
          expiresAt: instantAt(expiresAt),
          heartbeatInterval: key.heartbeatSeconds,
          currentSessions: liveSessions(key, model.now).length + 1,
          maxSessions: key.maxSessions,
          ...(hasExpired(key, model.now) && { warning: expiryWarning(key) }),
        },
        apply: ({ sessionId: id, sessionSecret: secret, nextNonce: nonce }: Answered) => {
          key.sessions.push({ id, key, secret, hostId, nonce, lastNonce: null, expiresAt, isEnded: false });
          begin(key, model.now);
        },
      };
    },
  };
}

/** Prolongs the lease of a session. */
export function heartbeat(model: Model, op: Operation<'heartbeat'>): Step | null {
  const session = pick(sessionsOf(model), op.session);
  if (session === undefined) return null;
  const { key } = session;
  const body = signedBody(session, op);
  return {
    request: { method: 'POST', path: '/key/heartbeat', body },
    touched: () => [key],
    predict: () => {
      const refusal = refuseSigned(session, body, model.now) ?? refuseHeartbeat(session, model.now);
      if (refusal !== null) return refusal;
      const expiresAt = later(model.now, { seconds: key.leaseSeconds });
      const isCurrent = body.timestamp === session.nonce;
      return {
        status: 200,
        body: { code: 0, expiresAt: instantAt(expiresAt), ...(!isCurrent && { nextNonce: session.nonce }) },
        apply: ({ nextNonce }: Answered) => {
          if (isCurrent && nextNonce === session.nonce) throw new Error('the nonce stays the same');
          session.lastNonce = isCurrent ? session.nonce : null;
          session.nonce = nextNonce;
          session.expiresAt = expiresAt;
        },
      };
    },
  };
}

/** Gives a seat back. */
export function checkin(model: Model, op: Operation<'checkin'>): Step | null {
  const session = pick(sessionsOf(model), op.session);
  if (session === undefined) return null;
  const body = signedBody(session, op);
  return {
    request: { method: 'POST', path: '/key/checkin', body },
    touched: () => [session.key],
    predict: () =>
      refuseSigned(session, body, model.now) ?? {
        status: 200,
        body: { code: 0, message: 'Session checked in' },
        apply: () => {
          session.isEnded = true;
        },
      },
  };
}

/** Ends a session without its signature. */
export function releaseSession(model: Model, op: Operation<'releaseSession'>): Step | null {
  const session = pick(sessionsOf(model), op.session);
  if (session === undefined) return null;
  return {
    request: { method: 'DELETE', path: `/session/by-id?${new URLSearchParams({ sessionId: session.id })}` },
    touched: () => [session.key],
    predict: () => {
      if (!isLive(session, model.now)) return refusals.sessionNotFound;
      return {
        status: 200,
        body: { status: true, code: 0 },
        apply: () => {
          session.isEnded = true;
        },
      };
    },
  };
}

/** The newest first: the others have ended more often. */
const sessionsOf = ({ keys }: Model): Session[] => keys.flatMap(({ sessions }) => sessions).reverse();

function isLive({ key, isEnded, expiresAt }: Session, now: number): boolean {
  return !key.isDeleted && !isEnded && now < expiresAt;
}

/** What a session sends: the nonce that is meant, signed with its secret or with another one. */
function signedBody(session: Session, { nonce, isForged }: Pick<Operation<'heartbeat'>, 'nonce' | 'isForged'>) {
  const timestamp = { current: session.nonce, last: session.lastNonce ?? session.nonce, other: 'another' }[nonce];
  const hmac = createHmac('sha256', isForged ? 'forged' : session.secret);
  const signature = hmac.update(`${session.id}:${timestamp}`).digest('hex');
  return { ...addressOf(session.key), sessionId: session.id, timestamp, signature };
}

function refuseSigned(session: Session, body: ReturnType<typeof signedBody>, now: number): Refusal | null {
  if (session.key.isDeleted) return refusals.notFound;
  if (!isLive(session, now)) return refusals.sessionNotFound;
  const expected = createHmac('sha256', session.secret).update(`${session.id}:${body.timestamp}`).digest('hex');
  const isKnown = body.timestamp === session.nonce || body.timestamp === session.lastNonce;
  return isKnown && body.signature === expected ? null : refusals.notSigned;
}

function refuseHeartbeat({ key, hostId }: Session, now: number): Refusal | null {
  return key.licenseType === 'floating' ? refuseUse(key, hostId, now) : refusals.wrongType;
}
