import { BlockKeyRequest, RenewKeyRequest, UpdateKeyRequest } from '../../../contract/keys/changes.ts';
import type { CommandContext } from '../../context.ts';
import { UsageError } from '../../failure/errors.ts';
import type { CommandResult } from '../../output/result.ts';
import { readKeyCell } from '../../values/license-key.ts';
import { type BulkOperation, bulkOperation } from '../operation.ts';
import {
  booleanCell,
  durationCell,
  endCell,
  featureCell,
  jsonCell,
  limitCell,
  listCell,
  secondsCell,
} from '../reading/cells.ts';
import { type Column, type Columns, given } from '../reading/columns.ts';
import { type BulkRequest, runBulk } from '../run-bulk.ts';

const product: Column = { name: 'productId', aliases: ['product'], path: ['productId'] };

const address: Columns['single'] = [
  product,
  { name: 'key', aliases: ['licenseKey'], path: ['licenseKey'], read: readKeyCell, unique: 'exact' },
];

/** `none` clears what may be empty. */
const orNone =
  <T>(read: (text: string) => T) =>
  (text: string): T | null =>
    text === 'none' ? null : read(text);

const asText = (text: string): string => text;

export const updateKeys = bulkOperation({
  command: 'keys update',
  done: 'updated',
  noun: 'key',
  columns: {
    single: [
      ...address,
      { name: 'maxActivations', path: ['maxActivations'], read: limitCell, nullWord: 'unlimited' },
      { name: 'expirationDate', aliases: ['expires'], path: ['expirationDate'], read: endCell, nullWord: 'never' },
      { name: 'gracePeriod', path: ['gracePeriod'], read: orNone(durationCell), nullWord: 'none' },
      { name: 'customerId', aliases: ['customer'], path: ['customerId'], read: orNone(asText), nullWord: 'none' },
      { name: 'licenseType', aliases: ['type'], path: ['licenseType'] },
      {
        name: 'maxConcurrentSessions',
        aliases: ['maxSessions'],
        path: ['maxConcurrentSessions'],
        read: limitCell,
        nullWord: 'unlimited',
      },
      { name: 'heartbeatInterval', path: ['heartbeatInterval'], read: secondsCell },
      { name: 'sessionLeaseDuration', path: ['sessionLeaseDuration'], read: secondsCell },
      { name: 'allowedHosts', path: ['allowedHosts'], read: listCell, nullWord: 'any' },
      { name: 'customerCanSelfReset', aliases: ['selfReset'], path: ['customerCanSelfReset'], read: booleanCell },
      { name: 'versionId', path: ['versionId'], read: orNone(asText), nullWord: 'none' },
      { name: 'trial', path: ['metadata', 'is_trial'], read: booleanCell },
      { name: 'features', path: ['metadata', 'features'], read: jsonCell },
      { name: 'metadata', path: ['metadata'], read: jsonCell },
    ],
    families: [
      { prefix: 'metadata.', path: ['metadata'] },
      { prefix: 'feature.', path: ['metadata', 'features'], read: featureCell },
    ],
  },
  schema: UpdateKeyRequest(),
  repeatsSafely: true,
  fields: [{ name: 'key' }],
  name: ({ licenseKey }) => ({ key: licenseKey }),

  async send(client, input, _, call) {
    await client.keys.update(input, call);
    return { status: 'updated', result: {} };
  },
});

export const renewKeys = bulkOperation({
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
  schema: RenewKeyRequest(),
  fields: [{ name: 'key' }, { name: 'expirationDate', label: 'expires' }],
  name: ({ licenseKey }) => ({ key: licenseKey }),

  async send(client, input, _, call) {
    const { expirationDate } = await client.keys.renew(input, call);
    return { status: 'renewed', result: { expirationDate } };
  },
});

export const blockKeys = bulkOperation({
  command: 'keys block',
  done: 'blocked',
  noun: 'key',
  columns: { single: [...address, { name: 'note', path: ['note'] }], families: [] },
  schema: BlockKeyRequest(),
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
export async function changeMany(
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
