import type { SigningKey } from '../../contract/signing-keys.ts';
import { command, option } from '../command.ts';
import type { CommandResult, Field } from '../output/result.ts';
import { count, relative, yesNo } from '../output/words.ts';
import { changeCommand, showCommand } from './forms.ts';
import { type Fields, fieldsShown, hintsOf, listOf } from './results.ts';

const keyFields: readonly Field[] = [
  { name: 'kid' },
  { name: 'current', label: 'signs now', show: yesNo },
  { name: 'createdAt', label: 'created', show: relative, drops: 1 },
  ...fieldsShown('chosen', 'fingerprint', 'publicKey', 'jwk'),
];

export const signingKeysList = showCommand({
  about: 'Lists the keys that sign licence files or have signed them, newest first; never their private halves.',
  operation: 'signingKeys.list',
  fields: keyFields,
  examples: [
    ['lkm signing-keys list', 'all of them; the newest signs'],
    ['lkm signing-keys list --fields kid,fingerprint', 'to compare with the keys in software'],
  ],
  show: ({ items }) => listOf(items, 'no signing keys', { name: 'kid' }),
});

export const signingKeysRotate = changeCommand({
  about:
    'Makes a new signing key and prints its id. It signs licence files from then on; the files that the others have ' +
    'signed go on verifying. Asks first.',
  operation: 'signingKeys.rotate',
  fields: keyFields,
  examples: [['lkm signing-keys rotate --yes', 'in a script; then export the new key set']],

  asks: () => ({
    about: async () => ['  software that carries the public keys cannot verify new files until it has the new key'],
    question: 'make a new signing key?',
    action: 'rotating the signing key',
  }),
  outcome: (key) => ({
    ...{ kind: 'value', value: key.kid, data: key, quiet: [key.kid] },
    done: `${key.kid} signs licence files now`,
    notes: hintsOf(['give software that verifies the new keys: lkm signing-keys export']),
  }),
});

export const signingKeysExport = command({
  about: 'Writes the public keys of the account, newest first: what software that verifies licence files carries.',
  operation: 'signingKeys.list',
  options: {
    as: option('--as <FORM>', 'jwks (default), as keys verify takes them, or pem', { choices: ['jwks', 'pem'] }),
  },
  fields: ['keys', 'path'],
  examples: [
    ['lkm signing-keys export -o jwks.json', 'all public keys as a JSON Web Key Set'],
    ['lkm signing-keys export --as pem -o keys.pem', 'for openssl; each key below its id'],
  ],

  async run({ as }, context) {
    const { items } = await (await context.client()).signingKeys.list();
    const set = { keys: items.map(({ jwk }) => jwk) };
    const content = as === 'pem' ? pemOf(items) : `${JSON.stringify(set, null, 2)}\n`;
    return exported(content, set, context.settings.output, ` · ${count(items.length, 'public key')}`);
  },
});

/** PEM allows text before a key (RFC 7468 §2). */
const pemOf = (keys: readonly SigningKey[]): string =>
  keys.map(({ kid, publicKey }) => `kid ${kid}\n${publicKey}`).join('\n');

export const revocationsExport = command({
  about:
    'Writes the signed list of revoked licence files: their devices were freed, or their licences blocked ' +
    'or deleted. Software that is offline reads it beside its licence file.',
  operation: 'revocations.export',
  options: { account: option('--account <ID>', 'the account; the oldest one of the service unless given') },
  fields: ['list', 'path'],
  examples: [
    ['lkm revocations export -o revocations.jwt', 'for lkm keys verify --revocations'],
    ['lkm revocations export -o - | ssh pc-7 tee revocations.jwt', 'straight to a device'],
  ],

  async run({ account }, context) {
    const client = await context.client({ needsToken: false });
    const list = await client.revocations.export({ account });
    return exported(list, { list }, context.settings.output);
  },
});

const exported = (content: string, data: Fields, path: string | null, more = ''): CommandResult => ({
  ...{ kind: 'file', content, data: path === null ? data : { path }, quiet: [] },
  notes: path === null ? [] : [{ tone: 'done', text: `wrote ${path}${more}` }],
});
