import type { InputOf } from '../../contract/endpoint.ts';
import type { customerKeys, keyLists } from '../../contract/keys/lists.ts';
import type { Instant } from '../../contract/scalars.ts';
import { findableBy, productsOf } from '../../domain/access.ts';
import { newId } from '../../domain/ids.ts';
import { canonicalKey } from '../../domain/license-key.ts';
import { addDuration, EPOCH } from '../../domain/time.ts';
import type { KeyFilters } from '../../store/tables/keys/lists.ts';
import type { Context } from '../context.ts';
import { findCustomer } from '../customers.ts';
import { type PageInput, readPage, readPart } from '../lists.ts';
import { anyone, type Operations } from '../operation.ts';
import { showListed } from './show.ts';

/** A token that is limited to some products gets the keys of these products only. */
export const listOperations: Operations<typeof keyLists> = {
  list: {
    authorize: anyone,
    async perform(context, input) {
      const { repositories, caller } = context;
      const filters = filtersOf(context, input);
      // Only a request with `page` counts the keys.
      if (input.page !== undefined) return pageOf(context, filters, input);
      const { items, meta } = await readPart(input, (page) =>
        repositories.keyLists.page(caller.accountId, filters, page),
      );
      return { items: await showListed(context, items), meta };
    },
  },
};

export const customerKeyOperations: Operations<typeof customerKeys> = {
  keys: {
    authorize: anyone,
    async perform(context, { customerId, ...page }) {
      await findCustomer(context, { customerId });
      return pageOf(context, { productIds: productsOf(context.caller, undefined), customerId }, page);
    },
  },
};

async function pageOf(context: Context, filters: KeyFilters, page: PageInput) {
  const { keyLists } = context.repositories;
  const { accountId } = context.caller;
  const { items, meta } = await readPage(page, {
    part: (range) => keyLists.page(accountId, filters, range),
    count: () => keyLists.count(accountId, filters),
  });
  return { items: await showListed(context, items), meta };
}

const MONTH = { days: 30 };

function filtersOf({ caller, now }: Context, input: InputOf<typeof keyLists.list>): KeyFilters {
  const { status, within = MONTH, text, metadata } = input;
  return {
    productIds: productsOf(caller, input.productId),
    customerId: input.customerId,
    planId: input.planId,
    status: status && { is: status, now, until: addDuration(now, within) },
    trial: input.trial,
    licenseTypes: input.licenseType,
    fromId: input.createdAfter && firstIdOf(input.createdAfter),
    beforeId: input.createdBefore && firstIdOf(input.createdBefore),
    unseenSince: input.unseenSince,
    expiresFrom: input.expiresAfter,
    expiresBefore: input.expiresBefore,
    text: text === undefined ? undefined : { text, key: canonicalKey(text.trim()), ...findableBy(caller) },
    metadata: metadata && Object.entries(metadata),
  };
}

/** The smallest id that a licence created at this instant can have. */
const firstIdOf = (instant: Instant): string => (instant < EPOCH ? '' : newId('lic', instant, new Uint8Array(10)));
