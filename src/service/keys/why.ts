import type { Contract } from '../../contract/index.ts';
import { decide } from '../../domain/rules.ts';
import type { UseCase } from '../context.ts';
import { loadFacts } from '../rules.ts';

type Why = Contract['keys']['why'];

/** Says whether something could be done with a key, and what every rule found. Changes nothing. */
export const explainKey: UseCase<Why> = async (
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
