import type { Client } from '../../../client/client.ts';
import { flag, option, productOfKeyOrRows } from '../../command.ts';
import { count } from '../../output/words.ts';
import { unlessRefused } from '../../request/look-ups.ts';
import { keyCheck, keysUnlessFile } from '../../values/license-key.ts';
import type { Description } from '../change-each.ts';
import { ifUpdatedAt } from '../forms.ts';
import { type KeyAddress, keysCommand } from './keys-command.ts';

const fields = ['key', 'done', 'error'];

const note = option('--note <TEXT>', 'why; kept in the audit log');

export const keysBlock = keysCommand({
  about: 'Blocks keys: they cannot be activated, signed or checked out until they are unblocked.',
  operation: 'keys.block',
  done: 'blocked',
  arguments: { keys: keysUnlessFile },
  options: { product: productOfKeyOrRows, note, ifUpdatedAt, keyCheck },
  rows: { repeatsSafely: true },
  fields,
  examples: [
    ['lkm keys block "$KEY" --note chargeback', 'until it is paid'],
    ['lkm keys block "$KEY1" "$KEY2"', 'two of them'],
    ['lkm keys block -P "$ID" -f stolen.csv --note stolen', 'each key of a file'],
  ],
});

export const keysUnblock = keysCommand({
  about: 'Makes blocked keys usable again.',
  operation: 'keys.unblock',
  done: 'unblocked',
  arguments: { keys: keysUnlessFile },
  options: { product: productOfKeyOrRows, note, ifUpdatedAt, keyCheck },
  rows: { repeatsSafely: true },
  fields,
  examples: [['lkm keys unblock "$KEY"', 'it is paid']],
});

export const keysRevoke = keysCommand({
  about:
    'Ends keys for ever, and keeps them with the reason: they cannot be used, changed, renewed or unblocked any more. To ' +
    'stop a key for a time, block it.',
  operation: 'keys.revoke',
  done: 'revoked',
  arguments: { keys: keysUnlessFile },
  options: {
    product: productOfKeyOrRows,
    reason: option('--reason <TEXT>', 'why; shown with the key'),
    ifUpdatedAt,
    keyCheck,
  },
  rows: { repeatsSafely: true },
  fields,
  examples: [
    ['lkm keys revoke "$KEY" --reason refunded', 'shows the devices of the key, and asks'],
    ['lkm keys revoke "$KEY" --reason refunded --yes', 'in a script'],
    ['lkm keys revoke -f leaked.csv --reason leaked', 'each key of a file; asks once'],
  ],
  describe: describeUse,
});

export const keysDelete = keysCommand({
  about:
    'Deletes keys for ever, with --in-use also those that devices or sessions use. Licence files that were signed stay ' +
    'valid until they expire. To stop a key and keep it, block it.',
  operation: 'keys.delete',
  done: 'deleted',
  arguments: { keys: keysUnlessFile },
  options: {
    product: productOfKeyOrRows,
    inUse: flag('--in-use', 'also a key in use, with its devices and sessions', { field: 'force' }),
    ifUpdatedAt,
    keyCheck,
  },
  rows: {},
  fields,
  examples: [
    ['lkm keys delete "$KEY"', 'shows the devices of the key, and asks'],
    ['lkm keys delete "$KEY" --in-use --yes', 'in a script, whatever uses it'],
  ],
  describe: describeUse,
});

async function describeUse(client: Client, key: KeyAddress): Promise<Description> {
  const found = await unlessRefused('licenseNotFound', client.keys.get(key));
  if (found === null) return { lines: ['not there'] };
  const { license, customer } = found;
  const owner = customer === null ? 'no customer' : `for ${customer.name}`;
  return { lines: [`${count(license.activations, 'device')} · ${owner}`] };
}
