import { appendFile, mkdir, readdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Client } from '../../../client/client.ts';
import type { Checkpoint } from '../../../contract/audit.ts';
import { argument, command } from '../../command.ts';
import { codeOf, LocalError, NotFoundError } from '../../failure/errors.ts';
import { count } from '../../output/words.ts';
import { did } from '../results.ts';
import { readme, verifyScript } from './export-texts.ts';
import { readFeed, readItems, refuseMasked } from './feed.ts';

export const auditExport = command({
  about:
    'Writes the audit log into a new folder: its rows, their hashes, the last checkpoint with its signature, the public ' +
    'key, and verify.sh, which checks all of it with sha256sum and openssl alone. Keep checkpoint.json where nobody can ' +
    'change it: lkm audit verify --checkpoint compares a service with it.',
  operation: 'audit.list',
  arguments: { folder: argument('<DIR>', 'the folder, which is made') },
  fields: ['path', 'rows', 'checkpoint'],
  examples: [['lkm audit export audit-2026', 'for an auditor; then: sh audit-2026/verify.sh']],

  async run({ folder }, context) {
    const path = resolve(context.io.cwd, folder);
    const client = await context.client();
    // Before the rows, so that the row that it vouches for is among them.
    const checkpoint = (await Array.fromAsync(readItems(client.audit.checkpoints, 0))).at(-1);
    if (checkpoint === undefined) {
      throw new NotFoundError(
        'no row of the audit log is signed yet; the first is within a second of the first change',
      );
    }
    const proof = await proofOf(client, checkpoint);
    const rows = await inNewFolder(path, folder, async () => {
      const rows = await writeRows(client, path);
      const files = { ...proof, 'verify.sh': verifyScript, README: readme(checkpoint, rows) };
      for (const [name, content] of Object.entries(files)) await writeFile(join(path, name), content, OWNER_ONLY);
      return rows;
    });
    const done = `wrote ${count(rows, 'row')} to ${folder} · signed up to row ${checkpoint.seq}`;
    const hint = 'keep checkpoint.json elsewhere, and check it all with verify.sh';
    return did(path, { path, rows, checkpoint }, done, hint);
  },
});

/** The files that prove what a checkpoint states, by their names. */
async function proofOf(client: Client, checkpoint: Checkpoint) {
  const { accountId, kid, signature } = checkpoint;
  const { keys } = await client.signingKeys.jwks({ account: accountId });
  const jwk = keys.find((key) => key.kid === kid);
  if (jwk === undefined)
    throw new NotFoundError(`the service does not show the key ${kid}, which signed the checkpoint`);
  const { publicKeyPem, signedText } = await import('../../../domain/audit-chain.ts');
  return {
    'checkpoint.json': `${JSON.stringify(checkpoint, null, 2)}\n`,
    'checkpoint.signed': signedText(checkpoint),
    'checkpoint.sig': Buffer.from(signature, 'base64url'),
    'public-key.pem': publicKeyPem(jwk),
  };
}

/** Makes a folder for what `work` writes, and removes both when that fails. Throws `LocalError` for what the disk refuses. */
async function inNewFolder<T>(path: string, folder: string, work: () => Promise<T>): Promise<T> {
  let isMade = false;
  try {
    isMade = (await mkdir(path, { recursive: true, mode: 0o700 })) !== undefined;
    if ((await readdir(path)).length > 0) throw new LocalError(`${folder} is not empty`, ['Name a new folder.']);
    try {
      return await work();
    } catch (error) {
      for (const name of await readdir(path)) await rm(join(path, name));
      if (isMade) await rmdir(path);
      throw error;
    }
  } catch (cause) {
    const isOfDisk = cause instanceof Error && 'syscall' in cause;
    throw isOfDisk ? new LocalError(`cannot write ${folder} (${codeOf(cause)})`, [], { cause }) : cause;
  }
}

/** The rows name addresses that not every token sees. */
const OWNER_ONLY = { mode: 0o600 };

async function writeRows(client: Client, path: string): Promise<number> {
  const { contentOf } = await import('../../../domain/audit-chain.ts');
  let rows = 0;
  for await (const { items } of readFeed(client.audit.list, 0)) {
    refuseMasked(items);
    await appendFile(join(path, 'rows.jsonl'), items.map((row) => `${contentOf(row)}\n`).join(''), OWNER_ONLY);
    await appendFile(join(path, 'hashes'), items.map(({ hash }) => `${hash}\n`).join(''), OWNER_ONLY);
    rows += items.length;
  }
  return rows;
}
