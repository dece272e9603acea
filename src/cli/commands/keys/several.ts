import type { Client } from '../../../client/client.ts';
import { contract } from '../../../contract/index.ts';
import { bulkOptions, orInBulk } from '../../bulk/options.ts';
import { change, command, flag, option, productOfKeyOrRows, yes } from '../../command.ts';
import type { CommandContext } from '../../context.ts';
import type { CommandResult, Field } from '../../output/result.ts';
import { count } from '../../output/words.ts';
import type { Change } from '../../request/changes.ts';
import { unlessRefused } from '../../request/look-ups.ts';
import { keyCheck, keysUnlessFile } from '../../values/license-key.ts';
import { ifUpdatedAt } from '../forms.ts';
import { changeKeys } from '../several.ts';

/** The fields of each row of a command on several keys. */
const keyFields: readonly Field[] = [
  { name: 'key' },
  { name: 'done' },
  { name: 'error' },
  { name: 'idempotencyKey', shown: 'chosen' },
];

const note = option('--note <TEXT>', 'why; kept in the audit log');

export const keysBlock = command({
  about: 'Blocks keys: they cannot be activated, signed or checked out until they are unblocked.',
  operation: 'keys.block',
  arguments: { keys: keysUnlessFile },
  options: { product: productOfKeyOrRows, note, ifUpdatedAt, keyCheck, ...change, ...bulkOptions },
  ...orInBulk(keyFields),
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
    return changeGiven(context, 'blocked', values, (address) => ({
      endpoint: contract.keys.block,
      input: { ...address, note, ifUpdatedAt },
    }));
  },
});

export const keysUnblock = command({
  about: 'Makes blocked keys usable again.',
  operation: 'keys.unblock',
  arguments: { keys: keysUnlessFile },
  options: { product: productOfKeyOrRows, note, ifUpdatedAt, keyCheck, ...change, ...bulkOptions },
  ...orInBulk(keyFields),
  examples: [['lkm keys unblock "$KEY"', 'it is paid']],
  async run(values, context) {
    const { note, ifUpdatedAt } = values;
    if (values.file !== undefined) {
      const { changeKeysInBulk, unblockKeys } = await import('../../bulk/operations/changes.ts');
      return changeKeysInBulk(context, unblockKeys, values, { note });
    }
    return changeGiven(context, 'unblocked', values, (address) => ({
      endpoint: contract.keys.unblock,
      input: { ...address, note, ifUpdatedAt },
    }));
  },
});

export const keysRevoke = command({
  about:
    'Ends keys for ever, and keeps them with the reason: they cannot be used, changed, renewed or unblocked any more. To ' +
    'stop a key for a time, block it.',
  operation: 'keys.revoke',
  arguments: { keys: keysUnlessFile },
  options: {
    product: productOfKeyOrRows,
    reason: option('--reason <TEXT>', 'why; shown with the key'),
    yes,
    ifUpdatedAt,
    keyCheck,
    ...change,
    ...bulkOptions,
  },
  ...orInBulk(keyFields),
  examples: [
    ['lkm keys revoke "$KEY" --reason refunded', 'shows what uses it, and asks'],
    ['lkm keys revoke "$KEY" --reason refunded --yes', 'in a script'],
    ['lkm keys revoke -f leaked.csv --reason leaked', 'each key of a file; asks once'],
  ],
  async run({ reason, yes, ...values }, context) {
    const { ifUpdatedAt } = values;
    if (values.file !== undefined) {
      const { changeKeysInBulk, revokeKeys } = await import('../../bulk/operations/changes.ts');
      return changeKeysInBulk(context, revokeKeys, { ...values, asks: !yes }, { reason });
    }
    return changeGiven(context, 'revoked', { ...values, asks: !yes }, (address) => ({
      endpoint: contract.keys.revoke,
      input: { ...address, reason, ifUpdatedAt },
    }));
  },
});

export const keysDelete = command({
  about:
    'Deletes keys for ever, with --in-use also those that devices or sessions use. Licence files that were signed stay ' +
    'valid until they expire. To stop a key and keep it, block it.',
  operation: 'keys.delete',
  arguments: { keys: keysUnlessFile },
  options: {
    product: productOfKeyOrRows,
    inUse: flag('--in-use', 'also a key in use, with its devices and sessions'),
    yes,
    ifUpdatedAt,
    keyCheck,
    ...change,
    ...bulkOptions,
  },
  ...orInBulk(keyFields),
  examples: [
    ['lkm keys delete "$KEY"', 'shows what it takes along, and asks'],
    ['lkm keys delete "$KEY" --in-use --yes', 'in a script, whatever uses it'],
  ],
  async run({ inUse, yes, ...values }, context) {
    const { ifUpdatedAt } = values;
    const force = inUse || undefined;
    if (values.file !== undefined) {
      const { changeKeysInBulk, deleteKeys } = await import('../../bulk/operations/changes.ts');
      return changeKeysInBulk(context, deleteKeys, { ...values, asks: !yes }, { force });
    }
    return changeGiven(context, 'deleted', { ...values, asks: !yes }, (address) => ({
      endpoint: contract.keys.delete,
      input: { ...address, force, ifUpdatedAt },
    }));
  },
});

interface Keys {
  readonly keys: readonly string[];
  /** That of all of them; found for each unless given. */
  readonly product: string | undefined;
  readonly asks?: boolean;
}

type ChangeOf = (address: { readonly productId: string; readonly licenseKey: string }) => Change;

function changeGiven(
  context: CommandContext,
  done: string,
  { keys, product, asks = false }: Keys,
  changeOf: ChangeOf,
): Promise<CommandResult> {
  return changeKeys(
    context,
    done,
    keys,
    async (licenseKey) => changeOf({ licenseKey, productId: await context.productOf(licenseKey, product) }),
    asks ? { describe: (client, licenseKey) => describeUse(client, { productId: product, licenseKey }) } : {},
  );
}

async function describeUse(client: Client, address: Parameters<Client['keys']['get']>[0]): Promise<string[]> {
  const found = await unlessRefused('licenseNotFound', client.keys.get(address));
  if (found === null) return ['not there'];
  const { license, customer } = found;
  return [`${count(license.activations, 'device')} · ${customer === null ? 'no customer' : `for ${customer.name}`}`];
}
