import { z } from 'zod';
import { NewCustomer } from '../../../contract/customers.ts';
import {
  BlockKeyRequest,
  ReissueKeyRequest,
  RenewKeyRequest,
  RevokeKeyRequest,
  TransferKeyRequest,
  UpdateKeyRequest,
} from '../../../contract/keys/changes.ts';
import { licenseAddress } from '../../../contract/keys/licenses.ts';
import type { CommandContext } from '../../context.ts';
import { UsageError } from '../../failure/errors.ts';
import type { CommandResult } from '../../output/result.ts';
import { count } from '../../output/words.ts';
import { confirm } from '../../prompts/questions.ts';
import { unlessRefused } from '../../request/look-ups.ts';
import { placeOf } from '../../request/target.ts';
import { type Body, type BulkOperation, bulkOperation, type Preparation, withProductId } from '../operation.ts';
import type { BulkRequest } from '../request.ts';
import { runBulk } from '../run-bulk.ts';

/** A row of keys to be deleted. */
const DeleteKeyRow = z.object({ ...licenseAddress, force: z.boolean().optional() });

/** Finds the product of a key where neither the row nor an option says it. */
const productOfKey: Preparation = {
  needsOf: ({ productId, licenseKey }) =>
    typeof productId === 'string' || typeof licenseKey !== 'string'
      ? []
      : [{ kind: 'key', name: licenseKey, input: null, lacks: 'licenseKey: the service has no such key' }],
  find: async (client, { name: licenseKey }) => {
    const found = await unlessRefused('licenseNotFound', client.keys.get({ licenseKey }));
    return found?.license.productId ?? null;
  },
  make: () => Promise.reject(new Error('a product is not made for a key')),
  fill: (body, { key: productId }) => (productId === undefined ? body : { ...body, productId }),
};

/** A change of keys: their products are found unless given. */
const keyOperation: typeof bulkOperation = (spec) =>
  bulkOperation({
    ...spec,
    preparation: productOfKey,
    toCheck: (body) => withProductId({ productId: '', ...body }),
  });

export const updateKeys = keyOperation({
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

export const renewKeys = keyOperation({
  command: 'keys renew',
  done: 'renewed',
  noun: 'key',
  schema: RenewKeyRequest,
  fields: [{ name: 'expirationDate', label: 'expires' }],
  send: async (client, input, call) => ({ expirationDate: (await client.keys.renew(input, call)).expirationDate }),
});

export const transferKeys = keyOperation({
  command: 'keys transfer',
  done: 'transferred',
  noun: 'key',
  schema: TransferKeyRequest,
  fields: [],
  send: async (client, { customerId, newCustomer, ...input }, call) => {
    await client.keys.transfer({ ...input, ...(newCustomer ? { newCustomer } : { customerId }) }, call);
  },
});

export const reissueKeys = keyOperation({
  command: 'keys reissue',
  done: 'reissued',
  noun: 'key',
  schema: ReissueKeyRequest,
  fields: [{ name: 'key' }, { name: 'previousKeyUntil', label: 'old key until' }],
  send: async (client, input, call) => {
    const { key, previousKeyUntil } = await client.keys.reissue(input, call);
    return { key, previousKeyUntil };
  },
});

export const blockKeys = keyOperation({
  command: 'keys block',
  done: 'blocked',
  noun: 'key',
  schema: BlockKeyRequest,
  repeatsSafely: true,
  fields: [],
  send: async (client, input, call) => void (await client.keys.block(input, call)),
});

export const unblockKeys = keyOperation({
  ...blockKeys,
  command: 'keys unblock',
  done: 'unblocked',
  schema: BlockKeyRequest,
  send: async (client, input, call) => void (await client.keys.unblock(input, call)),
});

export const revokeKeys = keyOperation({
  command: 'keys revoke',
  done: 'revoked',
  noun: 'key',
  schema: RevokeKeyRequest,
  repeatsSafely: true,
  fields: [],
  send: async (client, input, call) => void (await client.keys.revoke(input, call)),
});

export const deleteKeys = keyOperation({
  command: 'keys delete',
  done: 'deleted',
  noun: 'key',
  schema: DeleteKeyRow,
  fields: [],
  send: async (client, input, call) => void (await client.keys.delete(input, call)),
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
  /** Whether it asks first, since it cannot be taken back. */
  readonly asks?: boolean;
}

/** Changes the key of each row; `body` is what the options say of all of them. */
export async function changeKeysInBulk(
  context: CommandContext,
  operation: BulkOperation,
  { product, key, keys = [], ifUpdatedAt, asks = false, ...request }: Values,
  body: Body,
): Promise<CommandResult> {
  if (key !== undefined || keys.length > 0) {
    throw new UsageError('KEY and -f name two lists of keys; give one of them', ['Nothing was sent.']);
  }
  if (ifUpdatedAt !== undefined) throw new UsageError('--if-updated-at is that of one key', ['Nothing was sent.']);
  return runBulk(context, operation, {
    ...request,
    defaults: { productId: product, ...body },
    ...(asks && { confirm: (rows) => confirmAll(context, operation, rows) }),
  });
}

async function confirmAll(context: CommandContext, { done }: BulkOperation, rows: number): Promise<void> {
  const what = count(rows, 'key');
  await confirm(context, {
    question: { typed: String(rows) },
    about: [`this ${done.slice(0, -1)}s ${what} for ever, at ${placeOf(await context.target())}`],
    action: `${done.slice(0, -2)}ing ${what}`,
    flag: '--yes',
  });
}

export const createCustomersInBulk = (
  context: CommandContext,
  request: Omit<BulkRequest, 'defaults'>,
): Promise<CommandResult> => runBulk(context, createCustomers, { ...request, defaults: {} });
