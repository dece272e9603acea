import { appendFile, mkdir, readdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Client } from '../../../client/client.ts';
import type { Checkpoint } from '../../../contract/audit.ts';
import { argument, command } from '../../command.ts';
import { codeOf, LocalError, NotFoundError } from '../../failure/errors.ts';
import { count } from '../../output/words.ts';
import { did } from '../results.ts';
import { readFeed, refuseMasked } from './feed.ts';

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
    // Read before the rows, so that they include the row that the checkpoint signs.
    const checkpoint = (await Array.fromAsync(client.audit.checkpoints())).at(-1);
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

/** The files that prove a checkpoint, by name. */
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

/** Creates a folder for the files of `work`, and removes both if `work` fails. Throws `LocalError` for errors of the disk. */
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

/** Rows contain addresses that not every token sees. */
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

/** Describes the files of an exported folder. */
const readme = ({ accountId, seq, at }: Checkpoint, rows: number): string =>
  `The audit log of the account ${accountId}, rows 1 to ${rows}.

rows.jsonl         a row per line, as RFC 8785 writes JSON
hashes             the hash of each row: SHA-256 over the hash before and the row, the first one after 64 zeros
checkpoint.signed  states which hash row ${seq} had at ${at}; rows after it are linked, and not signed yet
checkpoint.sig     its Ed25519 signature
public-key.pem     the key that signed: compare it with those at /.well-known/jwks.json of the service
checkpoint.json    the same checkpoint, for: lkm audit verify --checkpoint checkpoint.json
verify.sh          checks all of this with sha256sum and openssl (3 or later) alone; many rows take a while
`;

const verifyScript = String.raw`#!/bin/sh
# Checks the audit log in this folder with nothing but sha256sum and openssl (3 or later).
set -eu
cd "$(dirname "$0")"

fail() {
  echo "broken: $1" >&2
  exit 1
}

openssl pkeyutl -verify -pubin -inkey public-key.pem -rawin -in checkpoint.signed -sigfile checkpoint.sig >/dev/null ||
  fail 'the signature of the checkpoint does not fit'
signed_seq=$(sed 's/.*"seq":\([0-9]*\).*/\1/' checkpoint.signed)
signed_hash=$(sed 's/.*"hash":"\([0-9a-f]*\)".*/\1/' checkpoint.signed)

hash=0000000000000000000000000000000000000000000000000000000000000000
seq=0
exec 3<hashes
while IFS= read -r row; do
  seq=$((seq + 1))
  IFS= read -r stated <&3 || fail "row $seq has no hash"
  case $row in *"\"seq\":$seq,"*) ;; *) fail "row $seq is not in its place" ;; esac
  hash=$(printf '%s%s' "$hash" "$row" | sha256sum | cut -d ' ' -f 1)
  [ "$hash" = "$stated" ] || fail "row $seq was changed"
  if [ "$seq" = "$signed_seq" ] && [ "$hash" != "$signed_hash" ]; then
    fail "row $seq is not the one that was signed"
  fi
done <rows.jsonl
[ "$seq" -ge "$signed_seq" ] || fail "rows after $seq are missing: row $signed_seq was signed"
echo "ok: $seq rows, signed up to row $signed_seq"
`;
