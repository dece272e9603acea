import type { InputOf } from '../../contract/endpoint.ts';
import { apiError } from '../../contract/errors.ts';
import { DEFAULT_PAGE_SIZE } from '../../contract/fields.ts';
import type { customerKeys, keyLists, ListedLicense } from '../../contract/keys/lists.ts';
import type { Instant } from '../../contract/scalars.ts';
import { type Caller, canAccessProduct, findableBy } from '../../domain/access.ts';
import { newId } from '../../domain/ids.ts';
import { isActivated, type License } from '../../domain/license.ts';
import { normaliseKey } from '../../domain/license-key.ts';
import { addDuration } from '../../domain/time.ts';
import type { KeyFilters } from '../../store/tables/keys/lists.ts';
import type { Context, UseCase } from '../context.ts';
import { seesCustomer } from '../customers.ts';
import { anyone, type Operations } from '../operation.ts';
import { type ShownVersion, versionOf } from '../product-versions.ts';
import { showLicense } from './show-license.ts';

/** Lists keys, newest first: a page with its place, or the next part of a walk. */
const listKeys: UseCase<typeof keyLists.list> = async (context, input) => {
  const { repositories, caller } = context;
  const { limit = DEFAULT_PAGE_SIZE, cursor } = input;
  const filters = filtersOf(context, input);
  if (cursor === undefined) return pageOf(context, filters, input);
  // One more than are wanted tells whether there are more.
  const after = cursor === '' ? undefined : cursor;
  const found = await repositories.keyLists.page(caller.accountId, filters, { after, limit: limit + 1 });
  const part = found.slice(0, limit);
  const next = found.length > limit ? (part.at(-1)?.id ?? null) : null;
  return { items: await showListed(context, part), meta: { limit, next } };
};

/** Lists the keys of one customer, newest first. */
const listCustomerKeys: UseCase<typeof customerKeys.keys> = async (context, { customerId, page, limit }) => {
  const { repositories, caller } = context;
  const customer = await repositories.customers.find(caller.accountId, customerId);
  if (customer === null || !(await seesCustomer(context, customerId))) {
    throw apiError('customerNotFound', { customerId });
  }
  return pageOf(context, { productIds: productsOf(caller, undefined), customerId }, { page, limit });
};

/** The licences as the caller may see them in a list. */
export async function showListed(context: Context, licenses: readonly License[]): Promise<ListedLicense[]> {
  const versions = new Map<string | null, ShownVersion | null>();
  for (const license of licenses) {
    if (!versions.has(license.versionId)) versions.set(license.versionId, await versionOf(context, license));
  }
  return licenses.map((license) => {
    const { devices: _, ...shown } = showLicense(license, [], context.caller, versions.get(license.versionId) ?? null);
    return {
      ...shown,
      activations: license.activations,
      activated: isActivated(license),
      customerId: license.customerId,
    };
  });
}

/** The products whose keys are meant: those that the caller may access, or the one that it names; null means all. */
export function productsOf(caller: Caller, named: string | undefined): readonly string[] | null {
  if (named === undefined) return caller.productIds === null ? null : [...caller.productIds];
  return canAccessProduct(caller, named) ? [named] : [];
}

async function pageOf(
  context: Context,
  filters: KeyFilters,
  { page = 1, limit = DEFAULT_PAGE_SIZE }: { readonly page?: number | undefined; readonly limit?: number | undefined },
) {
  const { repositories, caller } = context;
  const [found, total] = await Promise.all([
    repositories.keyLists.page(caller.accountId, filters, { offset: (page - 1) * limit, limit }),
    repositories.keyLists.count(caller.accountId, filters),
  ]);
  return {
    items: await showListed(context, found),
    meta: { total, page, limit, totalPages: Math.ceil(total / limit) },
  };
}

const MONTH = { years: 0, months: 0, weeks: 0, days: 30, hours: 0, minutes: 0, seconds: 0 };

function filtersOf({ caller, now }: Context, input: InputOf<typeof keyLists.list>): KeyFilters {
  const { status, within = MONTH, text, metadata } = input;
  return {
    productIds: productsOf(caller, input.productId),
    customerId: input.customerId,
    status: status && { is: status, now, until: addDuration(now, within) },
    trial: input.trial,
    licenseType: input.licenseType,
    fromId: input.createdAfter && firstIdOf(input.createdAfter),
    beforeId: input.createdBefore && firstIdOf(input.createdBefore),
    expiresFrom: input.expiresAfter,
    expiresBefore: input.expiresBefore,
    text: text === undefined ? undefined : { text, key: normaliseKey(text), ...findableBy(caller) },
    metadata: metadata && Object.entries(metadata),
  };
}

/** No id of a licence that was created at this instant, or later, is before this one. */
const firstIdOf = (instant: Instant): string => (instant < EPOCH ? '' : newId('lic', instant, new Uint8Array(10)));

const EPOCH = '1970-01-01T00:00:00.000Z';

/** The operations that list keys. Those of a token that is limited to some products are the keys of these. */
export const listOperations: Operations<typeof keyLists> = {
  list: { perform: listKeys, authorize: anyone },
};

/** The operations that list the keys of a customer. */
export const customerKeyOperations: Operations<typeof customerKeys> = {
  keys: { perform: listCustomerKeys, authorize: anyone },
};
