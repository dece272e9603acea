import type { Customer } from '../contract/customers.ts';
import type { InputOf } from '../contract/endpoint.ts';
import { apiError } from '../contract/errors.ts';
import type { Contract } from '../contract/index.ts';
import { normaliseEmail, searchedEmail } from '../domain/email.ts';
import { newId } from '../domain/ids.ts';
import type { Context } from './context.ts';
import { readList } from './lists.ts';
import { anyone, type Operations, ofWholeAccount, orThrow, replayToAnyone } from './operation.ts';
import { eventOf, rightsRefusal } from './record.ts';
import { refuseStale, writeChanges } from './write-changes.ts';

/** Refuses a caller that is limited to products: since the first request, the customer may have got keys of other products. */
async function refuseLimitedCaller(
  { caller }: Context,
  { customerId }: { readonly customerId: string },
): Promise<void> {
  if (caller.productIds !== null) throw apiError('customerNotFound', { customerId });
}

/** A token that is limited to products sees the customers that have keys of these products. */
export const customerOperations: Operations<Omit<Contract['customers'], 'keys' | 'link' | 'unlink'>> = {
  list: {
    authorize: anyone,
    async perform(
      { repositories: { customers }, caller: { accountId, productIds } },
      { page, limit, email, ...given },
    ) {
      const filters = { ...given, email: email && searchedEmail(email), productIds: productIds ?? undefined };
      return readList({ page, limit }, customers.list(accountId, filters));
    },
  },

  create: {
    // A token that is limited to products would not see a customer without keys. It creates customers by `newCustomer` of a key.
    ...replayToAnyone(ofWholeAccount),
    perform: addCustomer,
  },

  get: {
    authorize: anyone,
    perform: findCustomer,
  },

  update: {
    authorize: anyone,
    authorizeReplay: refuseLimitedCaller,
    async perform(context, { customerId, name, email, active, ifUpdatedAt }) {
      const { repositories, caller } = context;
      const before = await lockCustomer(context, customerId);
      refuseStale(before, ifUpdatedAt);
      return writeChanges(context, before, {
        given: { name, email: email && normaliseEmail(email), active },
        write: async (changes) => {
          const after = await repositories.customers.patch(caller.accountId, before, changes);
          return orThrow(after, 'emailTaken', email == null ? {} : { email });
        },
        describe: ({ active }, changed) => eventOf('customer.updated', 'customer', customerId, { changed, active }),
      });
    },
  },

  /**
   * The keys of the customer stay, without a customer. Keys of an inactive customer are disabled, since only the state of the
   * customer stopped them. Source: decision 0005.
   */
  delete: {
    authorize: anyone,
    authorizeReplay: refuseLimitedCaller,
    async perform(context, { customerId }) {
      const { repositories, caller, now, record } = context;
      const { active } = await lockCustomer(context, customerId);
      await repositories.customerLinks.remove(caller.accountId, customerId);
      const keys = (await repositories.customers.remove(caller.accountId, customerId, now)) ?? 0;
      if (!active && keys > 0) await repositories.files.noteBlockings(caller.accountId, now);
      record(eventOf('customer.deleted', 'customer', customerId, { keys, keysBlocked: !active }));
    },
  },
};

/** The customer, if the caller may see it. Throws ApiError `customerNotFound`. */
export async function findCustomer(
  context: Context,
  { customerId }: { readonly customerId: string },
): Promise<Customer> {
  const { repositories, caller } = context;
  const customer = await repositories.customers.find(caller.accountId, customerId);
  return orThrow((await seesCustomer(context, customerId)) ? customer : null, 'customerNotFound', { customerId });
}

/** Whether the caller may see a customer. A caller that is limited to products sees customers with keys of these products. */
export async function seesCustomer({ repositories, caller }: Context, customerId: string): Promise<boolean> {
  const { accountId, productIds } = caller;
  return productIds === null || repositories.customers.isOfProducts(accountId, customerId, productIds);
}

/**
 * Locks and returns a customer. Checks its keys after the lock: a caller that is limited to products must not change a customer
 * that has keys of other products.
 */
async function lockCustomer(context: Context, customerId: string): Promise<Customer> {
  const { repositories, caller } = context;
  const { accountId, productIds } = caller;
  const customer = orThrow(await repositories.customers.lock(accountId, customerId), 'customerNotFound', {
    customerId,
  });
  if (productIds === null) return customer;
  if (!(await seesCustomer(context, customerId))) throw apiError('customerNotFound', { customerId });
  if (await repositories.customers.isOfOthers(accountId, customerId, productIds)) {
    throw rightsRefusal('customer', customerId);
  }
  return customer;
}

export async function addCustomer(
  context: Context,
  { name, email }: InputOf<Contract['customers']['create']>,
): Promise<Customer> {
  const customer = { name, email: email ?? undefined };
  return orThrow(await insertCustomer(context, customer), 'emailTaken', { email: email ?? '' });
}

/**
 * Returns the id of the customer that an input names or creates, locked against removal; null for an input without a
 * customer.
 */
export async function holdOrAddCustomer(
  context: Context,
  { customerId, newCustomer }: Pick<InputOf<Contract['keys']['create']>, 'customerId' | 'newCustomer'>,
): Promise<string | null> {
  if (newCustomer != null) return (await addCustomer(context, newCustomer)).id;
  if (customerId != null) await holdCustomer(context, customerId);
  return customerId ?? null;
}

/** Locks a customer against removal, so that no key goes to a removed customer. Throws ApiError `customerNotFound`. */
export async function holdCustomer(context: Context, customerId: string): Promise<void> {
  const held = await context.repositories.customers.hold(context.caller.accountId, customerId);
  if (!held || !(await seesCustomer(context, customerId))) throw apiError('customerNotFound', { customerId });
}

interface KnownCustomer {
  readonly id?: string | undefined;
  readonly email?: string | undefined;
  readonly name?: string | undefined;
  readonly active?: boolean | undefined;
}

/**
 * The id of the customer with this id, else with this e-mail address, locked against removal; adds a missing customer. Throws
 * ApiError `customerNotFound` without a name to add it by, and for a customer that the caller may not see; `emailTaken` if
 * the e-mail address belongs to such a customer.
 */
export async function findOrAddCustomer(context: Context, customer: KnownCustomer): Promise<string> {
  const known = await holdKnown(context, customer);
  if (known !== null) return known;
  const { id = newId('cus', context.now, context.random(10)), name = customer.email } = customer;
  const added = await insertCustomer(context, {
    ...customer,
    id,
    name: orThrow(name, 'customerNotFound', { customerId: id }),
  });
  // Without success, another request has added it at the same time.
  const there = added?.id ?? (await holdKnown(context, customer));
  if (there === null) throw new Error(`the customer ${id} is neither there nor could be added`);
  return there;
}

/** Finds and locks a customer; null for an unknown customer. Throws for a customer that the caller may not see. */
async function holdKnown(context: Context, { id, email }: KnownCustomer): Promise<string | null> {
  const { customers } = context.repositories;
  const { accountId } = context.caller;
  if (id !== undefined && (await customers.hold(accountId, id))) {
    if (await seesCustomer(context, id)) return id;
    throw apiError('customerNotFound', { customerId: id });
  }
  const other = email === undefined ? null : await customers.findByEmail(accountId, normaliseEmail(email));
  if (email === undefined || other === null || !(await customers.hold(accountId, other))) return null;
  if (await seesCustomer(context, other)) return other;
  throw apiError('emailTaken', { email });
}

/** Null when another customer has the id or the e-mail address. */
async function insertCustomer(
  { repositories, caller, now, random, record }: Context,
  { id = newId('cus', now, random(10)), name, active = true, ...given }: NewCustomer,
): Promise<Customer | null> {
  const { accountId } = caller;
  const email = given.email === undefined ? null : normaliseEmail(given.email);
  if (!(await repositories.customers.insert({ accountId, id, name, email, active, now }))) return null;
  record(eventOf('customer.created', 'customer', id));
  return { id, name, email, active, createdAt: now, updatedAt: now, createdBy: accountId };
}

type NewCustomer = KnownCustomer & { readonly name: string };
