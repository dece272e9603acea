import type { CommandContext } from '../../context.ts';
import { UsageError } from '../../failure/errors.ts';
import type { CommandResult, Field } from '../../output/result.ts';
import type { Send } from '../../request/changes.ts';

/** The fields of each row of a command on several keys. */
export const keyFields: readonly Field[] = [
  { name: 'key' },
  { name: 'done' },
  { name: 'error' },
  { name: 'idempotencyKey', shown: 'chosen' },
];

interface Several {
  readonly keys: readonly string[];
  /** That of all of them; found for each unless given. */
  readonly product: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly ifUpdatedAt?: string | undefined;
  /** What is said of each: `blocked`. */
  readonly done: string;
}

/** Checks that keys can be changed by one command. Throws `UsageError`. */
export function checkKeys({ keys, idempotencyKey, ifUpdatedAt }: Omit<Several, 'done' | 'product'>): void {
  if (new Set(keys).size < keys.length) throw new UsageError('a key is given twice', ['Nothing was sent.']);
  if (keys.length > 1 && idempotencyKey !== undefined) {
    throw new UsageError('one idempotency key stands for one request: give one KEY with it');
  }
  if (keys.length > 1 && ifUpdatedAt !== undefined) {
    throw new UsageError('--if-updated-at is that of one key: give one KEY with it');
  }
}

/** Changes keys one after the other; what is said on the way names their last section only. */
export async function changeKeys(
  context: CommandContext,
  several: Several,
  send: (address: { readonly productId: string; readonly licenseKey: string }) => Send<unknown>,
): Promise<CommandResult> {
  const { keys, done } = several;
  checkKeys(several);
  const named: { name: string; send: Send<unknown> }[] = [];
  for (const licenseKey of keys) {
    const productId = await context.productOf(licenseKey, several.product);
    named.push({ name: maskKey(licenseKey), send: send({ productId, licenseKey }) });
  }
  const { prepareEach, sendEach, summaryOf } = await import('../../request/send-each.ts');
  const changes = await prepareEach(context, named);
  const words = { done, noun: 'key' };
  const sent = await sendEach(context, changes, words);
  const rows = sent.map(({ name: _, ...row }, at) => ({ key: keys[at] ?? '', ...row }));
  return {
    kind: 'done',
    data: rows,
    quiet: rows.filter((row) => row.done).map(({ key }) => key),
    secrets: keys,
    secret: true,
    ...(changes[0] && { idempotencyKey: changes[0].idempotencyKey }),
    ...summaryOf(sent, words),
  };
}

/** A key as it may stand in a log: its end. */
export const maskKey = (key: string): string => `…${key.slice(-5)}`;
