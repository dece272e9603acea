import { NewCustomer } from '../../../contract/customers.ts';
import { bulkOperation } from '../operation.ts';

export const createCustomers = bulkOperation({
  command: 'customers create',
  done: 'created',
  noun: 'customer',
  schema: NewCustomer,
  fields: [{ name: 'id' }],
  send: async (client, input, call) => ({ id: (await client.customers.create(input, call)).id }),
});
