#!/bin/sh
# Verifies the signature of a licence file with nothing but openssl and a POSIX shell, and prints its claims.
#
#   verify-with-openssl.sh FILE JWKS
#
# FILE is what `lkm keys sign` wrote; JWKS holds the public keys, from /.well-known/jwks.json of the service, and
# comes from a place you trust, never from the file. Exit 0 when the signature is good. Expiry (`exp`), device
# (`machine`) and product (`productId`) are claims: compare them yourself.
set -eu

file=$1 jwks=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# base64url without padding, as in RFC 7515, to bytes
decode() {
  text=$(printf %s "$1" | tr -- '-_' '+/')
  while [ $((${#text} % 4)) -ne 0 ]; do text="$text="; done
  printf %s "$text" | openssl base64 -d -A
}

token=$(sed -n 's/.*"licenseToken":"\([^"]*\)".*/\1/p' "$file")
header=${token%%.*} rest=${token#*.}
claims=${rest%%.*} signature=${rest#*.}

decode "$header" | grep -q '"alg":"EdDSA"' || { echo 'the file is not signed with EdDSA' >&2; exit 1; }
kid=$(decode "$header" | sed -n 's/.*"kid":"\([^"]*\)".*/\1/p')
x=$(tr '{' '\n' <"$jwks" | grep -F "\"kid\":\"$kid\"" | sed -n 's/.*"x":"\([^"]*\)".*/\1/p')
[ -n "$x" ] || { echo "no trusted key has the id $kid" >&2; exit 1; }

# An Ed25519 public key in SPKI form is this prefix (RFC 8410) and the 32 bytes of x.
{ printf '\060\052\060\005\006\003\053\145\160\003\041\000'; decode "$x"; } >"$work/key.der"
openssl pkey -pubin -inform DER -in "$work/key.der" -out "$work/key.pem"

printf %s "$header.$claims" >"$work/signed"
decode "$signature" >"$work/signature"
openssl pkeyutl -verify -pubin -inkey "$work/key.pem" -rawin -in "$work/signed" -sigfile "$work/signature" >&2

decode "$claims"
echo
