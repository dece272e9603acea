import type { Operation } from '../operations.ts';
import { type Answered, type Customer, type Model, pick, type Step } from '../state.ts';
import { refusals } from './use.ts';

/** Creates a customer. */
export function createCustomer(model: Model, op: Operation<'createCustomer'>): Step | null {
  const email = emailOf(model, op.email);
  return {
    request: { method: 'POST', path: '/customer', body: { name: model.name, ...(email !== null && { email }) } },
    touched: () => [],
    predict: () => {
      if (isTaken(model, email)) return refusals.emailTaken;
      return {
        status: 201,
        body: { status: true, code: 0, data: { name: model.name, email, active: true } },
        apply: ({ data }: Answered) => void addCustomer(model, { id: data.id, name: model.name, email }),
      };
    },
  };
}

/** Changes a customer. */
export function updateCustomer(model: Model, op: Operation<'updateCustomer'>): Step | null {
  const customer = pick(model.customers, op.customer);
  if (customer === undefined) return null;
  const email = op.email === null ? undefined : emailOf(model, op.email);
  const body = { ...(op.active !== null && { active: op.active }), ...(email !== undefined && { email }) };
  return {
    request: {
      method: 'PUT',
      path: `/customer/by-id?${new URLSearchParams({ customerId: customer.id })}`,
      body,
    },
    touched: () => model.keys.filter((key) => key.customer === customer),
    predict: () => {
      if (Object.keys(body).length === 0) return refusals.invalid;
      if (customer.isDeleted) return refusals.customerNotFound;
      if (email !== undefined && isTaken(model, email, customer)) return refusals.emailTaken;
      return {
        status: 200,
        body: { status: true, code: 0, data: { id: customer.id, name: customer.name, ...body } },
        apply: () => void Object.assign(customer, body),
      };
    },
  };
}

/** Deletes a customer; its keys stay, without one. */
export function deleteCustomer(model: Model, op: Operation<'deleteCustomer'>): Step | null {
  const customer = pick(model.customers, op.customer);
  if (customer === undefined) return null;
  const had = model.keys.filter((key) => key.customer === customer);
  return {
    request: { method: 'DELETE', path: `/customer/by-id?${new URLSearchParams({ customerId: customer.id })}` },
    touched: () => had,
    predict: () => {
      if (customer.isDeleted) return refusals.customerNotFound;
      return {
        status: 200,
        body: { status: true, code: 0 },
        apply: () => {
          customer.isDeleted = true;
          for (const key of model.keys.filter(({ customer: owner }) => owner === customer))
            Object.assign(key, { customer: null, change: 'devices' });
        },
      };
    },
  };
}

/** Adds an active customer. */
export function addCustomer(model: Model, { id, name, email }: Pick<Customer, 'id' | 'name' | 'email'>): Customer {
  const customer = { id, name, email, active: true, isDeleted: false };
  model.customers.push(customer);
  return customer;
}

/** One of a few addresses, two of which differ in case alone. */
export function emailOf({ name }: Model, number: number | null): string | null {
  if (number === null) return null;
  return `${['ada', 'Ada', 'bob'][number]}@${name}.example`;
}

/** Whether another customer has the address, compared without case. */
export const isTaken = ({ customers }: Model, email: string | null, except?: Customer): boolean =>
  customers.some(
    (other) =>
      other !== except && !other.isDeleted && email !== null && other.email?.toLowerCase() === email.toLowerCase(),
  );
