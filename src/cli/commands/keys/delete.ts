import { ApiError } from '../../../contract/errors.ts';
import { change, command, flag, productOfKey, yes } from '../../command.ts';
import type { CommandContext } from '../../context.ts';
import { count } from '../../output/words.ts';
import { confirmByTyping } from '../../prompts/questions.ts';
import { keyCheck, licenseKeyArguments } from '../../values/license-key.ts';
import { ifUpdatedAt } from './changed.ts';
import { changeKeys, checkKeys, keyFields, maskKey } from './several.ts';

export const keysDelete = command({
  about:
    'Deletes keys for ever, with --in-use also those that devices or sessions use. Licence files that were signed stay ' +
    'valid until they expire. To stop a key and keep it, block it.',
  operation: 'keys.delete',
  arguments: { keys: licenseKeyArguments },
  options: {
    product: productOfKey,
    inUse: flag('--in-use', 'also a key in use, with its devices and sessions'),
    yes,
    ifUpdatedAt,
    keyCheck,
    ...change,
  },
  fields: keyFields,
  examples: [
    ['lkm keys delete "$KEY"', 'shows what it takes along, and asks'],
    ['lkm keys delete "$KEY" --in-use --yes', 'in a script, whatever uses it'],
  ],

  async run({ keys, product, inUse, yes, ifUpdatedAt, idempotencyKey }, context) {
    checkKeys({ keys, idempotencyKey, ifUpdatedAt });
    if (!yes && !context.dryRun) for (const key of keys) await confirmOne(context, product, key);
    return changeKeys(
      context,
      { keys, product, idempotencyKey, ifUpdatedAt, done: 'deleted' },
      (address) => (client, call) => client.keys.delete({ ...address, force: inUse || undefined, ifUpdatedAt }, call),
    );
  },
});

/** All are confirmed before the first is deleted. */
async function confirmOne(context: CommandContext, product: string | undefined, key: string): Promise<void> {
  await confirmByTyping(context, key.slice(-5), {
    about: context.settings.interactive
      ? ['this deletes the key for ever:', `  ${maskKey(key)}  ${await describeUse(context, product, key)}`]
      : [],
    action: `deleting ${maskKey(key)}`,
    flag: '--yes',
  });
}

async function describeUse(
  context: CommandContext,
  productId: string | undefined,
  licenseKey: string,
): Promise<string> {
  const client = await context.client();
  const found = await client.keys.get({ productId, licenseKey }).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  });
  if (found === null) return 'not there';
  const { license, customer } = found;
  return [count(license.activations, 'device'), customer === null ? 'no customer' : `for ${customer.name}`].join(' · ');
}
