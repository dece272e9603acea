import { NewCustomer } from '../../../contract/customers.ts';
import type { CommandContext } from '../../context.ts';
import type { CommandResult } from '../../output/result.ts';
import { bulkOperation } from '../operation.ts';
import { type BulkRequest, runBulk } from '../run-bulk.ts';

export const createCustomersOperation = bulkOperation({
  command: 'customers create',
  done: 'created',
  noun: 'customer',
  columns: {
    single: [
      { name: 'name', aliases: ['customerName'], path: ['name'] },
      { name: 'email', aliases: ['customerEmail', 'e-mail', 'mail'], path: ['email'], unique: 'anyCase' },
    ],
    families: [],
  },
  schema: NewCustomer,
  refusesAgain: ({ email }) => email !== undefined,
  fields: [{ name: 'name', cuts: true }, { name: 'email', cuts: true }, { name: 'id' }],
  name: ({ name, email }) => ({ name, ...(email !== undefined && { email }) }),

  async send(client, input, _, call) {
    const { id } = await client.customers.create(input, call);
    return { status: 'created', result: { id } };
  },
});

/** Creates a customer for each row. */
export const createCustomersInBulk = (
  context: CommandContext,
  request: Omit<BulkRequest, 'defaults'>,
): Promise<CommandResult> => runBulk(context, createCustomersOperation, { ...request, defaults: {} });
