import { ApiError } from '../../../contract/errors.ts';
import { ImportKeyRequest } from '../../../contract/keys/import.ts';
import type { CommandContext } from '../../context.ts';
import type { CommandResult } from '../../output/result.ts';
import { count } from '../../output/words.ts';
import { bulkOperation } from '../operation.ts';
import { booleanCell, devicesCell, endCell, limitCell, momentCell } from '../reading/cells.ts';
import { type BulkRequest, runBulk } from '../run-bulk.ts';
import { metadataFamilies, newKeyColumns } from './key-columns.ts';
import { productsOfKeys } from './products-of-keys.ts';

export const importKeysOperation = bulkOperation({
  command: 'keys import',
  done: 'imported',
  noun: 'key',
  columns: {
    single: [
      ...newKeyColumns,
      { name: 'key', aliases: ['licenseKey'], path: ['key'], unique: 'exact' },
      { name: 'id', aliases: ['licenseId'], path: ['id'], unique: 'exact' },
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
      { name: 'customerEmail', aliases: ['customer.email'], path: ['customer', 'email'] },
      { name: 'customerName', aliases: ['customer.name'], path: ['customer', 'name'] },
      { name: 'customerId', aliases: ['customer.id'], path: ['customer', 'id'] },
      { name: 'customerActive', aliases: ['customer.active'], path: ['customer', 'active'], read: booleanCell },
      { name: 'createdAt', aliases: ['created'], path: ['createdAt'], read: momentCell },
      { name: 'devices', path: ['devices'], read: devicesCell },
      { name: 'vendorDisabled', aliases: ['blocked'], path: ['vendorDisabled'], read: booleanCell },
      { name: 'version', path: ['version'] },
    ],
    families: metadataFamilies,
  },
  schema: ImportKeyRequest,
  preparation: productsOfKeys,
  // A key that is there already is refused, whatever the service remembers.
  repeatsSafely: true,
  fields: [{ name: 'key' }, { name: 'id' }],
  name: ({ key }) => ({ key }),

  async send(client, input, { ifAbsent }, call) {
    try {
      const { import: importKey } = client.keys;
      const { id } = await importKey(input, call);
      return { status: 'imported', result: { id } };
    } catch (error) {
      const isThere = error instanceof ApiError && error.reason === 'keyTaken';
      if (isThere && ifAbsent === true) return { status: 'exists', result: {} };
      throw error;
    }
  },
});

interface Values extends Omit<BulkRequest, 'defaults' | 'mode'> {
  readonly product: string | undefined;
  readonly ifAbsent: boolean;
  readonly inUse: boolean;
  readonly createProducts: boolean;
  readonly yes: boolean;
}

/** Takes in the keys of a file, once that is confirmed. */
export function importKeysInBulk(context: CommandContext, values: Values): Promise<CommandResult> {
  const { product, ifAbsent, inUse, createProducts, yes } = values;
  let devices = 0;
  return runBulk(context, importKeysOperation, {
    ...values,
    defaults: { ...(product !== undefined && { productId: product }), ...(inUse && { force: true }) },
    mode: { ifAbsent, createProducts },
    onRow: (body) => {
      devices += Array.isArray(body.devices) ? body.devices.length : 0;
    },
    confirm: async (rows) => {
      if (!yes) await confirmImport(context, rows, devices);
    },
  });
}

async function confirmImport(context: CommandContext, rows: number, devices: number): Promise<void> {
  const { confirm } = await import('../../prompts/questions.ts');
  const { originOf } = await import('../../request/changes.ts');
  const where = originOf(await context.target());
  await confirm(context, {
    about: [`${count(rows, 'key')} with ${count(devices, 'device')} would be imported into ${where}`],
    question: `import ${count(rows, 'key')}?`,
    action: `importing ${count(rows, 'key')}`,
    flag: '--yes',
  });
}
