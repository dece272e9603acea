#!/bin/sh
# Verifies a licence file of lkm without a network: a POSIX shell and OpenSSL 3, nothing to install.
#
#   verify.sh FILE JWKS HOST PRODUCT WATERMARK [REVOCATIONS]
#   verify.sh --activation PROOF JWKS HOST PRODUCT KEY NONCE
#
# Prints the verdict; exit code 0 for ok, 5 for any other. JWKS holds the public keys (lkm signing-keys export) and
# REVOCATIONS the list of revoked files (lkm revocations export): both come from a place you trust. WATERMARK is a file of
# your own, which keeps the latest time that was seen, so that a clock set back gains nothing. The OpenSSL of macOS
# (LibreSSL) does not verify Ed25519.
#
# PROOF is a file with the proof of an activation, asked for with NONCE, which was made up for that one request.
set -eu

mode=file
[ "$1" != --activation ] || { mode=activation; shift; }
file=$1 jwks=$2 host=$3 product=$4 watermark=$5 revocations=${6-} key=$5 nonce=${6-}
leeway=60 # seconds that a clock may be behind
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The verdict ends the program; the latest time that is known becomes the watermark.
verdict() {
  if [ $mode = file ]; then
    echo "$now" >"$watermark.tmp"
    mv "$watermark.tmp" "$watermark"
  fi
  echo "$1"
  [ "$1" = ok ] || exit 5
  exit 0
}

# base64url without padding (RFC 7515) to bytes
decode() {
  text=$(printf %s "$1" | tr -- '-_' '+/')
  while [ $((${#text} % 4)) -ne 0 ]; do text="$text="; done
  printf %s "$text" | openssl base64 -d -A
}

# JSON on one line, without the spaces between its parts
compact() {
  tr -d '\t\r\n' | sed 's/\([,:{[]\) */\1/g; s/ *\([]}]\)/\1/g'
}

# text NAME, number NAME: a member of the JSON on stdin. A quotation mark inside a JSON text has a backslash before it, so
# nothing but a member can look like one; its first place counts, before any object inside. Text with a backslash is none.
text() {
  grep -o '"'"$1"'":"[^"\\]*"' | head -n 1 | cut -d '"' -f 4
}
number() {
  grep -o '"'"$1"'":[0-9]*[,}]' | head -n 1 | tr -cd '0-9'
}

# split TOKEN TYPE: sets signed, signature, kid and claims; fails unless it is an EdDSA token of this type
split() {
  case $1 in *[!A-Za-z0-9._-]* | *.*.*.*) return 1 ;; *?.?*.*) ;; *) return 1 ;; esac
  signed=${1%.*} signature=${1##*.}
  head=$(decode "${signed%.*}")
  case $head in *'"crit":'*) return 1 ;; esac
  [ "$(printf %s "$head" | text alg)" = EdDSA ] && [ "$(printf %s "$head" | text typ)" = "$2" ] || return 1
  kid=$(printf %s "$head" | text kid)
  # Up to the features, which could have any names: lkm writes them after all that is looked for here.
  claims=$(decode "${signed#*.}" | sed 's/"features":{.*//')
}

# verify KID: whether the key with this id signed what `split` has set; 2 when there is no such key
verify() {
  x=$(compact <"$jwks" | tr '{' '\n' | grep -F "\"kid\":\"$1\"" | text x) || return 2
  [ -n "$1" ] && [ -n "$x" ] || return 2
  # An Ed25519 public key in SPKI form is this prefix (RFC 8410) and the 32 bytes of x.
  { printf '\060\052\060\005\006\003\053\145\160\003\041\000'; decode "$x"; } >"$work/key"
  printf %s "$signed" >"$work/signed"
  decode "$signature" >"$work/signature"
  openssl pkeyutl -verify -pubin -keyform DER -inkey "$work/key" -rawin -in "$work/signed" \
    -sigfile "$work/signature" >"$work/log" 2>&1
}

clock=$(date +%s)

if [ $mode = activation ]; then
  split "$(tr -d '\r\n' <"$file")" lic-act+jwt || verdict token_malformed
  iat=$(printf %s "$claims" | number iat) exp=$(printf %s "$claims" | number exp)
  for part in "$iat" "$exp" "$(printf %s "$claims" | text nonce)"; do [ -n "$part" ] || verdict token_malformed; done
  status=0
  verify "$kid" || status=$?
  [ $status -ne 2 ] || verdict unknown_kid
  [ $status -eq 0 ] || verdict signature_invalid
  [ "$(printf %s "$claims" | text nonce)" = "$nonce" ] || verdict nonce_mismatch
  [ "$iat" -le $((clock + leeway)) ] || verdict not_yet_valid
  [ "$exp" -gt "$clock" ] || verdict token_expired
  [ "$(printf %s "$claims" | text key)" = "$key" ] || verdict key_mismatch
  [ "$(printf %s "$claims" | text machine)" = "$host" ] || verdict machine_mismatch
  [ "$(printf %s "$claims" | text productId)" = "$product" ] || verdict product_mismatch
  verdict ok
fi

seen=$clock
[ ! -e "$watermark" ] || seen=$(cat "$watermark")
now=$((seen > clock ? seen : clock))

envelope=$(compact <"$file")
[ "$(printf %s "$envelope" | text format)" = lkm-lic/1 ] || verdict token_malformed
split "$(printf %s "$envelope" | text licenseToken)" lic+jwt || verdict token_malformed
[ "$(printf %s "$envelope" | text keyId)" = "$kid" ] || verdict token_malformed
issuer=$(printf %s "$claims" | text iss) id=$(printf %s "$claims" | text jti) license=$(printf %s "$claims" | text sub)
key=$(printf %s "$claims" | text key) machine=$(printf %s "$claims" | text machine)
for_product=$(printf %s "$claims" | text productId)
iat=$(printf %s "$claims" | number iat) nbf=$(printf %s "$claims" | number nbf) exp=$(printf %s "$claims" | number exp)
for part in "$issuer" "$id" "$license" "$key" "$iat" "$nbf" "$exp"; do [ -n "$part" ] || verdict token_malformed; done

status=0
verify "$kid" || status=$?
[ $status -ne 2 ] || verdict unknown_kid
[ $status -eq 0 ] || verdict signature_invalid
[ "$(printf %s "$envelope" | text signedKey)" = "$key" ] || verdict signature_invalid
[ "$iat" -le "$now" ] || now=$iat

if [ -n "$revocations" ]; then
  split "$(compact <"$revocations")" lic-rev+jwt || verdict revocations_invalid
  verify "$kid" || verdict revocations_invalid
  [ "$(printf %s "$claims" | text iss)" = "$issuer" ] || verdict revocations_invalid
  [ "$(printf %s "$claims" | number exp)" -gt "$now" ] || verdict revocations_expired
  files=${claims#*'"files":['} licenses=${claims#*'"licenses":['}
  case ${files%%]*} in *"\"$id\""*) verdict revoked ;; esac
  case ${licenses%%]*} in *"\"$license\""*) verdict revoked ;; esac
fi
[ "$seen" -le $((clock + leeway)) ] || verdict clock_rolled_back
[ "$nbf" -le $((clock + leeway)) ] || verdict not_yet_valid
[ "$exp" -gt "$now" ] || verdict token_expired
[ "$machine" = "$host" ] || verdict machine_mismatch
[ "$for_product" = "$product" ] || verdict product_mismatch
verdict ok
