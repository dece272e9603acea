import type { Client } from '../../../client/client.ts';
import { ImportKeyRequest } from '../../../contract/keys/import.ts';
import type { CommandContext } from '../../context.ts';
import type { CommandResult } from '../../output/result.ts';
import { count } from '../../output/words.ts';
import { confirm } from '../../prompts/questions.ts';
import { originOf } from '../../request/changes.ts';
import { unlessRefused } from '../../request/look-ups.ts';
import { bulkOperation } from '../operation.ts';
import type { Need, Preparation } from '../preparation.ts';
import { type BulkRequest, runBulk } from '../run-bulk.ts';

/** Products and versions of the keys: with `createProducts` those that are not there are made, named as their ids. */
const productsOfKeys: Preparation = {
  needsOf({ productId, version }, { createProducts }) {
    if (createProducts !== true || typeof productId !== 'string') return [];
    const product: Need = { kind: 'product', name: productId, input: { productId } };
    if (typeof version !== 'string') return [product];
    return [product, { kind: 'version', name: `${productId} ${version}`, input: { productId, version } }];
  },

  async find(client, { kind, input }) {
    const { productId = '', version = '' } = input ?? {};
    const versions = await findVersions(client, productId);
    if (kind === 'product') return versions === null ? null : productId;
    return versions?.get(version) ?? null;
  },

  async make(client, { kind, input }, call) {
    const { productId = '', version = '' } = input ?? {};
    if (kind === 'product') return (await client.products.create({ id: productId, name: productId }, call)).id;
    return (await client.products.createVersion({ productId, version }, call)).id;
  },
};

/** The ids of the versions of a product by their names; null when there is no such product. */
async function findVersions(client: Client, productId: string): Promise<ReadonlyMap<string, string> | null> {
  const product = await unlessRefused('productNotFound', client.products.get({ productId }));
  return product && new Map(product.versions.map(({ version, id }) => [version, id]));
}

export const importKeys = bulkOperation({
  command: 'keys import',
  done: 'imported',
  noun: 'key',
  schema: ImportKeyRequest,
  preparation: productsOfKeys,
  // A key that is there already is refused, whatever the service remembers.
  repeatsSafely: true,
  fields: [{ name: 'key' }, { name: 'id' }],

  async send(client, input, call, { ifAbsent }) {
    const asked = client.keys.import(input, call);
    const imported = await (ifAbsent === true ? unlessRefused('keyTaken', asked) : asked);
    return imported === null ? { status: 'exists' } : { id: imported.id };
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
  return runBulk(context, importKeys, {
    ...values,
    defaults: { productId: product, force: inUse || undefined },
    mode: { ifAbsent, createProducts },
    confirm: async (rows) => {
      if (yes) return;
      const keys = count(rows, 'key');
      await confirm(context, {
        about: [`${keys} would be imported into ${originOf(await context.target())}`],
        question: `import ${keys}?`,
        action: `importing ${keys}`,
        flag: '--yes',
      });
    },
  });
}
