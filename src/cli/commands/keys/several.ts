import type { Client } from '../../../client/client.ts';
import type { CallOptions } from '../../../client/options.ts';
import { bulkOptions, chosenOnly, isBulk, resultFields } from '../../bulk/options.ts';
import { change, command, flag, option, productOfKey, productOfKeyOrRows, yes } from '../../command.ts';
import type { CommandContext } from '../../context.ts';
import { UsageError } from '../../failure/errors.ts';
import type { CommandResult, Field } from '../../output/result.ts';
import { count } from '../../output/words.ts';
import { confirmByTyping } from '../../prompts/questions.ts';
import { keyCheck, keysUnlessFile, licenseKeyArguments } from '../../values/license-key.ts';
import { ifUpdatedAt, unlessRefused } from '../forms.ts';

/** The fields of each row of a command on several keys. */
const keyFields: readonly Field[] = [
  { name: 'key' },
  { name: 'done' },
  { name: 'error' },
  { name: 'idempotencyKey', shown: 'chosen' },
];

const note = option('--note <TEXT>', 'why; kept in the audit log', { field: 'note' });

export const keysBlock = command({
  about: 'Blocks keys: they cannot be activated, signed or checked out until they are unblocked.',
  operation: 'keys.block',
  arguments: { keys: keysUnlessFile },
  options: { product: productOfKeyOrRows, note, ifUpdatedAt, keyCheck, ...change, ...bulkOptions },
  fields: [...keyFields, ...chosenOnly(resultFields([]), keyFields)],
  ownsOutput: isBulk,
  examples: [
    ['lkm keys block "$KEY" --note chargeback', 'until it is paid'],
    ['lkm keys block "$KEY1" "$KEY2"', 'two of them'],
    ['lkm keys block -P "$ID" -f stolen.csv --note stolen', 'each key of a file'],
  ],

  async run(values, context) {
    const { note, ifUpdatedAt } = values;
    if (values.file !== undefined) {
      const { blockKeys, changeKeysInBulk } = await import('../../bulk/operations/changes.ts');
      return changeKeysInBulk(context, blockKeys, values, { note });
    }
    return changeKeys(context, values, 'blocked', (client, address, call) =>
      client.keys.block({ ...address, note, ifUpdatedAt }, call),
    );
  },
});

export const keysUnblock = command({
  about: 'Makes blocked keys usable again.',
  operation: 'keys.unblock',
  arguments: { keys: licenseKeyArguments },
  options: { product: productOfKey, note, ifUpdatedAt, keyCheck, ...change },
  fields: keyFields,
  examples: [['lkm keys unblock "$KEY"', 'it is paid']],
  run: (values, context) =>
    changeKeys(context, values, 'unblocked', (client, address, call) =>
      client.keys.unblock({ ...address, note: values.note, ifUpdatedAt: values.ifUpdatedAt }, call),
    ),
});

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

  async run(values, context) {
    const { keys, product, inUse, yes, ifUpdatedAt } = values;
    checkKeys(values);
    if (!yes && !context.dryRun) for (const key of keys) await confirmDeleting(context, product, key);
    return changeKeys(context, values, 'deleted', (client, address, call) =>
      client.keys.delete({ ...address, force: inUse || undefined, ifUpdatedAt }, call),
    );
  },
});

/** All are confirmed before the first is deleted. */
async function confirmDeleting(context: CommandContext, product: string | undefined, key: string): Promise<void> {
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
  const found = await unlessRefused('licenseNotFound', client.keys.get({ productId, licenseKey }));
  if (found === null) return 'not there';
  const { license, customer } = found;
  return [count(license.activations, 'device'), customer === null ? 'no customer' : `for ${customer.name}`].join(' · ');
}

/** What the command line says of several keys. */
interface Several {
  readonly keys: readonly string[];
  /** That of all of them; found for each unless given. */
  readonly product: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly ifUpdatedAt: string | undefined;
}

type SendOne = (
  client: Client,
  address: { readonly productId: string; readonly licenseKey: string },
  call: CallOptions,
) => Promise<unknown>;

/** Checks that keys can be changed by one command. Throws `UsageError`. */
function checkKeys({ keys, idempotencyKey, ifUpdatedAt }: Several): void {
  if (new Set(keys).size < keys.length) throw new UsageError('a key is given twice', ['Nothing was sent.']);
  if (keys.length > 1 && idempotencyKey !== undefined) {
    throw new UsageError('one idempotency key stands for one request: give one KEY with it');
  }
  if (keys.length > 1 && ifUpdatedAt !== undefined) {
    throw new UsageError('--if-updated-at is that of one key: give one KEY with it');
  }
}

/** Changes keys one after the other; what is said on the way names their last section only. */
async function changeKeys(
  context: CommandContext,
  several: Several,
  done: string,
  sendOne: SendOne,
): Promise<CommandResult> {
  const { keys, product } = several;
  checkKeys(several);
  const addresses: Parameters<SendOne>[1][] = [];
  for (const licenseKey of keys) {
    addresses.push({ licenseKey, productId: await context.productOf(licenseKey, product) });
  }
  const { prepareEach, sendEach, summaryOf } = await import('../../request/send-each.ts');
  const changes = await prepareEach(
    context,
    addresses.map((address) => ({
      name: maskKey(address.licenseKey),
      send: (client, call) => sendOne(client, address, call),
    })),
  );
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
const maskKey = (key: string): string => `…${key.slice(-5)}`;
