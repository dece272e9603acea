import { NewCustomer } from '../../../contract/customers.ts';
import { BlockKeyRequest, RenewKeyRequest, UpdateKeyRequest } from '../../../contract/keys/changes.ts';
import type { CommandContext } from '../../context.ts';
import { UsageError } from '../../failure/errors.ts';
import type { CommandResult } from '../../output/result.ts';
import { type Body, type BulkOperation, bulkOperation } from '../operation.ts';
import type { BulkRequest } from '../request.ts';
import { runBulk } from '../run-bulk.ts';

export const updateKeys = bulkOperation({
  command: 'keys update',
  done: 'updated',
  noun: 'key',
  schema: UpdateKeyRequest,
  repeatsSafely: true,
  fields: [],
  send: async (client, { customerId, newCustomer, ...input }, call) => {
    await client.keys.update({ ...input, ...(newCustomer ? { newCustomer } : { customerId }) }, call);
  },
});

export const renewKeys = bulkOperation({
  command: 'keys renew',
  done: 'renewed',
  noun: 'key',
  schema: RenewKeyRequest,
  fields: [{ name: 'expirationDate', label: 'expires' }],
  send: async (client, input, call) => ({ expirationDate: (await client.keys.renew(input, call)).expirationDate }),
});

export const blockKeys = bulkOperation({
  command: 'keys block',
  done: 'blocked',
  noun: 'key',
  schema: BlockKeyRequest,
  repeatsSafely: true,
  fields: [],
  send: async (client, input, call) => void (await client.keys.block(input, call)),
});

export const createCustomers = bulkOperation({
  command: 'customers create',
  done: 'created',
  noun: 'customer',
  schema: NewCustomer,
  fields: [{ name: 'id' }],
  send: async (client, input, call) => ({ id: (await client.customers.create(input, call)).id }),
});

interface Values extends Omit<BulkRequest, 'defaults'> {
  readonly product: string | undefined;
  readonly key?: string | undefined;
  readonly keys?: readonly string[];
  readonly ifUpdatedAt: string | undefined;
}

/** Changes the key of each row; `body` is what the options say of all of them. */
export async function changeKeysInBulk(
  context: CommandContext,
  operation: BulkOperation,
  { product, key, keys = [], ifUpdatedAt, ...request }: Values,
  body: Body,
): Promise<CommandResult> {
  if (key !== undefined || keys.length > 0) {
    throw new UsageError('KEY and -f name two lists of keys; give one of them', ['Nothing was sent.']);
  }
  if (ifUpdatedAt !== undefined) throw new UsageError('--if-updated-at is that of one key', ['Nothing was sent.']);
  return runBulk(context, operation, { ...request, defaults: { productId: product, ...body } });
}

export const createCustomersInBulk = (
  context: CommandContext,
  request: Omit<BulkRequest, 'defaults'>,
): Promise<CommandResult> => runBulk(context, createCustomers, { ...request, defaults: {} });
