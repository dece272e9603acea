import type { keyWhy } from '../../contract/keys/why.ts';
import { seesWholeLicense } from '../../domain/access.ts';
import { decide } from '../../domain/rules.ts';
import type { UseCase } from '../context.ts';
import { type Operations, onProduct } from '../operation.ts';
import { loadFacts } from '../rules.ts';

type Why = (typeof keyWhy)['why'];

/** Says whether something could be done with a key, and what every rule found. Changes nothing. */
const explainKey: UseCase<Why> = async (
  context,
  { productId, licenseKey, hostId, action = 'activate', at = context.now },
) => {
  const facts = await loadFacts(context, action, {
    productId,
    licenseKey,
    hostId: hostId ?? null,
    at,
  });
  const { rules, refusal } = decide(action, facts);
  return { allowed: refusal === null, action, at, rules: [...rules] };
};

/** The operations that explain. */
export const whyOperations: Operations<typeof keyWhy> = {
  why: {
    perform: explainKey,
    // Only what it could learn by asking for its own device.
    authorize: (caller, input) =>
      onProduct('licenseNotFound')(caller, input) ??
      (input.hostId !== undefined || seesWholeLicense(caller) ? null : 'invalidParams'),
  },
};
