#!/bin/sh
# Verifies the signature of a licence file with nothing but openssl and a POSIX shell, and prints its claims.
#
#   examples/verify-with-openssl.sh FILE JWKS
#
# FILE is what `lkm keys sign` wrote; JWKS holds the public keys, from /.well-known/jwks.json of the service, and
# comes from a place you trust, never from the file. Both may be formatted in any way. Exit 0 when the signature is
# good. Expiry (`exp`), device (`machine`) and product (`productId`) are claims: compare them yourself.
# Needs OpenSSL 3 (`openssl version`): the one of macOS (LibreSSL) does not verify Ed25519.
set -eu

file=$1 jwks=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "$1" >&2
  exit 1
}

# base64url without padding, as in RFC 7515, to bytes
decode() {
  text=$(printf %s "$1" | tr -- '-_' '+/')
  while [ $((${#text} % 4)) -ne 0 ]; do text="$text="; done
  printf %s "$text" | openssl base64 -d -A
}

# JSON on one line without spaces; nothing that is looked for here has spaces inside
compact() {
  tr -d ' \t\r\n'
}

# member NAME: the text of a member of the JSON on stdin
member() {
  sed -n 's/.*"'"$1"'":"\([^"\\]*\)".*/\1/p'
}

[ -r "$file" ] || fail "cannot read $file"
[ -r "$jwks" ] || fail "cannot read $jwks"

token=$(compact <"$file" | member licenseToken)
case $token in
  *[!A-Za-z0-9._-]* | *.*.*.* | '') fail "$file is not a licence file: it has no licenseToken" ;;
  *.*.*) ;;
  *) fail "$file is not a licence file: its licenseToken is damaged" ;;
esac
header=${token%%.*} rest=${token#*.}
claims=${rest%%.*} signature=${rest#*.}

decode "$header" | compact | grep -q '"alg":"EdDSA"' || fail 'the file is not signed with EdDSA'
kid=$(decode "$header" | compact | member kid)
[ -n "$kid" ] || fail 'the file does not say which key signed it'
x=$(compact <"$jwks" | tr '{' '\n' | grep -F "\"kid\":\"$kid\"" | member x)
[ -n "$x" ] || fail "no key in $jwks has the id $kid, which signed the file"

# An Ed25519 public key in SPKI form is this prefix (RFC 8410) and the 32 bytes of x.
{ printf '\060\052\060\005\006\003\053\145\160\003\041\000'; decode "$x"; } >"$work/key.der"
openssl pkey -pubin -inform DER -in "$work/key.der" -out "$work/key.pem" 2>"$work/log" ||
  fail "openssl cannot read the public key $kid (Ed25519 needs OpenSSL 3): $(openssl version)"

printf %s "$header.$claims" >"$work/signed"
decode "$signature" >"$work/signature"
openssl pkeyutl -verify -pubin -inkey "$work/key.pem" -rawin -in "$work/signed" -sigfile "$work/signature" \
  >"$work/log" 2>&1 || fail 'the signature does not fit: the file was changed after it was signed'
echo 'the signature is good' >&2

decode "$claims"
echo
