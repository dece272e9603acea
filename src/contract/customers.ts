import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { changing, flagField, pageFields, request, SearchText, secondsField } from './fields.ts';
import { acted, data, done, listReply } from './reply.ts';
import {
  AccountId,
  Active,
  CustomerId,
  Email,
  EndText,
  IfUpdatedAt,
  InstantText,
  Name,
  resource,
  shown,
  shownId,
} from './scalars.ts';

export const NewCustomer = request('NewCustomer', { name: Name, email: Email.nullish() }).describe(
  'A customer to be created',
);

/** A customer as the list shows it. Source: API description, "Customer". */
export const Customer = resource('Customer', 'A buyer or lessee of licences', {
  id: shownId(CustomerId),
  name: shown('Its name', 'Ada Ltd'),
  email: z
    .string()
    .nullable()
    .meta({ description: 'Unique in the account', examples: ['it@ada.example'] }),
  active: Active.describe('Whether its keys may be used'),
  createdAt: InstantText,
  updatedAt: InstantText,
  createdBy: shownId(AccountId).describe('The account that created the customer'),
});
export type Customer = z.output<typeof Customer>;

/** The customer inside a licence lookup. Source: API description, "Customer". */
export const CustomerSummary = Customer.pick({ id: true, name: true, email: true, active: true }).meta({
  id: 'CustomerSummary',
  description: 'The customer of a licence',
});

/** A link to the page of a customer. */
const CustomerLink = resource('CustomerLink', 'A link to the page of a customer', {
  url: shown('The address of the page; it is not shown again', 'https://licences.example.com/my/4n0r7t…'),
  expiresAt: EndText.describe('When the link expires'),
});

const byId = z.object({ customerId: CustomerId });

const changes = {
  name: Name.optional(),
  email: Email.nullish().describe('null removes it'),
  active: Active.optional().describe('Whether its keys may be used'),
};

export const customers = {
  /** Lists the customers of the account, oldest first. Source: API description, GET /customer; decision 0005. */
  list: endpoint('GET /customer', 'customer:read', {
    summary: 'List customers',
    description:
      'Lists the customers of the account, oldest first: all of them, or one page. Filters narrow both down.',
    query: z.object({
      ...pageFields,
      email: SearchText.optional().describe('Only customers whose e-mail address contains this, compared without case'),
      text: SearchText.optional().describe(
        'Only customers with these words, or parts of words, one after the other in the name or the e-mail address',
      ),
      active: flagField().optional().describe('Only customers that are active, or only those that are not'),
    }),
    readsMany: true,
    reply: listReply('ListCustomersResponse', 'customers.list', Customer),
    example: { page: '1', active: 'true' },
  }),

  /** Creates a customer. Source: decision 0005. */
  create: endpoint('POST /customer', 'customer:write', {
    summary: 'Create a customer',
    description: 'Creates an active customer. E-mail addresses are unique in the account.',
    body: NewCustomer,
    reply: acted('CreateCustomerResponse', 'customers.create', Customer, { status: 201, message: 'Customer created' }),
    example: { email: 'it@ada.example' },
    errors: ['emailTaken'],
  }),

  /** Shows one customer. Source: decision 0005. */
  get: endpoint('GET /customer/by-id', 'customer:read', {
    summary: 'Show a customer',
    query: byId,
    reply: acted('GetCustomerResponse', 'customers.get', Customer),
    errors: ['customerNotFound'],
  }),

  /** Renames a customer, changes its e-mail address, or makes it active or inactive. Source: decision 0005. */
  update: endpoint('PUT /customer/by-id', 'customer:write', {
    summary: 'Update a customer',
    description: 'Changes what is given. The keys of an inactive customer cannot be activated, signed or checked out.',
    aliases: { 'POST /customer/disable': { active: false }, 'POST /customer/enable': { active: true } },
    query: byId,
    takesQueryInBody: true,
    body: changing('UpdateCustomerRequest', { ...changes, ifUpdatedAt: IfUpdatedAt }, Object.keys(changes)),
    reply: acted('UpdateCustomerResponse', 'customers.update', Customer, { message: 'Customer updated' }),
    example: { email: 'it@ada.example', ifUpdatedAt: '2026-11-21T10:00:00.000Z' },
    errors: ['customerNotFound', 'emailTaken', 'stale'],
  }),

  /** Makes a link to the page on which a customer sees its keys and frees devices. Source: decision 0009. */
  link: endpoint('POST /customer/link', 'customer:write', {
    summary: 'Make a link to the page of a customer',
    description:
      'Makes a link to a page on which the customer sees its keys and their devices, and frees devices. Whoever has the ' +
      'link can do that until it expires. Not for a token that is limited to some products.',
    body: request('CreateCustomerLinkRequest', {
      customerId: CustomerId,
      expiresIn: secondsField(60, 604_800).describe('How long it works, in seconds; 3600 unless given'),
    }),
    reply: data('CreateCustomerLinkResponse', CustomerLink),
    example: { expiresIn: 86_400 },
    errors: ['customerNotFound', 'pageNotServed'],
  }),

  /** Ends the links that a customer was given. Source: decision 0009. */
  unlink: endpoint('DELETE /customer/link', 'customer:write', {
    summary: 'End the links to the page of a customer',
    description: 'Ends all links to the page of a customer. Not for a token that is limited to some products.',
    query: byId,
    reply: done('DeleteCustomerLinkResponse', 'customers.unlink'),
    errors: ['customerNotFound'],
  }),

  /** Removes a customer for ever; its keys stay, without a customer. Source: API description, DELETE /customer/by-id. */
  delete: endpoint('DELETE /customer/by-id', 'customer:delete', {
    summary: 'Delete a customer for ever',
    description:
      'Deletes a customer. Its licence keys stay valid, without a customer; those of an inactive one are blocked. ' +
      'This cannot be undone.',
    query: byId,
    reply: done('DeleteCustomerResponse', 'customers.delete'),
    errors: ['customerNotFound'],
  }),
};
