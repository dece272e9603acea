import type { Contract } from '../contract/index.ts';
import { auditOperations } from './audit.ts';
import { customerLinkOperations } from './customer-pages.ts';
import { customerOperations } from './customers.ts';
import { deviceListOperations, deviceOperations } from './devices.ts';
import { eventOperations } from './events.ts';
import { changeOperations } from './keys/changes.ts';
import { importOperations } from './keys/import.ts';
import { keyOperations } from './keys/keys.ts';
import { customerKeyOperations, listOperations } from './keys/lists.ts';
import { trialOperations } from './keys/trials.ts';
import { revocationOperations } from './license-files.ts';
import type { Operations } from './operation.ts';
import { planOperations } from './plans.ts';
import { productOperations } from './products.ts';
import { searchOperations } from './search.ts';
import { keySessionOperations, sessionOperations } from './sessions.ts';
import { signingKeyOperations } from './signing-keys.ts';
import { statsOperations } from './stats.ts';
import { tokenOperations } from './tokens.ts';
import { deliveryOperations } from './webhooks/deliveries.ts';
import { webhookOperations } from './webhooks/webhooks.ts';

/** The operation of each endpoint, by resource and name as in the contract. */
export const operations: { readonly [R in keyof Contract]: Operations<Contract[R]> } = {
  keys: {
    ...keyOperations,
    ...listOperations,
    ...deviceOperations,
    ...keySessionOperations,
    ...changeOperations,
    ...importOperations,
    ...trialOperations,
  },
  devices: deviceListOperations,
  sessions: sessionOperations,
  customers: { ...customerOperations, ...customerLinkOperations, ...customerKeyOperations },
  products: productOperations,
  plans: planOperations,
  tokens: tokenOperations,
  signingKeys: signingKeyOperations,
  revocations: revocationOperations,
  events: eventOperations,
  audit: auditOperations,
  webhooks: { ...webhookOperations, ...deliveryOperations },
  stats: statsOperations,
  search: searchOperations,
};
