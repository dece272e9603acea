// Verifies a licence file of lkm without a network: Go 1.18 or newer, its standard library alone.
//
//	go run verify.go FILE JWKS HOST PRODUCT WATERMARK [REVOCATIONS]
//	go run verify.go --activation PROOF JWKS HOST PRODUCT KEY NONCE
//
// Prints the verdict; exit code 0 for ok, 5 for any other. JWKS holds the public keys (lkm signing-keys export) and
// REVOCATIONS the list of revoked files (lkm revocations export): both come from a place you trust. WATERMARK is a file
// of your own, which keeps the latest time that was seen, so that a clock set back gains nothing.
//
// PROOF is a file with the proof of an activation, asked for with NONCE, which was made up for that one request.
package main

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"time"
)

// A clock may be so many seconds behind.
const leeway = 60

type licenseFile struct{ Format, LicenseToken, SignedKey, KeyID string }

type claims struct {
	Iss, Jti, Sub, Key, ProductID, Machine string
	Iat, Nbf, Exp                          int64
	V                                      int
}

type activation struct {
	Key, ProductID, Machine, Nonce string
	Iat, Exp                       int64
}

type revocations struct {
	Iss             string
	Exp             int64
	Files, Licenses []string
}

type jws struct {
	kid               string
	signed, signature []byte
}

func main() {
	if len(os.Args) < 6 {
		log.Fatal("usage: verify FILE JWKS HOST PRODUCT WATERMARK [REVOCATIONS]")
	}
	clock := time.Now().Unix()
	if os.Args[1] == "--activation" {
		proof, keys := strings.TrimSpace(string(read(os.Args[2]))), readKeys(os.Args[3])
		end(checkActivation(proof, keys, os.Args[4], os.Args[5], os.Args[6], os.Args[7], clock))
	}
	seen := clock
	if text, err := os.ReadFile(os.Args[5]); err == nil {
		seen, err = strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		must(err)
	}
	list := ""
	if len(os.Args) > 6 {
		list = strings.TrimSpace(string(read(os.Args[6])))
	}
	verdict, now := check(read(os.Args[1]), readKeys(os.Args[2]), os.Args[3], os.Args[4], clock, seen, list)
	must(os.WriteFile(os.Args[5]+".tmp", []byte(fmt.Sprintln(now)), 0o644))
	must(os.Rename(os.Args[5]+".tmp", os.Args[5]))
	end(verdict)
}

func end(verdict string) {
	fmt.Println(verdict)
	if verdict != "ok" {
		os.Exit(5)
	}
	os.Exit(0)
}

// checkActivation returns the verdict on the proof of an activation.
func checkActivation(proof string, keys map[string]ed25519.PublicKey, host, product, licenseKey, nonce string, clock int64) string {
	var c activation
	token, err := readJws(proof, "lic-act+jwt", &c)
	if err != nil || c.Nonce == "" || c.Exp == 0 {
		return "token_malformed"
	}
	key, known := keys[token.kid]
	switch {
	case !known:
		return "unknown_kid"
	case !ed25519.Verify(key, token.signed, token.signature):
		return "signature_invalid"
	case c.Nonce != nonce:
		return "nonce_mismatch"
	case c.Iat > clock+leeway:
		return "not_yet_valid"
	case c.Exp <= clock:
		return "token_expired"
	case c.Key != licenseKey:
		return "key_mismatch"
	case c.Machine != host:
		return "machine_mismatch"
	case c.ProductID != product:
		return "product_mismatch"
	}
	return "ok"
}

// check returns the verdict, and the latest time that is known: of the clock, the watermark and the file.
func check(text []byte, keys map[string]ed25519.PublicKey, host, product string, clock, seen int64, list string) (string, int64) {
	now := max(clock, seen)
	var file licenseFile
	var c claims
	token, err := jws{}, json.Unmarshal(text, &file)
	if err == nil {
		token, err = readJws(file.LicenseToken, "lic+jwt", &c)
	}
	if err != nil || file.Format != "lkm-lic/1" || file.KeyID != token.kid || c.V != 1 || c.Jti == "" || c.Exp == 0 {
		return "token_malformed", now
	}
	key, known := keys[token.kid]
	if !known {
		return "unknown_kid", now
	}
	if !ed25519.Verify(key, token.signed, token.signature) || file.SignedKey != c.Key {
		return "signature_invalid", now
	}
	now = max(now, c.Iat)
	if list != "" {
		var r revocations
		token, err := readJws(list, "lic-rev+jwt", &r)
		key, known := keys[token.kid]
		switch {
		case err != nil || !known || !ed25519.Verify(key, token.signed, token.signature) || r.Iss != c.Iss:
			return "revocations_invalid", now
		case r.Exp <= now:
			return "revocations_expired", now
		case contains(r.Files, c.Jti) || contains(r.Licenses, c.Sub):
			return "revoked", now
		}
	}
	switch {
	case seen > clock+leeway:
		return "clock_rolled_back", now
	case c.Nbf > clock+leeway:
		return "not_yet_valid", now
	case c.Exp <= now:
		return "token_expired", now
	case c.Machine != host:
		return "machine_mismatch", now
	case c.ProductID != product:
		return "product_mismatch", now
	}
	return "ok", now
}

// readJws takes a compact JWS apart; only EdDSA counts, whatever its header asks for.
func readJws(token, typ string, claims any) (jws, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return jws{}, errors.New("not three parts")
	}
	var header struct {
		Alg, Typ, Kid string
		Crit          *json.RawMessage
	}
	signature, err := base64.RawURLEncoding.Strict().DecodeString(parts[2])
	if err != nil || decode(parts[0], &header) != nil || decode(parts[1], claims) != nil {
		return jws{}, errors.New("not a JWS")
	}
	if header.Alg != "EdDSA" || header.Typ != typ || header.Crit != nil {
		return jws{}, errors.New("not a token of this kind")
	}
	return jws{header.Kid, []byte(parts[0] + "." + parts[1]), signature}, nil
}

func decode(part string, value any) error {
	data, err := base64.RawURLEncoding.Strict().DecodeString(part)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, value)
}

func readKeys(path string) map[string]ed25519.PublicKey {
	var set struct{ Keys []struct{ Kid, X string } }
	must(json.Unmarshal(read(path), &set))
	keys := map[string]ed25519.PublicKey{}
	for _, key := range set.Keys {
		if x, err := base64.RawURLEncoding.DecodeString(key.X); err == nil && len(x) == ed25519.PublicKeySize {
			keys[key.Kid] = x
		}
	}
	return keys
}

func contains(list []string, text string) bool {
	for _, one := range list {
		if one == text {
			return true
		}
	}
	return false
}

func max(a, b int64) int64 {
	if a > b {
		return a
	}
	return b
}

func read(path string) []byte {
	data, err := os.ReadFile(path)
	must(err)
	return data
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
