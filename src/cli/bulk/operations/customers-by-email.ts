import { NotFoundError } from '../../failure/errors.ts';
import { findCustomerByEmail } from '../../request/look-ups.ts';
import type { Body } from '../operation.ts';
import type { Need, Preparation } from '../preparation.ts';
import { isObject } from '../reading/columns.ts';

/** The new customer of a body, where it has an e-mail address: such a customer may be there already. */
export function namedByEmail({ newCustomer }: Body): { readonly email: string; readonly name?: unknown } | null {
  if (!isObject(newCustomer) || typeof newCustomer.email !== 'string') return null;
  return { ...newCustomer, email: newCustomer.email };
}

/** A body whose customer is named by an e-mail address in the place of an id: no id has an `@`. */
export function addressOutOfId(body: Body): Body {
  const { customerId, newCustomer, ...others } = body;
  const isAddress = typeof customerId === 'string' && customerId.includes('@');
  if (!isAddress || namedByEmail(body) !== null) return body;
  return { ...others, newCustomer: { ...(isObject(newCustomer) && newCustomer), email: customerId } };
}

/** Customers of keys, who are found by their e-mail addresses, and made where they are not there. */
export const customersByEmail: Preparation = {
  needsOf(body) {
    const named = namedByEmail(body);
    if (named === null) return [];
    const { email, name } = named;
    const need: Need = {
      kind: 'customer',
      name: email.toLowerCase(),
      input: typeof name === 'string' ? { name, email } : null,
      lacks: `customerName is missing: no customer has the address ${email}`,
    };
    return [need];
  },

  async find(client, { name }) {
    try {
      return (await findCustomerByEmail(client, name)).id;
    } catch (error) {
      if (error instanceof NotFoundError) return null;
      throw error;
    }
  },

  async make(client, { input }, call) {
    const { name = '', email = '' } = input ?? {};
    return (await client.customers.create({ name, email }, call)).id;
  },

  fill: ({ newCustomer: _, ...others }, customerId) => ({ ...others, customerId }),
};
