import { NewCustomer } from '../../../contract/customers.ts';
import type { CommandContext } from '../../context.ts';
import type { CommandResult } from '../../output/result.ts';
import { bulkOperation } from '../operation.ts';
import { type BulkRequest, runBulk } from '../run-bulk.ts';

export const createCustomersOperation = bulkOperation({
  command: 'customers create',
  done: 'created',
  noun: 'customer',
  schema: NewCustomer,
  refusesAgain: ({ email }) => email !== undefined,
  fields: [{ name: 'name', cuts: true }, { name: 'email', cuts: true }, { name: 'id' }],
  send: async (client, input, call) => ({ id: (await client.customers.create(input, call)).id }),
});

/** Creates a customer for each row. */
export const createCustomersInBulk = (
  context: CommandContext,
  request: Omit<BulkRequest, 'defaults'>,
): Promise<CommandResult> => runBulk(context, createCustomersOperation, { ...request, defaults: {} });
