import type { Client } from '../../client/client.ts';
import { listAll } from '../../client/lists.ts';
import type { Customer } from '../../contract/customers.ts';
import type { CommandContext } from '../context.ts';
import { NotFoundError } from '../failure/errors.ts';

/** The customer with an e-mail address, in any case. Throws `NotFoundError`. */
export async function findCustomerByEmail(client: Client, email: string): Promise<Customer> {
  const wanted = email.toLowerCase();
  for await (const customer of listAll(client.customers.list, { email })) {
    if (customer.email?.toLowerCase() === wanted) return customer;
  }
  throw new NotFoundError('there is no customer with this e-mail address', [['See them:', 'lkm customers list']]);
}

/** Some values of a command with ids in the place of the e-mail addresses that name customers. */
export async function withCustomerIds(
  values: Readonly<Record<string, unknown>>,
  names: readonly string[],
  { client }: Pick<CommandContext, 'client'>,
): Promise<Readonly<Record<string, unknown>>> {
  const ids: Record<string, string> = {};
  for (const name of names) ids[name] = (await findCustomerByEmail(await client(), String(values[name]))).id;
  return { ...values, ...ids };
}
