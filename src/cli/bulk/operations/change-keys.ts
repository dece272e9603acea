import type { z } from 'zod';
import type { CallOptions } from '../../../client/options.ts';
import { contract } from '../../../contract/index.ts';
import type { CommandContext } from '../../context.ts';
import { UsageError } from '../../failure/errors.ts';
import type { CommandResult } from '../../output/result.ts';
import { count } from '../../output/words.ts';
import { confirm } from '../../prompts/questions.ts';
import { unlessRefused } from '../../request/look-ups.ts';
import { placeOf } from '../../request/target.ts';
import { encodeFields } from '../../values/check-fields.ts';
import { type Body, type BulkOperation, bulkOperation, type Preparation, withProductId } from '../operation.ts';
import type { BulkRequest } from '../request.ts';
import { runBulk } from '../run-bulk.ts';

/** Looks up the product of a key unless the row or an option names it. */
const productOfKey: Preparation = {
  dependenciesOf: ({ productId, licenseKey }) =>
    typeof productId === 'string' || typeof licenseKey !== 'string'
      ? []
      : [{ kind: 'key', name: licenseKey, input: null, missingText: 'licenseKey: the service has no such key' }],
  find: async (client, { name: licenseKey }) => {
    const found = await unlessRefused('licenseNotFound', client.keys.get({ licenseKey }));
    return found?.license.productId ?? null;
  },
  make: () => Promise.reject(new Error('a product is not made for a key')),
  fill: (body, { key: productId }) => (productId === undefined ? body : { ...body, productId }),
};

export type RowChange = Partial<Pick<BulkOperation, 'repeatsSafely' | 'fields'>>;

interface KeyChange extends RowChange {
  /** `keys.renew`. */
  readonly operation: string;
  readonly done: string;
}

type Send = (input: unknown, call: CallOptions) => Promise<Readonly<Record<string, unknown>>>;

/** The results show `fields` of the response. */
function keyOperation({ operation, fields = [], ...change }: KeyChange): BulkOperation {
  const name = operation.replace('keys.', '') as keyof typeof contract.keys;
  const { query, body = query } = contract.keys[name];
  return bulkOperation({
    ...change,
    command: `keys ${name}`,
    noun: 'key',
    schema: body as z.ZodObject,
    fields,
    preparation: productOfKey,
    toCheck: (row) => withProductId({ productId: '', ...row }),
    async send(client, input, call) {
      const response = await (client.keys[name] as Send)(input, call);
      return Object.fromEntries(fields.map(({ name }) => [name, response[name]]));
    },
  });
}

export interface RowValues extends Omit<BulkRequest, 'defaults'> {
  readonly key?: string | undefined;
  readonly keys?: readonly string[];
  readonly ifUpdatedAt: string | undefined;
}

/** `input` holds the values of the options, for every row; `asks` has the run confirmed first. */
export async function changeKeysInBulk(
  context: CommandContext,
  change: KeyChange,
  { key, keys = [], ifUpdatedAt, ...request }: RowValues,
  { input, asks }: { readonly input: Body; readonly asks: boolean },
): Promise<CommandResult> {
  if (key !== undefined || keys.length > 0) {
    throw new UsageError('KEY and -f name two lists of keys; give one of them', ['Nothing was sent.']);
  }
  if (ifUpdatedAt !== undefined) throw new UsageError('--if-updated-at is for one key', ['Nothing was sent.']);
  const operation = keyOperation(change);
  return runBulk(context, operation, {
    ...request,
    defaults: encodeFields(change.operation, input),
    ...(asks && { confirm: (rows) => confirmAll(context, operation, rows) }),
  });
}

async function confirmAll(context: CommandContext, { done }: BulkOperation, rows: number): Promise<void> {
  const what = count(rows, 'key');
  // `revoked`: this revokes, revoking.
  await confirm(context, {
    question: { typed: String(rows) },
    about: [`this ${done.slice(0, -1)}s ${what} for ever, at ${placeOf(await context.target())}`],
    action: `${done.slice(0, -2)}ing ${what}`,
  });
}
