import type { InputOf } from '../../contract/endpoint.ts';
import { ApiError, apiError } from '../../contract/errors.ts';
import type { keyTrials } from '../../contract/keys/trials.ts';
import type { LicenseKey } from '../../contract/scalars.ts';
import { revealKey } from '../../domain/license-key.ts';
import { decide } from '../../domain/rules.ts';
import type { Context } from '../context.ts';
import { type Operations, onProduct, orThrow } from '../operation.ts';
import { usablePlan } from '../plans.ts';
import { licenseEvent } from '../record.ts';
import { type LoadedFacts, loadFacts } from '../rules.ts';
import { holdSlot } from '../slots.ts';
import { countIssue, newLicense, withPlan } from './issue.ts';
import { showDevice } from './show.ts';

type Input = InputOf<(typeof keyTrials)['trial']>;

export const trialOperations: Operations<typeof keyTrials> = {
  trial: {
    authorize: onProduct('productUnavailable'),
    async perform(context, input) {
      const { repositories, caller } = context;
      const { accountId } = caller;
      const past = await repositories.trials.find(addressOf(context, input));
      const isNew = past === null && (await start(context, input));
      const trial = orThrow(past ?? (await repositories.trials.find(addressOf(context, input))), 'trialUsed');
      const { hostId, deviceTag } = input;
      const facts = await running(context, input, trial);
      const device = await holdSlot(context, facts, { hostId, deviceTag }).catch(refuseEnded);
      // The first use may have set the end.
      const used = await repositories.keys.findById(accountId, trial.licenseId);
      return {
        message: isNew ? 'Trial started' : 'Trial running',
        key: revealKey(trial.key),
        expirationDate: orThrow(used?.expirationDate, 'trialUsed'),
        device: showDevice(device, caller),
      };
    },
  },
};

const addressOf = ({ caller }: Context, { productId, hostId }: Input) => ({
  accountId: caller.accountId,
  productId,
  hostId,
});

/** Issues the key of a trial; false when another request has started a trial for the device meanwhile. */
async function start(context: Context, input: Input): Promise<boolean> {
  const { repositories, caller, now } = context;
  const { productId, planId, hostId } = input;
  const product = await repositories.products.find(caller.accountId, productId);
  if (!product?.active) throw apiError('productUnavailable');
  const plan = await usablePlan(context, input);
  if (!plan.terms.isTrial) throw apiError('planNotFound');
  const license = newLicense(context, withPlan(context, { productId, planId, allowedHosts: [hostId] }, plan), null);
  const trial = { ...addressOf(context, input), licenseId: license.id, key: license.key, createdAt: now };
  if (!(await repositories.trials.insert(trial))) return false;
  await countIssue(context, input);
  await repositories.keys.insert(license);
  context.record(licenseEvent('license.created', license));
  return true;
}

/** The trial may end between two look-ups; any refusal of its slot then means that the trial is over. */
function refuseEnded(error: unknown): never {
  throw error instanceof ApiError ? apiError('trialUsed') : error;
}

/**
 * The licence and the device of a trial, by the key that the device got first: a caller that knows only the host id must not
 * learn a reissued key. Throws ApiError `trialUsed` if the trial or that key has ended, or the licence is no trial any more.
 */
async function running(
  context: Context,
  { productId, hostId }: Input,
  { key, licenseId }: { readonly key: LicenseKey; readonly licenseId: string },
): Promise<LoadedFacts> {
  const facts = await loadFacts(context, 'activate', { productId, licenseKey: key, hostId }, 'trialUsed');
  const { license } = facts;
  const isOver = license.id !== licenseId || !license.isTrial || decide('activate', facts).refusal !== null;
  if (isOver) throw apiError('trialUsed');
  return facts;
}
