<?php
// Verifies a licence file of lkm without a network: PHP 8 with sodium, which comes with it.
//
//   php verify.php FILE JWKS HOST PRODUCT WATERMARK [REVOCATIONS]
//   php verify.php --activation PROOF JWKS HOST PRODUCT KEY NONCE
//
// Prints the verdict; exit code 0 for ok, 5 for any other. JWKS holds the public keys (lkm signing-keys export) and
// REVOCATIONS the list of revoked files (lkm revocations export): both come from a place you trust. WATERMARK is a file
// of your own, which keeps the latest time that was seen, so that a clock set back gains nothing.
//
// PROOF is a file with the proof of an activation, asked for with NONCE, which was made up for that one request.
declare(strict_types=1);

const LEEWAY = 60; // seconds that a clock may be behind

if ($argv[1] === '--activation') {
    [, , $proof, $jwks, $host, $product, $key, $nonce] = $argv;
    finish(checkActivation(trim(read($proof)), readKeys($jwks), $host, $product, $key, $nonce, time()));
}
[, $file, $jwks, $host, $product, $watermark] = $argv;
$clock = time();
$seen = is_file($watermark) ? (int) read($watermark) : $clock;
$listed = isset($argv[6]) ? trim(read($argv[6])) : null;
[$verdict, $now] = check(read($file), readKeys($jwks), $host, $product, $clock, $seen, $listed);
file_put_contents("$watermark.tmp", "$now\n");
rename("$watermark.tmp", $watermark);
finish($verdict);

function finish(string $verdict): never
{
    echo "$verdict\n";
    exit($verdict === 'ok' ? 0 : 5);
}

/** The points of the public keys by their ids. */
function readKeys(string $jwks): array
{
    return array_column(json_decode(read($jwks), true, 64, JSON_THROW_ON_ERROR)['keys'], 'x', 'kid');
}

/** The verdict on the proof of an activation. */
function checkActivation(
    string $proof,
    array $keys,
    string $host,
    string $product,
    string $key,
    string $nonce,
    int $clock,
): string {
    $token = readJws($proof, 'lic-act+jwt');
    if ($token === null) return 'token_malformed';
    $claims = $token['claims'];
    foreach (['key', 'machine', 'productId', 'nonce'] as $name) {
        if (!is_string($claims[$name] ?? null)) return 'token_malformed';
    }
    if (!is_int($claims['iat'] ?? null) || !is_int($claims['exp'] ?? null)) return 'token_malformed';
    if (!isset($keys[$token['kid']])) return 'unknown_kid';
    if (!isSignedBy($keys, $token)) return 'signature_invalid';
    if ($claims['nonce'] !== $nonce) return 'nonce_mismatch';
    if ($claims['iat'] > $clock + LEEWAY) return 'not_yet_valid';
    if ($claims['exp'] <= $clock) return 'token_expired';
    if ($claims['key'] !== $key) return 'key_mismatch';
    if ($claims['machine'] !== $host) return 'machine_mismatch';
    return $claims['productId'] === $product ? 'ok' : 'product_mismatch';
}

/** The verdict, and the latest time that is known: of the clock, the watermark and the file. */
function check(string $text, array $keys, string $host, string $product, int $clock, int $seen, ?string $listed): array
{
    $now = max($clock, $seen);
    $file = json_decode($text, true);
    $token = is_array($file) ? readJws($file['licenseToken'] ?? null, 'lic+jwt') : null;
    if ($token === null || ($file['format'] ?? null) !== 'lkm-lic/1' || ($file['keyId'] ?? null) !== $token['kid']) {
        return ['token_malformed', $now];
    }
    $claims = $token['claims'];
    foreach (['iss', 'jti', 'sub', 'key', 'productId', 'machine'] as $name) {
        if (!is_string($claims[$name] ?? null)) return ['token_malformed', $now];
    }
    foreach (['iat', 'nbf', 'exp'] as $name) {
        if (!is_int($claims[$name] ?? null)) return ['token_malformed', $now];
    }
    if (($claims['v'] ?? null) !== 1) return ['token_malformed', $now];
    if (!isset($keys[$token['kid']])) return ['unknown_kid', $now];
    if (!isSignedBy($keys, $token) || ($file['signedKey'] ?? null) !== $claims['key']) return ['signature_invalid', $now];
    $now = max($now, $claims['iat']);
    if ($listed !== null) {
        $list = readJws($listed, 'lic-rev+jwt');
        $revoked = $list['claims'] ?? null;
        if ($list === null || !isSignedBy($keys, $list) || ($revoked['iss'] ?? null) !== $claims['iss']) {
            return ['revocations_invalid', $now];
        }
        if ($revoked['exp'] <= $now) return ['revocations_expired', $now];
        if (in_array($claims['jti'], $revoked['files'], true)) return ['revoked', $now];
        if (in_array($claims['sub'], $revoked['licenses'], true)) return ['revoked', $now];
    }
    if ($seen > $clock + LEEWAY) return ['clock_rolled_back', $now];
    if ($claims['nbf'] > $clock + LEEWAY) return ['not_yet_valid', $now];
    if ($claims['exp'] <= $now) return ['token_expired', $now];
    if ($claims['machine'] !== $host) return ['machine_mismatch', $now];
    return [$claims['productId'] === $product ? 'ok' : 'product_mismatch', $now];
}

/** The parts of a compact JWS; only EdDSA counts, whatever its header asks for. */
function readJws(mixed $token, string $typ): ?array
{
    $parts = is_string($token) ? explode('.', $token) : [];
    if (count($parts) !== 3) return null;
    [$head, $body, $signature] = array_map(decode(...), $parts);
    $header = json_decode($head ?? '', true);
    $claims = json_decode($body ?? '', true);
    if (!is_array($header) || !is_array($claims) || $signature === null) return null;
    if (($header['alg'] ?? null) !== 'EdDSA' || ($header['typ'] ?? null) !== $typ) return null;
    if (!is_string($header['kid'] ?? null) || array_key_exists('crit', $header)) return null;
    return ['kid' => $header['kid'], 'claims' => $claims, 'signed' => "$parts[0].$parts[1]", 'signature' => $signature];
}

function isSignedBy(array $keys, array $token): bool
{
    $key = decode($keys[$token['kid']] ?? '') ?? '';
    if (strlen($key) !== SODIUM_CRYPTO_SIGN_PUBLICKEYBYTES) return false;
    if (strlen($token['signature']) !== SODIUM_CRYPTO_SIGN_BYTES) return false;
    return sodium_crypto_sign_verify_detached($token['signature'], $token['signed'], $key);
}

function decode(string $text): ?string
{
    try {
        return sodium_base642bin($text, SODIUM_BASE64_VARIANT_URLSAFE_NO_PADDING);
    } catch (SodiumException) {
        return null;
    }
}

function read(string $path): string
{
    $text = file_get_contents($path);
    if ($text === false) exit(1);
    return $text;
}
