import type { Operation } from '../operations.ts';
import { type Answered, liveSessions, type Model, pick, type Step } from '../state.ts';
import { instantAt, later } from '../time.ts';
import { addressOf } from './keys.ts';
import { hasFreeSeat, refusals, refuseUse } from './use.ts';

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
        },
        apply: ({ sessionId }: Answered) => {
          key.sessions.push({ id: sessionId, hostId, expiresAt });
        },
      };
    },
  };
}
