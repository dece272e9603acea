import { ApiError } from '../../../contract/errors.ts';
import { type Duration, writeDuration } from '../../../contract/fields.ts';
import { CreateKeyRequest } from '../../../contract/keys/keys.ts';
import { isMaskedKey } from '../../../domain/license-key.ts';
import type { CommandContext } from '../../context.ts';
import { UsageError } from '../../failure/errors.ts';
import type { CommandResult } from '../../output/result.ts';
import type { Note } from '../../output/terminal.ts';
import { bulkOperation } from '../operation.ts';
import { given } from '../reading/columns.ts';
import { type BulkRequest, runBulk } from '../run-bulk.ts';
import { addressOutOfId, customersByEmail, namedByEmail } from './customers-by-email.ts';

export const createKeysOperation = bulkOperation({
  command: 'keys create',
  done: 'created',
  noun: 'key',
  schema: CreateKeyRequest,
  preparation: customersByEmail,
  arrange: addressOutOfId,
  checked: (body) => {
    const named = namedByEmail(body);
    return named === null ? body : { ...body, newCustomer: { name: 'not said', ...named } };
  },
  refusesAgain: ({ reference }) => reference !== undefined,
  fields: [{ name: 'reference' }, { name: 'key' }],

  async send(client, input, call, { ifAbsent }) {
    try {
      const { customerId, newCustomer, ...terms } = input;
      const customer = newCustomer == null ? { customerId } : { newCustomer };
      const { key } = await client.keys.create({ ...terms, ...customer }, call);
      return { key };
    } catch (error) {
      const { productId, reference } = input;
      const isTaken = error instanceof ApiError && error.reason === 'referenceTaken';
      if (!isTaken || ifAbsent !== true || reference === undefined) throw error;
      const { license } = await client.keys.get({ productId, reference }, { signal: call.signal });
      // A token that sees it masked must not pass it on as the key.
      if (isMaskedKey(license.key)) throw error;
      return { status: 'exists', key: license.key };
    }
  },
});

/** What the options say of a key, besides its product. */
interface KeyInput {
  readonly usesPerKey?: number | null | undefined;
  readonly expiresAfter?: Duration | null | undefined;
  readonly gracePeriod?: Duration | null | undefined;
}

interface Values extends Omit<BulkRequest, 'defaults' | 'mode'> {
  readonly product: string | undefined;
  readonly reference: string | undefined;
  readonly ifAbsent: boolean;
}

/**
 * Creates a key for each row, or the keys of `--count`, all of one kind.
 *
 * @param noteDefaultEnd says which end keys get for which none is given
 */
export async function createKeysInBulk(
  context: CommandContext,
  values: Values,
  input: KeyInput,
  noteDefaultEnd: (which: string) => Note,
): Promise<CommandResult> {
  const { product, reference, ifAbsent } = values;
  const { usesPerKey, expiresAfter, gracePeriod } = input;
  if (reference !== undefined) throw new UsageError('--reference names one key: give each row its own, in a column');
  if (ifAbsent && values.file === undefined) throw new UsageError('--if-absent needs a file with references');
  let isWithoutEnd = false;
  return runBulk(context, createKeysOperation, {
    ...values,
    defaults: given({
      productId: product,
      ...input,
      usesPerKey: usesPerKey == null ? undefined : String(usesPerKey),
      expiresAfter: expiresAfter && writeDuration(expiresAfter),
      gracePeriod: gracePeriod && writeDuration(gracePeriod),
    }),
    mode: { ifAbsent },
    onRow: ({ expiryDate, expiresAfter }) => {
      isWithoutEnd ||= expiryDate === undefined && expiresAfter === undefined;
    },
    notesOnSent: () =>
      isWithoutEnd ? [noteDefaultEnd(values.file === undefined ? 'no --expires given' : 'rows without an expiry')] : [],
  });
}
