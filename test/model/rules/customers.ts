import type { Operation } from '../operations.ts';
import { type Customer, done, type Model, pick, type Refusal, type Step } from '../state.ts';
import { refusals } from './use.ts';

/** Creates a customer. */
export function createCustomer(model: Model, op: Operation<'createCustomer'>): Step | null {
  const { name } = model;
  const email = emailOf(model, op.email);
  return {
    method: 'POST',
    path: '/customer',
    body: { name, email: email ?? undefined },
    touched: () => [],
    predict: () =>
      refuseEmail(model, email) ??
      done(
        { status: true, data: { name, email, active: true } },
        ({ data }) => void addCustomer(model, data.id, email),
        201,
      ),
  };
}

/** Changes a customer. */
export function updateCustomer(model: Model, op: Operation<'updateCustomer'>): Step | null {
  const customer = pick(model.customers, op.customer);
  if (customer === undefined) return null;
  const email = emailOf(model, op.email);
  const body = { ...(op.active !== null && { active: op.active }), ...(email !== null && { email }) };
  return {
    method: 'PUT',
    path: `/customer/by-id?${new URLSearchParams({ customerId: customer.id })}`,
    body,
    touched: () => model.keys.filter((key) => key.customer === customer),
    predict: () => {
      if (Object.keys(body).length === 0) return refusals.invalid;
      if (customer.isDeleted) return refusals.customerNotFound;
      const shown = { id: customer.id, name: customer.name, ...body };
      return (
        refuseEmail(model, email, customer) ??
        done({ status: true, data: shown }, () => void Object.assign(customer, body))
      );
    },
  };
}

/** Deletes a customer; its keys stay, without one, and stopped where that one was not active. */
export function deleteCustomer(model: Model, op: Operation<'deleteCustomer'>): Step | null {
  const customer = pick(model.customers, op.customer);
  if (customer === undefined) return null;
  const had = model.keys.filter((key) => key.customer === customer);
  return {
    method: 'DELETE',
    path: `/customer/by-id?${new URLSearchParams({ customerId: customer.id })}`,
    touched: () => had,
    predict: () => {
      if (customer.isDeleted) return refusals.customerNotFound;
      return done({ status: true }, () => {
        customer.isDeleted = true;
        for (const key of model.keys.filter(({ customer: owner }) => owner === customer))
          Object.assign(key, { customer: null, change: 'devices', isBlocked: key.isBlocked || !customer.active });
      });
    },
  };
}

/** Makes a product active or inactive. */
export function setProduct(model: Model, { product: number, active }: Operation<'setProduct'>): Step | null {
  const product = pick(model.products, number);
  if (product === undefined) return null;
  return {
    method: 'PUT',
    path: `/product/by-id?${new URLSearchParams({ productId: product.id })}`,
    body: { active },
    touched: () => [],
    predict: () =>
      done({ status: true, data: { id: product.id, active } }, () => {
        product.active = active;
      }),
  };
}

/** The customer that an operation gives a key to: nobody, one that is there or was, or a new one. */
export function givenCustomer(model: Model, { customer }: Operation<'create' | 'transfer'>) {
  const given = customer.kind === 'given' ? (pick(model.customers, customer.number) ?? null) : null;
  const email = customer.kind === 'new' ? emailOf(model, customer.email) : null;
  const isNew = customer.kind === 'new';
  return {
    fields: isNew
      ? { newCustomer: { name: model.name, email: email ?? undefined } }
      : { customerId: given?.id ?? null },
    refuse: (): Refusal | null => {
      if (given?.isDeleted) return refusals.customerNotFound;
      return isNew ? refuseEmail(model, email) : null;
    },
    take: (): Customer | null => (isNew ? addCustomer(model, '', email) : given),
    isNew,
  };
}

/** Adds an active customer. */
function addCustomer(model: Model, id: string, email: string | null): Customer {
  const customer = { id, name: model.name, email, active: true, isDeleted: false, links: [] };
  model.customers.push(customer);
  return customer;
}

/** One of a few addresses, two of which differ in case alone. */
const emailOf = ({ name }: Model, number: number | null): string | null =>
  number === null ? null : `${['ada', 'Ada', 'bob'][number]}@${name}.example`;

/** Whether another customer has the address, compared without case. */
function refuseEmail({ customers }: Model, email: string | null, except?: Customer): Refusal | null {
  const others = customers.filter((other) => other !== except && !other.isDeleted);
  const isTaken = email !== null && others.some((other) => other.email?.toLowerCase() === email.toLowerCase());
  return isTaken ? refusals.emailTaken : null;
}
