import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { acted, done } from './reply.ts';
import { CustomerId, Email, InstantText, Name } from './scalars.ts';

/** A customer to be created: with a key or on its own. */
export const NewCustomer = z
  .object({
    name: Name,
    email: Email.optional().describe('Unique in the account, compared without case'),
  })
  .meta({ id: 'NewCustomer' });

/** A customer as the list shows it. Source: API description, "Customer". */
export const Customer = z
  .looseObject({
    id: z.string(),
    name: z.string(),
    email: z.string().nullable(),
    active: z.boolean(),
    createdAt: InstantText,
    updatedAt: InstantText,
    createdBy: z.string().describe('The account that created the customer'),
  })
  .meta({ id: 'Customer' });
export type Customer = z.output<typeof Customer>;

/** The customer inside a licence lookup. Source: API description, "Customer". */
export const CustomerSummary = Customer.pick({ id: true, name: true, email: true, active: true }).meta({
  id: 'CustomerSummary',
});

export const customers = {
  /** Lists all customers of the account, oldest first. */
  list: endpoint({
    summary: 'List all customers',
    method: 'GET',
    path: '/customer',
    scope: 'customer:read',
    reply: acted('customers.list', z.array(Customer)),
    errors: [],
    source: 'API description, GET /customer',
  }),

  /** Creates a customer. */
  create: endpoint({
    summary: 'Create a customer',
    method: 'POST',
    path: '/customer',
    scope: 'customer:write',
    body: NewCustomer,
    reply: acted('customers.create', Customer, 201),
    errors: ['emailTaken'],
    source: 'decision 0005',
  }),

  /** Removes a customer for ever; its keys stay, without a customer. */
  delete: endpoint({
    summary: 'Delete a customer for ever',
    method: 'DELETE',
    path: '/customer/by-id',
    scope: 'customer:delete',
    query: z.object({ customerId: CustomerId }),
    reply: done('customers.delete'),
    errors: ['customerNotFound'],
    source: 'API description, DELETE /customer/by-id',
  }),
};
