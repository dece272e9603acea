import type { Customer, customers } from '../contract/customers.ts';
import { apiError } from '../contract/errors.ts';
import { newId } from '../domain/ids.ts';
import type { Context, UseCase } from './context.ts';
import { readList } from './lists.ts';
import { anyone, type Operations, ofWholeAccount, sameForAll } from './operation.ts';
import { RecordedRefusal } from './record.ts';
import { refuseStale, writeChanges } from './write-changes.ts';

type Customers = typeof customers;

/** Lists the customers of the account that pass the filters. */
const listCustomers: UseCase<Customers['list']> = (
  { repositories: { customers }, caller: { accountId, productIds } },
  { page, limit, ...given },
) => {
  const filters = { ...given, productIds: productIds ?? undefined };
  return readList({ page, limit }, customers.list(accountId, filters));
};

/** Creates a customer. */
const createCustomer: UseCase<Customers['create']> = (context, input) => addCustomer(context, input);

/** Shows one customer. */
const getCustomer: UseCase<Customers['get']> = async (context, { customerId }) => {
  const { repositories, caller } = context;
  const customer = await repositories.customers.find(caller.accountId, customerId);
  if (customer === null || !(await seesCustomer(context, customerId)))
    throw apiError('customerNotFound', { customerId });
  return customer;
};

/** Changes what is given of a customer. Without a difference it is the same customer, and no event: the audit log alone has it. */
const updateCustomer: UseCase<Customers['update']> = async (
  context,
  { customerId, name, email, active, ifUpdatedAt },
) => {
  const { repositories, caller } = context;
  const before = await lockCustomer(context, customerId);
  refuseStale(before, ifUpdatedAt);
  const changes = { name, email, active };
  return writeChanges(context, before, changes, {
    type: 'customer.updated',
    resource: { type: 'customer', id: customerId },
    factsOf: ({ active }) => ({ active }),
    write: async (updatedAt) => {
      const after = await repositories.customers.patch(caller.accountId, before, { ...changes, updatedAt });
      if (after === null) throw apiError('emailTaken', email == null ? {} : { email });
      return after;
    },
  });
};

/**
 * Removes a customer for ever; its keys stay, without a customer. Those of an inactive customer stay stopped: they are
 * disabled, as nobody is left whose state would stop them. Source: decision 0015.
 */
const deleteCustomer: UseCase<Customers['delete']> = async (context, { customerId }) => {
  const { repositories, caller, now, record } = context;
  const { active } = await lockCustomer(context, customerId);
  const keys = (await repositories.customers.remove(caller.accountId, customerId, now)) ?? 0;
  if (!active && keys > 0) await repositories.files.noteBlockings(caller.accountId, now);
  const data = { keys, keysBlocked: !active };
  record({ type: 'customer.deleted', resource: { type: 'customer', id: customerId }, data });
};

/** Whether the caller learns of a customer: one that is limited to products, if the customer has a key of one of them. */
export async function seesCustomer({ repositories, caller }: Context, customerId: string): Promise<boolean> {
  const { accountId, productIds } = caller;
  return productIds === null || repositories.customers.isOfProducts(accountId, customerId, productIds);
}

/**
 * The customer, who gets no key and is not changed until this transaction ends. Looks at the keys behind the lock: a caller
 * that is limited to products must not change what keys of others belong to.
 */
async function lockCustomer(context: Context, customerId: string): Promise<Customer> {
  const { repositories, caller } = context;
  const { accountId, productIds } = caller;
  const customer = await repositories.customers.lock(accountId, customerId);
  if (customer === null) throw apiError('customerNotFound', { customerId });
  if (productIds === null) return customer;
  if (!(await seesCustomer(context, customerId))) throw apiError('customerNotFound', { customerId });
  if (await repositories.customers.isOfOthers(accountId, customerId, productIds)) {
    throw new RecordedRefusal('scopeMissing', { resource: { type: 'customer', id: customerId } });
  }
  return customer;
}

/** Adds a customer, alone or together with a key. */
export async function addCustomer(
  { repositories, caller, now, random, record }: Context,
  { name, email }: { name: string; email?: string | undefined },
): Promise<Customer> {
  const customer = { id: newId('cus', now, random(10)), name, email: email ?? null, active: true };
  const added = await repositories.customers.insert({ accountId: caller.accountId, ...customer, now });
  if (!added && email !== undefined) throw apiError('emailTaken', { email });
  record({ type: 'customer.created', resource: { type: 'customer', id: customer.id } });
  return { ...customer, createdAt: now, updatedAt: now, createdBy: caller.accountId };
}

/** A customer that may be there already. */
interface KnownCustomer {
  readonly id?: string | undefined;
  readonly email?: string | undefined;
  readonly name?: string | undefined;
  readonly active?: boolean | undefined;
}

/**
 * The id of the customer of this id, else of this e-mail address, who stays until this transaction ends; one that is not
 * there is added. Throws ApiError `customerNotFound` when there is nothing to call it by, and for one that the caller does
 * not learn of; `emailTaken` when that is the one of the e-mail address.
 */
export async function findOrAddCustomer(context: Context, customer: KnownCustomer): Promise<string> {
  const { repositories, caller, now, random, record } = context;
  const found = await findCustomer(context, customer);
  if (found !== null) return seen(context, found, customer);
  const { id = newId('cus', now, random(10)), email = null, active = true } = customer;
  const name = customer.name ?? email;
  if (name === null) throw apiError('customerNotFound', { customerId: id });
  const { accountId } = caller;
  if (await repositories.customers.insert({ accountId, id, name, email, active, now })) {
    record({ type: 'customer.created', resource: { type: 'customer', id } });
    return id;
  }
  // Another request has added it at the same time.
  const other = await findCustomer(context, customer);
  if (other === null) throw new Error(`the customer ${id} is neither there nor could be added`);
  return seen(context, other, customer);
}

/** The id again. A key would make the customer one of the caller's own. */
async function seen(context: Context, customerId: string, { id, email }: KnownCustomer): Promise<string> {
  if (await seesCustomer(context, customerId)) return customerId;
  throw customerId === id || email === undefined
    ? apiError('customerNotFound', { customerId })
    : apiError('emailTaken', { email });
}

async function findCustomer({ repositories, caller }: Context, { id, email }: KnownCustomer): Promise<string | null> {
  const { customers } = repositories;
  if (id !== undefined && (await customers.hold(caller.accountId, id))) return id;
  const other = email === undefined ? null : await customers.findByEmail(caller.accountId, email);
  return other !== null && (await customers.hold(caller.accountId, other)) ? other : null;
}

/** A caller that is limited to some products cannot change, or no longer, what other keys belong to. */
async function ofAllProducts({ caller }: Context, { customerId }: { readonly customerId: string }): Promise<void> {
  if (caller.productIds !== null) throw apiError('customerNotFound', { customerId });
}

/** The operations on customers. Those of a token that is limited to some products are the customers that have keys of these. */
export const customerOperations: Operations<typeof customers> = {
  list: { perform: listCustomers, authorize: anyone },
  create: {
    perform: createCustomer,
    // Without a key, its maker would not see it: it comes with its first key, as `newCustomer`.
    authorize: ofWholeAccount,
    authorizeReplay: sameForAll,
  },
  get: { perform: getCustomer, authorize: anyone },
  update: { perform: updateCustomer, authorize: anyone, authorizeReplay: ofAllProducts },
  delete: { perform: deleteCustomer, authorize: anyone, authorizeReplay: ofAllProducts },
};
