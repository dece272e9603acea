import type { Customer } from '../contract/customers.ts';
import type { InputOf, PayloadOf } from '../contract/endpoint.ts';
import { apiError } from '../contract/errors.ts';
import type { Contract } from '../contract/index.ts';
import { newId } from '../domain/ids.ts';
import type { Context } from './context.ts';

type Customers = Contract['customers'];

/** Lists all customers of the account. */
export function listCustomers({ repositories, caller }: Context): Promise<PayloadOf<Customers['list']>> {
  return Array.fromAsync(repositories.customers.listAll(caller.accountId));
}

/** Creates a customer. */
export function createCustomer(
  context: Context,
  input: InputOf<Customers['create']>,
): Promise<PayloadOf<Customers['create']>> {
  return addCustomer(context, input);
}

/** Removes a customer for ever; its keys stay, without a customer. */
export async function deleteCustomer(
  { repositories, caller, now }: Context,
  { customerId }: InputOf<Customers['delete']>,
): Promise<void> {
  if (!(await repositories.customers.remove(caller.accountId, customerId, now))) {
    throw apiError('customerNotFound', { customerId });
  }
}

/** Adds a customer, alone or together with a key. */
export async function addCustomer(
  { repositories, caller, now, random }: Context,
  { name, email }: { name: string; email?: string | undefined },
): Promise<Customer> {
  const customer = { id: newId('cus', now, random(10)), name, email: email ?? null };
  const added = await repositories.customers.insert({ accountId: caller.accountId, ...customer, now });
  if (!added && email !== undefined) throw apiError('emailTaken', { email });
  return { ...customer, active: true, createdAt: now, updatedAt: now, createdBy: caller.accountId };
}
