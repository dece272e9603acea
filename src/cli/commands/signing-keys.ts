import { listAll } from '../../client/lists.ts';
import type { SigningKey } from '../../contract/signing-keys.ts';
import { change, command, option, yes } from '../command.ts';
import type { CommandContext } from '../context.ts';
import type { Field } from '../output/result.ts';
import { doneNote } from '../output/terminal.ts';
import { count, relative } from '../output/words.ts';
import { confirm } from '../prompts/questions.ts';

const keyFields: readonly Field[] = [
  { name: 'kid' },
  { name: 'current', label: 'signs now', show: (current) => (current === true ? 'yes' : 'no') },
  { name: 'createdAt', label: 'created', show: relative, drops: 1 },
  { name: 'fingerprint', shown: 'chosen' },
  { name: 'publicKey', shown: 'chosen' },
  { name: 'jwk', shown: 'chosen' },
];

export const signingKeysList = command({
  about: 'Lists the keys that sign licence files or have signed them, newest first; never their private halves.',
  operation: 'signingKeys.list',
  watchable: true,
  fields: keyFields,
  examples: [
    ['lkm signing-keys list', 'all of them; the newest signs'],
    ['lkm signing-keys list --fields kid,fingerprint', 'to compare with what software carries'],
  ],

  async run(_, context) {
    const keys = await readAll(context);
    return {
      kind: 'rows',
      rows: keys,
      data: keys,
      quiet: keys.map(({ kid }) => kid),
      empty: 'no signing keys',
    };
  },
});

export const signingKeysRotate = command({
  about:
    'Makes a new signing key and prints its id. It signs licence files from then on; the files that the others have ' +
    'signed go on verifying. Asks first.',
  operation: 'signingKeys.rotate',
  options: { yes, ...change },
  fields: [...keyFields, { name: 'idempotencyKey', shown: 'chosen' }],
  examples: [
    ['lkm signing-keys rotate', 'says what it means and asks'],
    ['lkm signing-keys rotate --yes', 'in a script; then export the new key set'],
  ],

  async run({ yes }, context) {
    if (!yes && !context.dryRun) {
      await confirm(context, {
        about: ['  software that carries the public keys cannot verify new files until it has the new key'],
        question: 'make a new signing key?',
        action: 'rotating the signing key',
        flag: '--yes',
      });
    }
    const changed = await context.change((client, call) => client.signingKeys.rotate({}, call));
    const { answer, idempotencyKey } = changed;
    return {
      kind: 'value',
      value: answer.kid,
      data: { ...answer, idempotencyKey },
      quiet: [answer.kid],
      idempotencyKey,
      notes: [
        doneNote(changed, `${answer.kid} signs licence files now`),
        { tone: 'hint', text: 'give software that verifies the new keys: lkm signing-keys export' },
      ],
    };
  },
});

export const signingKeysExport = command({
  about: 'Writes the public keys of the account, newest first: what software that verifies licence files carries.',
  operation: 'signingKeys.list',
  options: {
    as: option('--as <FORM>', 'jwks (default), as keys verify takes them, or pem', { choices: ['jwks', 'pem'] }),
  },
  fields: [{ name: 'keys' }, { name: 'path' }],
  examples: [
    ['lkm signing-keys export -o jwks.json', 'all public keys as a JSON Web Key Set'],
    ['lkm signing-keys export --as pem -o keys.pem', 'for openssl; each key below its id'],
  ],

  async run({ as = 'jwks' }, context) {
    const keys = await readAll(context);
    const path = context.settings.output;
    const content = as === 'pem' ? pemOf(keys) : `${JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }, null, 2)}\n`;
    return {
      kind: 'file',
      content,
      data: path === null ? { keys: keys.map(({ jwk }) => jwk) } : { path },
      quiet: [],
      notes: path === null ? [] : [{ tone: 'done', text: `wrote ${path} · ${count(keys.length, 'public key')}` }],
    };
  },
});

async function readAll(context: CommandContext): Promise<SigningKey[]> {
  const client = await context.client();
  return Array.fromAsync(listAll(client.signingKeys.list, {}));
}

/** Text before a key is allowed in PEM (RFC 7468 §2), and names it. */
const pemOf = (keys: readonly SigningKey[]): string =>
  keys.map(({ kid, publicKey }) => `kid ${kid}\n${publicKey}`).join('\n');
