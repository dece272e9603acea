import { BlockKeyRequest, RenewKeyRequest, UpdateKeyRequest } from '../../../contract/keys/changes.ts';
import type { CommandContext } from '../../context.ts';
import { UsageError } from '../../failure/errors.ts';
import type { CommandResult } from '../../output/result.ts';
import { readKeyCell } from '../../values/license-key.ts';
import { orNone, textOrNone } from '../../values/scalars.ts';
import { type BulkOperation, bulkOperation } from '../operation.ts';
import { durationCell, endCell, limitCell } from '../reading/cells.ts';
import { type Columns, given } from '../reading/columns.ts';
import { type BulkRequest, runBulk } from '../run-bulk.ts';
import { keyColumns, metadataFamilies, productColumn } from './key-columns.ts';

const address: Columns['single'] = [
  productColumn,
  { name: 'key', aliases: ['licenseKey'], path: ['licenseKey'], read: readKeyCell, unique: 'exact' },
];

export const updateKeysOperation = bulkOperation({
  command: 'keys update',
  done: 'updated',
  noun: 'key',
  columns: {
    single: [
      ...address,
      {
        name: 'maxActivations',
        aliases: ['usesPerKey'],
        path: ['maxActivations'],
        read: limitCell,
        nullWord: 'unlimited',
      },
      {
        name: 'expirationDate',
        aliases: ['expires', 'expiryDate'],
        path: ['expirationDate'],
        read: endCell,
        nullWord: 'never',
      },
      { name: 'gracePeriod', path: ['gracePeriod'], read: orNone(durationCell), nullWord: 'none' },
      { name: 'customerId', aliases: ['customer'], path: ['customerId'], read: textOrNone, nullWord: 'none' },
      { name: 'versionId', path: ['versionId'], read: textOrNone, nullWord: 'none' },
      ...keyColumns,
    ],
    families: metadataFamilies,
  },
  schema: UpdateKeyRequest,
  repeatsSafely: true,
  fields: [{ name: 'key' }],
  name: ({ licenseKey }) => ({ key: licenseKey }),

  async send(client, input, _, call) {
    await client.keys.update(input, call);
    return { status: 'updated', result: {} };
  },
});

export const renewKeysOperation = bulkOperation({
  command: 'keys renew',
  done: 'renewed',
  noun: 'key',
  columns: {
    single: [
      ...address,
      { name: 'duration', aliases: ['for'], path: ['duration'], read: durationCell },
      { name: 'from', path: ['from'] },
    ],
    families: [],
  },
  schema: RenewKeyRequest,
  fields: [{ name: 'key' }, { name: 'expirationDate', label: 'expires' }],
  name: ({ licenseKey }) => ({ key: licenseKey }),

  async send(client, input, _, call) {
    const { expirationDate } = await client.keys.renew(input, call);
    return { status: 'renewed', result: { expirationDate } };
  },
});

export const blockKeysOperation = bulkOperation({
  command: 'keys block',
  done: 'blocked',
  noun: 'key',
  columns: { single: [...address, { name: 'note', path: ['note'] }], families: [] },
  schema: BlockKeyRequest,
  repeatsSafely: true,
  fields: [{ name: 'key' }],
  name: ({ licenseKey }) => ({ key: licenseKey }),

  async send(client, input, _, call) {
    await client.keys.block(input, call);
    return { status: 'blocked', result: {} };
  },
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
  body: Readonly<Record<string, unknown>>,
): Promise<CommandResult> {
  if (key !== undefined || keys.length > 0) {
    throw new UsageError('KEY and -f name two lists of keys; give one of them', ['Nothing was sent.']);
  }
  if (ifUpdatedAt !== undefined) throw new UsageError('--if-updated-at is that of one key', ['Nothing was sent.']);
  return runBulk(context, operation, { ...request, defaults: given({ productId: product, ...body }) });
}
