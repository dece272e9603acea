import { ApiError } from '../../../contract/errors.ts';
import { isMaskedKey } from '../../../domain/license-key.ts';
import type { CommandContext } from '../../context.ts';
import { CommandError, exitCodes, type Hint } from '../../failure/errors.ts';
import type { CommandResult } from '../../output/result.ts';

/** Issues a key, or finds the one that has its reference already. */
export async function orExisting(
  issue: () => Promise<CommandResult>,
  context: CommandContext,
  { product, reference }: { readonly product: string; readonly reference: string },
): Promise<CommandResult> {
  try {
    return await issue();
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== 'referenceTaken') throw error;
    return findKey(context, product, reference);
  }
}

async function findKey(context: CommandContext, product: string, reference: string): Promise<CommandResult> {
  const client = await context.client();
  const { license } = await client.keys.get({ productId: product, reference }).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    throw taken(`${reference} is the reference of a key of another product`, [
      'A reference stands for one key of the account.',
    ]);
  });
  const { key } = license;
  if (isMaskedKey(key)) {
    throw taken(`${reference} has a key already, and this token sees it masked: ${key}`, [
      'A token with license:reveal prints it.',
    ]);
  }
  return {
    kind: 'value',
    value: key,
    data: { key, productId: product, idempotencyKey: null },
    quiet: [key],
    secrets: [key],
    secret: true,
    notes: [{ tone: 'done', text: `${reference} has this key already; nothing was created` }],
  };
}

const taken = (message: string, hints: readonly Hint[]) =>
  new CommandError('reference_taken', exitCodes.conflict, message, hints);
