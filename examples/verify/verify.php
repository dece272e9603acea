<?php
// Verifies a licence file of lkm without a network: PHP 8 with sodium, which comes with it.
//
//   php verify.php FILE JWKS HOST PRODUCT WATERMARK [REVOCATIONS]
//
// Prints the verdict; exit code 0 for ok, 5 for any other. JWKS holds the public keys (lkm signing-keys export) and
// REVOCATIONS the list of revoked files (lkm revocations export): both come from a place you trust. WATERMARK is a file
// of your own, which keeps the latest time that was seen, so that a clock set back gains nothing.
declare(strict_types=1);

const LEEWAY = 60; // seconds that a clock may be behind

[, $file, $jwks, $host, $product, $watermark] = $argv;
$clock = time();
$seen = is_file($watermark) ? (int) read($watermark) : $clock;
$keys = array_column(json_decode(read($jwks), true, 64, JSON_THROW_ON_ERROR)['keys'], 'x', 'kid');
$listed = isset($argv[6]) ? trim(read($argv[6])) : null;
[$verdict, $now] = check(read($file), $keys, $host, $product, $clock, $seen, $listed);
file_put_contents("$watermark.tmp", "$now\n");
rename("$watermark.tmp", $watermark);
echo "$verdict\n";
exit($verdict === 'ok' ? 0 : 5);

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
