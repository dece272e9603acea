import { bulkOptions, chosenOnly, isBulk, resultFields } from '../../bulk/options.ts';
import { change, command, option, productOfKey, productOfKeyOrRows } from '../../command.ts';
import type { CommandContext } from '../../context.ts';
import type { CommandResult } from '../../output/result.ts';
import { keyCheck, keysUnlessFile, licenseKeyArguments } from '../../values/license-key.ts';
import { ifUpdatedAt } from './changed.ts';
import { changeKeys, keyFields } from './several.ts';

const note = option('--note <TEXT>', 'why; kept in the audit log', { field: 'note' });

const options = { product: productOfKey, note, ifUpdatedAt, keyCheck, ...change };

export const keysBlock = command({
  about: 'Blocks keys: they cannot be activated, signed or checked out until they are unblocked.',
  operation: 'keys.block',
  arguments: { keys: keysUnlessFile },
  options: { ...options, product: productOfKeyOrRows, ...bulkOptions },
  fields: [...keyFields, ...chosenOnly(resultFields([]), keyFields)],
  ownsOutput: isBulk,
  examples: [
    ['lkm keys block "$KEY" --note chargeback', 'until it is paid'],
    ['lkm keys block "$KEY1" "$KEY2"', 'two of them'],
    ['lkm keys block -P "$ID" -f stolen.csv --note stolen', 'each key of a file'],
  ],
  async run({ product, ...values }, context) {
    if (values.file !== undefined) {
      const { blockKeysOperation, changeKeysInBulk } = await import('../../bulk/operations/change-keys.ts');
      return changeKeysInBulk(context, blockKeysOperation, { product, ...values }, { note: values.note });
    }
    return switchKeys({ product, ...values }, context, 'block');
  },
});

export const keysUnblock = command({
  about: 'Makes blocked keys usable again.',
  operation: 'keys.unblock',
  arguments: { keys: licenseKeyArguments },
  options,
  fields: keyFields,
  examples: [['lkm keys unblock "$KEY"', 'it is paid']],
  run: (values, context) => switchKeys(values, context, 'unblock'),
});

interface Values {
  readonly keys: readonly string[];
  readonly product: string | undefined;
  readonly note: string | undefined;
  readonly ifUpdatedAt: string | undefined;
  readonly idempotencyKey: string | undefined;
}

function switchKeys(
  { keys, product, note, ifUpdatedAt, idempotencyKey }: Values,
  context: CommandContext,
  operation: 'block' | 'unblock',
): Promise<CommandResult> {
  return changeKeys(
    context,
    { keys, product, idempotencyKey, ifUpdatedAt, done: `${operation}ed` },
    (address) => (client, call) => client.keys[operation]({ ...address, note, ifUpdatedAt }, call),
  );
}
