#!/usr/bin/env python3
"""Verifies a licence file of lkm without a network: Python 3.8 or newer and OpenSSL 3, nothing to install.

    verify.py FILE JWKS HOST PRODUCT WATERMARK [REVOCATIONS]
    verify.py --activation PROOF JWKS HOST PRODUCT KEY NONCE

Prints the verdict; exit code 0 for ok, 5 for any other. JWKS holds the public keys (lkm signing-keys export) and
REVOCATIONS the list of revoked files (lkm revocations export): both come from a place you trust. WATERMARK is a file of
your own, which keeps the latest time that was seen, so that a clock set back gains nothing.

PROOF is a file with the proof of an activation, asked for with NONCE, which was made up for that one request.
"""
import base64
import json
import os
import subprocess
import sys
import tempfile
import time

LEEWAY = 60  # seconds that a clock may be behind
SPKI_PREFIX = bytes.fromhex("302a300506032b6570032100")  # before the 32 bytes of an Ed25519 key (RFC 8410)


def main(file, jwks, host, product, watermark, revocations=None):
    clock = int(time.time())
    seen = int(read(watermark)) if os.path.exists(watermark) else clock
    keys = {key["kid"]: key for key in json.loads(read(jwks))["keys"]}
    listed = read(revocations).strip() if revocations else None
    verdict, now = check(read(file), keys, host, product, clock, seen, listed)
    with open(watermark + ".tmp", "w") as new:
        new.write(f"{now}\n")
    os.replace(watermark + ".tmp", watermark)
    print(verdict)
    return 0 if verdict == "ok" else 5


def check(text, keys, host, product, clock, seen, listed):
    """The verdict, and the latest time that is known: of the clock, the watermark and the file."""
    now = max(clock, seen)
    try:
        file = json.loads(text)
        kid, claims, signed, signature = read_jws(file["licenseToken"], "lic+jwt")
        if file["format"] != "lkm-lic/1" or file["keyId"] != kid or claims["v"] != 1:
            return "token_malformed", now
        if not all(type(claims[name]) is int for name in ("iat", "nbf", "exp")):
            return "token_malformed", now
    except (ValueError, KeyError, TypeError, AttributeError):
        return "token_malformed", now
    if kid not in keys:
        return "unknown_kid", now
    if not is_signed_by(keys[kid], signed, signature) or file["signedKey"] != claims["key"]:
        return "signature_invalid", now
    now = max(now, claims["iat"])
    if listed is not None:
        try:
            list_kid, revoked, signed, signature = read_jws(listed, "lic-rev+jwt")
            if not is_signed_by(keys[list_kid], signed, signature) or revoked["iss"] != claims["iss"]:
                return "revocations_invalid", now
        except (ValueError, KeyError, TypeError, AttributeError):
            return "revocations_invalid", now
        if revoked["exp"] <= now:
            return "revocations_expired", now
        if claims["jti"] in revoked["files"] or claims["sub"] in revoked["licenses"]:
            return "revoked", now
    if seen > clock + LEEWAY:
        return "clock_rolled_back", now
    if claims["nbf"] > clock + LEEWAY:
        return "not_yet_valid", now
    if claims["exp"] <= now:
        return "token_expired", now
    if claims["machine"] != host:
        return "machine_mismatch", now
    return ("ok" if claims["productId"] == product else "product_mismatch"), now


def main_activation(proof, jwks, host, product, key, nonce):
    keys = {one["kid"]: one for one in json.loads(read(jwks))["keys"]}
    verdict = check_activation(read(proof).strip(), keys, host, product, key, nonce, int(time.time()))
    print(verdict)
    return 0 if verdict == "ok" else 5


def check_activation(proof, keys, host, product, key, nonce, clock):
    """The verdict on the proof of an activation."""
    try:
        kid, claims, signed, signature = read_jws(proof, "lic-act+jwt")
        if not all(type(claims[name]) is int for name in ("iat", "exp")):
            return "token_malformed"
        if not all(type(claims[name]) is str for name in ("key", "machine", "productId", "nonce")):
            return "token_malformed"
    except (ValueError, KeyError, TypeError, AttributeError):
        return "token_malformed"
    if kid not in keys:
        return "unknown_kid"
    if not is_signed_by(keys[kid], signed, signature):
        return "signature_invalid"
    if claims["nonce"] != nonce:
        return "nonce_mismatch"
    if claims["iat"] > clock + LEEWAY:
        return "not_yet_valid"
    if claims["exp"] <= clock:
        return "token_expired"
    if claims["key"] != key:
        return "key_mismatch"
    if claims["machine"] != host:
        return "machine_mismatch"
    return "ok" if claims["productId"] == product else "product_mismatch"


def read_jws(token, typ):
    """The parts of a compact JWS; only EdDSA counts, whatever its header asks for."""
    head, body, tail = token.split(".")
    header = json.loads(decode(head))
    if header["alg"] != "EdDSA" or header["typ"] != typ or "crit" in header:
        raise ValueError("not a token of this kind")
    return header["kid"], json.loads(decode(body)), f"{head}.{body}".encode(), decode(tail)


def decode(text):
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if base64.urlsafe_b64encode(data).rstrip(b"=").decode() != text:
        raise ValueError("not base64url")
    return data


def is_signed_by(key, signed, signature):
    with tempfile.TemporaryDirectory() as folder:
        parts = {"key": SPKI_PREFIX + decode(key["x"]), "signed": signed, "signature": signature}
        for name, data in parts.items():
            with open(os.path.join(folder, name), "wb") as part:
                part.write(data)
        command = "openssl pkeyutl -verify -pubin -keyform DER -inkey key -rawin -in signed -sigfile signature"
        return subprocess.run(command.split(), cwd=folder, capture_output=True).returncode == 0


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


if __name__ == "__main__":
    is_activation = sys.argv[1] == "--activation"
    sys.exit(main_activation(*sys.argv[2:]) if is_activation else main(*sys.argv[1:]))
