import type { Client } from '../../../client/client.ts';
import { ApiError } from '../../../contract/errors.ts';
import { ImportKeyRequest } from '../../../contract/keys/import.ts';
import type { CommandContext } from '../../context.ts';
import type { CommandResult } from '../../output/result.ts';
import { count } from '../../output/words.ts';
import { bulkOperation } from '../operation.ts';
import { booleanCell, devicesCell, endCell, limitCell, momentCell } from '../reading/cells.ts';
import type { RowBody } from '../reading/read-bodies.ts';
import { type BulkRun, preparationKey } from '../run.ts';
import { type BulkRequest, runBulk } from '../run-bulk.ts';
import { metadataFamilies, newKeyColumns } from './key-columns.ts';

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
  schema: ImportKeyRequest(),
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

interface Values extends Omit<BulkRequest, 'defaults' | 'mode' | 'prepare'> {
  readonly product: string | undefined;
  readonly ifAbsent: boolean;
  readonly inUse: boolean;
  readonly createProducts: boolean;
  readonly yes: boolean;
}

/** Takes in the keys of a file, once that is confirmed. */
export function importKeysInBulk(context: CommandContext, values: Values): Promise<CommandResult> {
  const { product, ifAbsent, inUse, createProducts, yes } = values;
  const defaults = { ...(product !== undefined && { productId: product }), ...(inUse && { force: true }) };
  return runBulk(context, importKeysOperation, {
    ...values,
    defaults,
    mode: { ifAbsent },
    prepare: async (rows, run) => {
      if (!yes) await confirmImport(context, rows, run);
      if (createProducts) await addProducts(await context.client(), rows, run);
    },
  });
}

async function confirmImport(context: CommandContext, rows: Iterable<RowBody>, run: BulkRun): Promise<void> {
  const { confirm } = await import('../../prompts/questions.ts');
  const { originOf } = await import('../../request/changes.ts');
  const where = originOf(await context.target());
  let devices = 0;
  for (const { body } of rows) devices += Array.isArray(body.devices) ? body.devices.length : 0;
  await confirm(context, {
    about: [`${count(run.rows, 'key')} with ${count(devices, 'device')} would be imported into ${where}`],
    question: `import ${count(run.rows, 'key')}?`,
    action: `importing ${count(run.rows, 'key')}`,
    flag: '--yes',
  });
}

/** Creates the products of the rows that are not there, named as their ids, and their versions. */
async function addProducts(client: Client, rows: Iterable<RowBody>, { id }: BulkRun): Promise<void> {
  const wanted = new Map<string, Set<string>>();
  for (const { body } of rows) {
    const productId = String(body.productId);
    const versions = wanted.get(productId) ?? new Set();
    wanted.set(productId, versions);
    if (typeof body.version === 'string') versions.add(body.version);
  }
  // When it is run again, some of them are there: a number would then be that of another request.
  const call = (...made: readonly string[]) => ({ idempotencyKey: preparationKey(id, made) });
  for (const [productId, versions] of wanted) {
    const there = await findVersions(client, productId);
    if (there === null) await client.products.create({ id: productId, name: productId }, call('product', productId));
    for (const version of versions) {
      if (there?.has(version)) continue;
      await client.products.createVersion({ productId, version }, call('version', productId, version));
    }
  }
}

/** The names of the versions of a product; null when there is no such product. */
async function findVersions(client: Client, productId: string): Promise<ReadonlySet<string> | null> {
  try {
    const { versions } = await client.products.get({ productId });
    return new Set(versions.map(({ version }) => version));
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'productNotFound') return null;
    throw error;
  }
}
