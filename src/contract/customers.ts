import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { changing, flagField, pageFields, SearchText } from './fields.ts';
import { examples } from './openapi/examples.ts';
import { acted, actedList, done } from './reply.ts';
import { CustomerId, Email, IfUpdatedAt, InstantText, Name } from './scalars.ts';

/** A customer to be created: with a key or on its own. */
export const NewCustomer = z
  .object({ name: Name, email: Email.optional() })
  .meta({ id: 'NewCustomer', description: 'A customer to be created' });

/** A customer as the list shows it. Source: API description, "Customer". */
export const Customer = z
  .looseObject({
    id: z.string().meta({ description: 'Identifier of the customer', examples: [examples.customer.id] }),
    name: z.string().meta({ examples: [examples.customer.name] }),
    email: z
      .string()
      .nullable()
      .meta({ description: 'Unique in the account', examples: [examples.customer.email] }),
    active: z.boolean().describe('Whether its keys may be used'),
    createdAt: InstantText,
    updatedAt: InstantText,
    createdBy: z
      .string()
      .meta({ description: 'The account that created the customer', examples: [examples.accountId] }),
  })
  .meta({ id: 'Customer', description: 'A buyer or lessee of licences' });
export type Customer = z.output<typeof Customer>;

/** The customer inside a licence lookup. Source: API description, "Customer". */
export const CustomerSummary = Customer.pick({ id: true, name: true, email: true, active: true }).meta({
  id: 'CustomerSummary',
  description: 'The customer of a licence',
});

const byId = z.object({ customerId: CustomerId });

/** The operations on customers. */
export const customers = {
  /** Lists the customers of the account, oldest first; all of them unless a page is asked for. */
  list: endpoint({
    summary: 'List customers',
    description:
      'Lists the customers of the account, oldest first. Without `page` and `limit` the list is complete; with one ' +
      'of them it is one page, and `meta` says where that stands. The filters narrow both down.',
    method: 'GET',
    path: '/customer',
    scope: 'customer:read',
    query: z.object({
      ...pageFields,
      email: SearchText.optional().describe('Only customers whose e-mail address contains this, compared without case'),
      text: SearchText.optional().describe(
        'Only customers with a word in the name or the e-mail address that begins with this, compared without case. ' +
          'Several words have to follow each other',
      ),
      active: flagField().optional().describe('Only customers that are active, or only those that are not'),
    }),
    reply: actedList('ListCustomersResponse', 'customers.list', Customer),
    example: { query: { page: '1', active: 'true' }, reply: { items: [examples.customer], meta: examples.page } },
    errors: [],
    source: 'API description, GET /customer; pages and filters: decision 0022',
  }),

  /** Creates a customer. */
  create: endpoint({
    summary: 'Create a customer',
    description: 'Creates an active customer. E-mail addresses are unique in the account.',
    method: 'POST',
    path: '/customer',
    scope: 'customer:write',
    body: NewCustomer,
    reply: acted('CreateCustomerResponse', 'customers.create', Customer, 201),
    example: { body: { name: 'Ada Ltd', email: 'it@ada.example' }, reply: examples.customer },
    errors: ['emailTaken'],
    source: 'decision 0005',
  }),

  /** Shows one customer. */
  get: endpoint({
    summary: 'Show a customer',
    description: 'Shows one customer.',
    method: 'GET',
    path: '/customer/by-id',
    scope: 'customer:read',
    query: byId,
    reply: acted('GetCustomerResponse', 'customers.get', Customer),
    example: { query: { customerId: examples.customer.id }, reply: examples.customer },
    errors: ['customerNotFound'],
    source: 'decision 0005',
  }),

  /** Renames a customer, changes its e-mail address, or makes it active or inactive. */
  update: endpoint({
    summary: 'Update a customer',
    description:
      'Renames a customer, changes or removes its e-mail address, or makes it active or inactive. The keys of an ' +
      'inactive customer cannot be activated, signed or checked out. What is not given stays as it is. With ' +
      '`ifUpdatedAt` nothing is changed when somebody else has changed the customer since.',
    method: 'PUT',
    path: '/customer/by-id',
    scope: 'customer:write',
    query: byId,
    body: changing('UpdateCustomerRequest', ['name', 'email', 'active'], {
      name: Name.optional(),
      email: Email.nullish().describe('null removes it'),
      active: z.boolean().optional().describe('Whether its keys may be used'),
      ifUpdatedAt: IfUpdatedAt,
    }),
    reply: acted('UpdateCustomerResponse', 'customers.update', Customer),
    example: {
      query: { customerId: examples.customer.id },
      body: { email: null, ifUpdatedAt: examples.customer.updatedAt },
      reply: { ...examples.customer, email: null },
    },
    errors: ['customerNotFound', 'emailTaken', 'stale'],
    source: 'decision 0005',
  }),

  /** Removes a customer for ever; its keys stay, without a customer. */
  delete: endpoint({
    summary: 'Delete a customer for ever',
    description:
      'Deletes a customer. Its licence keys stay valid, without a customer; those of an ' +
      'inactive customer are blocked, so that they stay stopped. This cannot be undone.',
    method: 'DELETE',
    path: '/customer/by-id',
    scope: 'customer:delete',
    query: byId,
    reply: done('DeleteCustomerResponse', 'customers.delete'),
    example: { query: { customerId: examples.customer.id }, reply: undefined },
    errors: ['customerNotFound'],
    source: 'API description, DELETE /customer/by-id',
  }),
};
