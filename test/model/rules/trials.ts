import type { Operation } from '../operations.ts';
import { done, type Model, pick, type Step } from '../state.ts';
import { endFromNow, instantAt } from '../time.ts';
import { addKey, endOf } from './keys.ts';
import { refuseSlot, takeSlot } from './slots.ts';
import { isNamed, refusals, refuseUse } from './use.ts';

/** Starts the one trial that a host has of a product, or finds it while it may be used. */
export function trial(model: Model, op: Operation<'trial'>): Step | null {
  const { hostId, tag, by } = op;
  const plan = pick(model.plans, op.plan);
  if (plan === undefined) return null;
  const product = model.products.find((one) => (one === plan.product) !== op.ofOtherProduct) ?? plan.product;
  const trialOf = `${product.id} ${hostId}`;
  const past = () => model.trials.get(trialOf);

  function start() {
    const { now } = model;
    const isUsable = product.active && plan?.active && plan.product === product && plan.isTrial;
    if (!isUsable || plan.duration === null) return refusals.notFound;
    const expirationDate = instantAt(endFromNow(now, plan.duration).expiresAt);
    const device = { hostId, deviceTag: tag ?? 'No tag', activationTime: instantAt(now) };
    return done({ message: 'Trial started', expirationDate, device }, ({ key: text }) => {
      const own = { text, product, plan, allowedHosts: [hostId] };
      const key = addKey(model, own, { ...plan, ...endOf(plan, now) });
      takeSlot(key, hostId, tag, by, now);
      model.trials.set(trialOf, { key, text });
    });
  }

  return {
    as: by,
    method: 'POST',
    path: '/key/trial',
    body: { productId: product.id, planId: plan.id, hostId, deviceTag: tag ?? undefined },
    touched: () => [past()?.key ?? []].flat(),
    predict: () => {
      const { now } = model;
      const { key, text } = past() ?? {};
      if (key === undefined || text === undefined) return start();
      const { expiresAt, isTrial } = key;
      if (!isNamed(key, text, now) || !isTrial || expiresAt === null) return refusals.trialUsed;
      if (refuseUse(key, hostId, now) !== null || refuseSlot(key, hostId, by, now) !== null) return refusals.trialUsed;
      const held = key.devices.find((device) => device.hostId === hostId) ?? { tag, activatedAt: now };
      const device = { hostId, deviceTag: held.tag ?? 'No tag', activationTime: instantAt(held.activatedAt) };
      const shown = { message: 'Trial running', key: text, expirationDate: instantAt(expiresAt), device };
      return done(shown, () => takeSlot(key, hostId, tag, by, now));
    },
  };
}
