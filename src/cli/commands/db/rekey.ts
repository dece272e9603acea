import { command, flag, option } from '../../command.ts';
import { readKeyFile, readMasterKey, readPassphraseFile } from '../../config/master-key.ts';
import { UsageError } from '../../failure/errors.ts';
import { count } from '../../output/words.ts';
import { operateOn } from '../../request/operator.ts';

export const dbRekey = command({
  about:
    'Puts the secrets in a database (private signing keys, secrets of sessions and webhooks) under another master key, or ' +
    'makes them plain. The present master key is read from LKM_MASTER_KEY_FILE, LKM_MASTER_KEY or ' +
    'LKM_MASTER_PASSPHRASE_FILE. Servers on PostgreSQL go on with the old one until they start anew; stop them before ' +
    'plain secrets are sealed, or sealed ones made plain.',
  options: {
    newKeyFile: option('--new-key-file <FILE>', 'a master key: 32 bytes in base64; nobody else may read the file'),
    newPassphraseFile: option('--new-passphrase-file <FILE>', 'a passphrase, at least 16 characters, in its place'),
    plain: flag('--plain', 'keep the secrets as they are: whoever reads the database has them'),
  },
  fields: [{ name: 'secrets' }, { name: 'written' }],
  examples: [
    ['lkm db rekey --db lkm.db --new-key-file master.key', 'made with: openssl rand -base64 32 > master.key'],
    ['lkm db rekey --db lkm.db --plain', 'with the present one in LKM_MASTER_KEY_FILE'],
  ],

  async run({ newKeyFile, newPassphraseFile, plain }, context) {
    const { io } = context;
    if ([newKeyFile, newPassphraseFile, plain || undefined].filter((one) => one !== undefined).length !== 1) {
      throw new UsageError('give one of --new-key-file, --new-passphrase-file and --plain');
    }
    const to =
      newKeyFile !== undefined
        ? readKeyFile(newKeyFile, io)
        : newPassphraseFile !== undefined
          ? readPassphraseFile(newPassphraseFile, io)
          : null;
    const from = readMasterKey(io);
    const { db, operator } = await operateOn(context);
    const { kept, written } = await operator.rekeyDatabase(db, { from, to });
    const changed = written === 0 ? '' : `; ${count(written, 'secret')} written anew`;
    return {
      kind: 'done',
      data: { secrets: kept, written },
      quiet: [kept],
      notes: [
        { tone: 'done', text: kept === 'sealed' ? `sealed under the new master key${changed}` : `plain${changed}` },
        ...(kept === 'sealed'
          ? [{ tone: 'hint' as const, text: 'without that key nobody opens them: keep a copy elsewhere' }]
          : []),
      ],
    };
  },
});
