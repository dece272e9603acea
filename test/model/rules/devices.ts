import type { Operation } from '../operations.ts';
import { type Answered, type Key, type Model, pick, type Refusal, type Step } from '../state.ts';
import { addressOf } from './keys.ts';
import { hasFreeSlot, holdsSlot, isActivated, refusals, refuseUse } from './use.ts';

/** Signs a licence file, which takes a slot unless the host holds one. */
export function sign(model: Model, op: Operation<'sign'>): Step | null {
  const key = pick(model.keys, op.key);
  if (key === undefined) return null;
  const { hostId, ttl } = op;
  return {
    request: { method: 'POST', path: '/key/sign', body: { ...addressOf(key), hostId, ...(ttl && { ttl }) } },
    why: { key, action: 'sign', hostId },
    touched: () => [key],
    predict: () => {
      if (key.isDeleted) return refusals.notFound;
      if (key.expiresAt === null && ttl === null) return refusals.invalid;
      const refusal = refuseUse(key, hostId, model.now) ?? refuseSlot(key, hostId);
      if (refusal !== null) return refusal;
      return {
        status: 200,
        body: {},
        apply: ({ file }: Answered) => {
          const { exp, machine } = claimsOf(file);
          const ends = ttl === null ? Number.POSITIVE_INFINITY : model.now + ttl * 1_000;
          const end = Math.min(ends, key.expiresAt ?? Number.POSITIVE_INFINITY);
          if (exp !== Math.floor(end / 1_000)) throw new Error(`the file ends at ${exp}, not at ${end / 1_000}`);
          if (machine !== hostId) throw new Error(`the file is for ${machine}, not for ${hostId}`);
          takeSlot(key, hostId, null, model.now);
        },
      };
    },
  };
}

/** Frees the slot of one device or of all. */
export function deactivate(model: Model, op: Operation<'deactivate'>): Step | null {
  const key = pick(model.keys, op.key);
  if (key === undefined) return null;
  const { hostId } = op;
  return {
    request: {
      method: 'POST',
      path: '/deactivate-key',
      body: { ...addressOf(key), ...(hostId !== null && { hostId }) },
    },
    why: { key, action: 'deactivate', hostId },
    touched: () => [key],
    predict: () => {
      if (key.isDeleted) return refusals.notFound;
      if (!isActivated(key)) return refusals.notActivated;
      if (hostId !== null && !holdsSlot(key, hostId)) return refusals.notFound;
      return {
        status: 200,
        body: { code: 0, message: hostId === null ? 'All devices deactivated' : 'Device deactivated' },
        apply: () => {
          key.devices = hostId === null ? [] : key.devices.filter((device) => device.hostId !== hostId);
          key.updatedAt = model.now;
        },
      };
    },
  };
}

/** Why the host cannot have a slot. */
export const refuseSlot = (key: Key, hostId: string): Refusal | null =>
  holdsSlot(key, hostId) || hasFreeSlot(key) ? null : refusals.slotsTaken;

/** Makes the host a device of the licence, if it is none. */
export function takeSlot(key: Key, hostId: string, tag: string | null, now: number): void {
  if (holdsSlot(key, hostId)) return;
  key.devices.push({ hostId, tag, activatedAt: now });
  key.updatedAt = now;
}

function claimsOf(file: string): { exp: number; machine: string } {
  const [, claims = ''] = String(JSON.parse(file).licenseToken).split('.');
  return JSON.parse(Buffer.from(claims, 'base64url').toString());
}
