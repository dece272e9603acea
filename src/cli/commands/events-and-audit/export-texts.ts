import type { Checkpoint } from '../../../contract/audit.ts';

/** Says what is in an exported folder. */
export const readme = ({ accountId, seq, at }: Checkpoint, rows: number): string =>
  `The audit log of the account ${accountId}, rows 1 to ${rows}.

rows.jsonl         a row per line, as RFC 8785 writes JSON
hashes             the hash of each row: SHA-256 over the hash before and the row, the first one after 64 zeros
checkpoint.signed  states which hash row ${seq} had at ${at}; rows after it are linked, and not signed yet
checkpoint.sig     its Ed25519 signature
public-key.pem     the key that signed: compare it with those at /.well-known/jwks.json of the service
checkpoint.json    the same checkpoint, for: lkm audit verify --checkpoint checkpoint.json
verify.sh          checks all of this with sha256sum and openssl (3 or later) alone; many rows take a while
`;

/** Checks an exported folder. */
export const verifyScript = String.raw`#!/bin/sh
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
