import type { Operation } from '../operations.ts';
import { type Answered, type Key, type Model, pick, type Refusal, type Step } from '../state.ts';
import { instantAt, later } from '../time.ts';
import { addressOf } from './keys.ts';
import { begin, graceEnd, hasExpired, hasFreeSlot, holdsSlot, isActivated, refusals, refuseUse } from './use.ts';

/** Makes a host a device, which takes a slot unless it holds one. */
export function activate(model: Model, op: Operation<'activate'>): Step | null {
  const key = pick(model.keys, op.key);
  if (key === undefined) return null;
  const { hostId, tag } = op;
  return {
    request: {
      method: 'POST',
      path: '/key/activate',
      body: { ...addressOf(key), hostId, ...(tag !== null && { deviceTag: tag }) },
    },
    why: { key, action: 'activate', hostId },
    touched: () => [key],
    predict: () => {
      if (key.isDeleted) return refusals.notFound;
      const refusal = refuseUse(key, hostId, model.now) ?? refuseSlot(key, hostId);
      if (refusal !== null) return refusal;
      const held = key.devices.find((device) => device.hostId === hostId);
      const device = held ?? { hostId, tag, activatedAt: model.now };
      return {
        status: 200,
        body: {
          code: 0,
          message: 'Device activated',
          device: { hostId, deviceTag: device.tag ?? 'No tag', activationTime: instantAt(device.activatedAt) },
          activations: key.devices.length + (held === undefined ? 1 : 0),
          maxActivations: key.maxActivations,
        },
        apply: () => takeSlot(key, hostId, tag, model.now),
      };
    },
  };
}

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
      if (key.expiresAt === null && key.expiresAfter === null && ttl === null) return refusals.invalid;
      const refusal = refuseUse(key, hostId, model.now) ?? refuseSlot(key, hostId);
      if (refusal !== null) return refusal;
      const isLate = hasExpired(key, model.now);
      return {
        status: 200,
        body: isLate ? { warning: expiryWarning(key) } : {},
        apply: ({ file }: Answered) => {
          takeSlot(key, hostId, null, model.now);
          const { exp, machine } = claimsOf(file);
          const granted = (isLate ? graceEnd(key) : key.expiresAt) ?? Number.POSITIVE_INFINITY;
          const end = Math.min(granted, ttl === null ? granted : later(model.now, { seconds: ttl }));
          if (exp !== Math.floor(end / 1_000)) throw new Error(`the file ends at ${exp}, not at ${end / 1_000}`);
          if (machine !== hostId) throw new Error(`the file is for ${machine}, not for ${hostId}`);
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
          key.change = 'devices';
        },
      };
    },
  };
}

/** Moves the slot of a device to another host. */
export function rebind(model: Model, op: Operation<'rebind'>): Step | null {
  const key = pick(model.keys, op.key);
  if (key === undefined) return null;
  const { hostId, newHostId, tag } = op;
  return {
    request: {
      method: 'POST',
      path: '/key/rebind',
      body: { ...addressOf(key), hostId, newHostId, ...(tag !== null && { deviceTag: tag }) },
    },
    touched: () => [key],
    predict: () => {
      if (key.isDeleted) return refusals.notFound;
      const refusal = refuseUse(key, newHostId, model.now);
      if (refusal !== null) return refusal;
      const device = key.devices.find((each) => each.hostId === hostId);
      if (device === undefined) return refusals.notFound;
      if (holdsSlot(key, newHostId)) return refusals.hostHoldsSlot;
      const rebound = { hostId: newHostId, tag: tag ?? device.tag, activatedAt: model.now };
      return {
        status: 200,
        body: { code: 0, message: 'Device rebound', device: { hostId: newHostId, deviceTag: rebound.tag ?? 'No tag' } },
        apply: () => {
          Object.assign(device, rebound);
          key.change = 'devices';
        },
      };
    },
  };
}

/** What is said to whoever uses an expired licence in its grace period. */
export const expiryWarning = (key: Key): string =>
  `License expired on ${instantAt(key.expiresAt ?? 0)}; it may be used until ${instantAt(graceEnd(key) ?? 0)}`;

const refuseSlot = (key: Key, hostId: string): Refusal | null =>
  holdsSlot(key, hostId) || hasFreeSlot(key) ? null : refusals.slotsTaken;

function takeSlot(key: Key, hostId: string, tag: string | null, now: number): void {
  if (holdsSlot(key, hostId)) return;
  key.devices.push({ hostId, tag, activatedAt: now });
  key.change = 'devices';
  begin(key, now);
}

function claimsOf(file: string): { exp: number; machine: string } {
  const [, claims = ''] = String(JSON.parse(file).licenseToken).split('.');
  return JSON.parse(Buffer.from(claims, 'base64url').toString());
}
