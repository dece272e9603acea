import { deepStrictEqual, partialDeepStrictEqual } from 'node:assert/strict';
import type { Operation } from '../operations.ts';
import { done, type Model, type Step } from '../state.ts';
import { dayOf, instantAt, later } from '../time.ts';
import { featuresOf } from './keys.ts';
import {
  countMove,
  endPromise,
  hasPromise,
  holdsSlot,
  leaveAll,
  leaveSlot,
  refuseMove,
  refuseSlot,
  takeSlot,
} from './slots.ts';
import { graceEnd, hasExpired, isActivated, refusals, refuseUse, useOf, warningOf } from './use.ts';

/** Makes a host a device, which takes a slot unless it holds one. */
export const activate = (model: Model, { key: number, by, hostId, tag }: Operation<'activate'>): Step | null =>
  useOf(model, number, (key, text) => ({
    as: by,
    path: '/key/activate',
    fields: { hostId, deviceTag: tag ?? undefined, nonce: NONCE },
    action: 'activate',
    predict: () => {
      const refusal = refuseUse(key, hostId, model.now) ?? refuseSlot(key, hostId, by, model.now);
      if (refusal !== null) return refusal;
      const held = key.devices.find((device) => device.hostId === hostId);
      const device = held ?? { hostId, tag, activatedAt: model.now };
      return done(
        {
          message: 'Device activated',
          device: { hostId, deviceTag: device.tag ?? 'No tag', activationTime: instantAt(device.activatedAt) },
          activations: key.devices.length + (held === undefined ? 1 : 0),
          maxActivations: key.maxActivations,
          metadata: { ...(by === 'admin' && key.metadata), features: featuresOf(key), is_trial: key.isTrial },
          ...warningOf(key, model.now),
        },
        ({ proof }) => {
          takeSlot(key, hostId, tag, by, model.now);
          const { iat, exp, ...claims } = claimsOf(proof);
          const stated = { key: text, productId: key.product.id, machine: hostId, nonce: NONCE };
          partialDeepStrictEqual(claims, stated);
          deepStrictEqual(
            [iat, exp],
            [0, 300].map((seconds) => Math.floor(model.now / 1_000) + seconds),
          );
        },
      );
    },
  }));

/** Signs a licence file, which takes a slot unless the host holds one. */
export const sign = (model: Model, { key: number, by, hostId, ttl }: Operation<'sign'>): Step | null =>
  useOf(model, number, (key, text) => ({
    as: by,
    path: '/key/sign',
    fields: { hostId, ttl: ttl ?? undefined, nonce: NONCE },
    action: 'sign',
    predict: () => {
      if (key.expiresAt === null && key.expiresAfter === null && ttl === null) return refusals.invalid;
      const refusal = refuseUse(key, hostId, model.now) ?? refuseSlot(key, hostId, by, model.now);
      if (refusal !== null) return refusal;
      const isLate = hasExpired(key, model.now);
      return {
        status: 200,
        body: warningOf(key, model.now),
        apply: ({ file }) => {
          takeSlot(key, hostId, null, by, model.now);
          const { exp, machine, ...claims } = claimsOf(JSON.parse(file).licenseToken);
          const granted = (isLate ? graceEnd(key) : key.expiresAt) ?? Number.POSITIVE_INFINITY;
          const end = Math.min(granted, ttl === null ? granted : later(model.now, { seconds: ttl }));
          if (exp !== Math.floor(end / 1_000)) throw new Error(`the file ends at ${exp}, not at ${end / 1_000}`);
          if (machine !== hostId) throw new Error(`the file is for ${machine}, not for ${hostId}`);
          // Who knows an earlier text alone does not learn the present one.
          const stated = [text, featuresOf(key), key.isTrial, key.licenseType, NONCE];
          deepStrictEqual([claims.key, claims.features, claims.is_trial, claims.licenseType, claims.nonce], stated);
        },
      };
    },
  }));

/** Frees the slot of one device or of all. */
export const deactivate = (model: Model, { key: number, by, hostId }: Operation<'deactivate'>): Step | null =>
  useOf(model, number, (key) => ({
    // An application has to name a device.
    as: hostId === null ? 'admin' : by,
    path: '/deactivate-key',
    fields: { hostId },
    action: 'deactivate',
    predict: () => {
      if (!isActivated(key)) return refusals.notActivated;
      if (hostId !== null && !holdsSlot(key, hostId)) return refusals.notFound;
      return done({ message: hostId === null ? 'All devices deactivated' : 'Device deactivated' }, () => {
        if (hostId === null) leaveAll(key, model.now);
        else leaveSlot(key, hostId, by, model.now);
      });
    },
  }));

/** Moves the slot of a device to another host. */
export const rebind = (model: Model, { key: number, by, hostId, newHostId, tag }: Operation<'rebind'>): Step | null =>
  useOf(model, number, (key) => ({
    as: by,
    path: '/key/rebind',
    fields: { hostId, newHostId, deviceTag: tag ?? undefined },
    predict: () => {
      const comesBack = hasPromise(key, newHostId, model.now);
      const unmoved = comesBack ? null : refuseMove(key, by, model.now);
      // Whether the customer may comes first, how often last.
      if (unmoved === refusals.mayNotMove) return unmoved;
      const refusal = refuseUse(key, newHostId, model.now) ?? unmoved;
      if (refusal !== null) return refusal;
      const device = key.devices.find((each) => each.hostId === hostId);
      if (device === undefined) return refusals.notFound;
      if (holdsSlot(key, newHostId)) return refusals.hostHoldsSlot;
      const rebound = { hostId: newHostId, tag: tag ?? device.tag, activatedAt: model.now, seenOn: dayOf(model.now) };
      const shown = { hostId: newHostId, deviceTag: rebound.tag ?? 'No tag' };
      return done({ message: 'Device rebound', device: shown }, () => {
        if (comesBack) {
          endPromise(key, newHostId, model.now);
          leaveSlot(key, hostId, by, model.now);
          key.devices.push(rebound);
        } else {
          Object.assign(device, rebound);
          countMove(key, by, model.now);
        }
        key.change = 'devices';
      });
    },
  }));

/** What each request asks to have stated. */
const NONCE = 'made up';

function claimsOf(jws: string): Record<string, unknown> {
  const [, claims = ''] = jws.split('.');
  return JSON.parse(Buffer.from(claims, 'base64url').toString());
}
