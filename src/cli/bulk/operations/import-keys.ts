import type { Client } from '../../../client/client.ts';
import { ImportKeyRequest } from '../../../contract/keys/import.ts';
import { isProductName } from '../../../contract/limits.ts';
import { wrongFields } from '../../../domain/imported-key.ts';
import type { CommandContext } from '../../context.ts';
import type { CommandResult } from '../../output/result.ts';
import { count } from '../../output/words.ts';
import { confirm } from '../../prompts/questions.ts';
import { originOf } from '../../request/changes.ts';
import { findProduct, orNull, unlessRefused } from '../../request/look-ups.ts';
import { bulkOperation, type Dependency, type Preparation, withProductId } from '../operation.ts';
import type { BulkRequest, ForeignFiles } from '../request.ts';
import { runBulk } from '../run-bulk.ts';

/** Products by id or name, and versions; `createProducts` creates missing ones. */
const productsOfKeys: Preparation = {
  dependenciesOf({ productId, version }, { createProducts = false }) {
    if (typeof productId !== 'string' || !(createProducts || isProductName(productId))) return [];
    const missingText = `no product is called '${productId}'; --create-products makes it`;
    const name = isProductName(productId) ? productId.toLowerCase() : productId;
    const product: Dependency = { kind: 'product', name, input: createProducts ? { productId } : null, missingText };
    if (typeof version !== 'string' || !createProducts) return [product];
    return [product, { kind: 'version', name: `${name} ${version}`, input: { productId, version } }];
  },

  async find(client, { kind, name, input }) {
    const { productId = name, version = '' } = input ?? {};
    const id = await findId(client, productId);
    if (kind === 'product' || id === null) return id;
    return (await findVersions(client, id))?.get(version) ?? null;
  },

  async make(client, { kind, input }, call) {
    const { productId = '', version = '' } = input ?? {};
    if (kind === 'version') {
      const id = (await findId(client, productId)) ?? productId;
      return (await client.products.createVersion({ productId: id, version }, call)).id;
    }
    const product = { name: productId, ...(!isProductName(productId) && { id: productId }) };
    return (await client.products.create(product, call)).id;
  },

  fill: (body, { product = body.productId }) => ({ ...body, productId: product }),
};

/** Finds a product by id or name; null if there is none. */
async function findId(client: Client, product: string): Promise<string | null> {
  if (isProductName(product)) return orNull(findProduct(client, product));
  return (await findVersions(client, product)) === null ? null : product;
}

/** The ids of the versions by name; null without such a product. */
async function findVersions(client: Client, productId: string): Promise<ReadonlyMap<string, string> | null> {
  const product = await unlessRefused('productNotFound', client.products.get({ productId }));
  return product && new Map(product.versions.map(({ version, id }) => [version, id]));
}

const reasons: Readonly<Record<string, string>> = {
  createdAt: 'is not between 1970 and now',
  revokedAt: 'is not between 1970 and now',
  renewalDay: 'does not fit expirationDate: it is the day of the first expiry, where the month has no such day',
  devices: 'has a time of activation that is not between 1970 and now',
  id: 'was not made at createdAt',
};

/** Shorter keys can be guessed. */
const GUESSABLE = 12;

export const importKeys = bulkOperation({
  command: 'keys import',
  done: 'imported',
  noun: 'key',
  schema: ImportKeyRequest,
  preparation: productsOfKeys,
  // An existing key is always refused.
  repeatsSafely: true,
  fields: [{ name: 'id' }],

  toCheck: withProductId,

  problemsOf(body, now) {
    const { data: key } = ImportKeyRequest.safeParse(withProductId(body));
    if (key === undefined) return [];
    const { devices = [], maxActivations = null, force } = key;
    const isOver = force !== true && maxActivations !== null && devices.length > maxActivations;
    return [
      ...wrongFields(key, now).map((name) => `${name} ${reasons[name]}`),
      ...(isOver ? [`devices: ${devices.length} for ${count(maxActivations, 'slot')}; --in-use takes them`] : []),
    ];
  },

  warningsOf(bodies) {
    const short = bodies.map(({ key }) => String(key)).filter((key) => key.length < GUESSABLE);
    const least = Math.min(...short.map((key) => key.replaceAll(/[^\p{L}\p{N}]/gu, '').length));
    if (short.length === 0) return [];
    const are = `${count(short.length, 'key')} ${short.length === 1 ? 'has' : 'have'} fewer than ${GUESSABLE} characters`;
    return [`${are} and can be guessed: 36^${least} are possible, letters and digits of the shortest`];
  },

  async send(client, input, call, { ifAbsent }) {
    const asked = client.keys.import(input, call);
    const imported = await (ifAbsent === true ? unlessRefused('keyTaken', asked) : asked);
    return imported === null ? { status: 'exists', isOld: true } : { id: imported.id };
  },
});

interface Values extends Omit<BulkRequest, 'defaults' | 'mode' | 'foreign'>, ForeignFiles {
  readonly product: string | undefined;
  readonly ifAbsent: boolean;
  readonly inUse: boolean;
  readonly createProducts: boolean;
  readonly yes: boolean;
}

export function importKeysInBulk(context: CommandContext, values: Values): Promise<CommandResult> {
  const { product, ifAbsent, inUse, from, yes } = values;
  const createProducts = values.createProducts || from !== undefined;
  return runBulk(context, importKeys, {
    ...values,
    foreign: values,
    // Other systems may have exceeded their limits.
    defaults: { productId: product, force: inUse || from !== undefined || undefined },
    mode: { ifAbsent, createProducts },
    confirm: async (rows) => {
      if (yes) return;
      const keys = count(rows, 'key');
      await confirm(context, {
        about: [`${keys} would be imported into ${originOf(await context.target())}`],
        question: `import ${keys}?`,
        action: `importing ${keys}`,
      });
    },
  });
}
