import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type TokenKind, tokenKinds } from '../contract/scopes.ts';
import { encodeCrockford } from './crockford.ts';

const SECRET_BYTES = 32;
const CHECKSUM_LENGTH = 7;

/** Matches a token anywhere in a text, for people who search for leaked tokens: docs/security.md. */
export const tokenPattern = `lkm_(?:${tokenKinds.join('|')})_[0-9a-hjkmnp-tv-z]{59}`;

const shape = new RegExp(`^${tokenPattern}$`);

/** Matches a mistyped token, of any length and with any wrong characters. */
const similar = new RegExp(`lkm_(${tokenKinds.join('|')})_[0-9A-Za-z]{20,80}`, 'g');

/** Makes a token from 32 random bytes: kind, 52 characters of secret, 7 of checksum. Throws `RangeError` for other numbers. */
export function mintToken(kind: TokenKind, random: Uint8Array): string {
  if (random.length !== SECRET_BYTES) throw new RangeError(`a token takes 32 random bytes, not ${random.length}`);
  const start = `lkm_${kind}_${encodeCrockford(random).toLowerCase()}`;
  return start + checksumOf(start);
}

/** Whether the text has the form of a token and its checksum is right, so that a mistyped token needs no look-up. */
export function isWellFormedToken(text: string): boolean {
  return shape.test(text) && checksumOf(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);
}

/**
 * Whether another system may have made the secret: a word that does not begin as our tokens do, and that is hard to guess.
 */
export const mayBeForeignToken = (text: string): boolean => /^(?!lkm_)[!-~]{16,512}$/i.test(text) && !isGuessable(text);

/** Words that faulty scripts send, and that examples show, in place of a secret. */
const PLACEHOLDERS =
  'undefined|null|none|nil|nan|true|false|object|bearer|token|secret|password|passwd|change|your|my|here|the|access|api|key|' +
  'auth|admin|root|test|example|placeholder|default|license|licence|lkm|qwerty';

const ignored = new RegExp(`${PLACEHOLDERS}|[^a-z0-9]`, 'g');

/**
 * Whether little is left of a text without placeholders and without characters that repeat or continue the character before.
 */
function isGuessable(text: string): boolean {
  const rest = text.toLowerCase().replaceAll(ignored, '');
  const surprising = [...rest].filter((_, at) => Math.abs(rest.charCodeAt(at) - rest.charCodeAt(at - 1)) > 1);
  return surprising.length < 8 || new Set(rest).size < 6;
}

/** Whether this is the hash of an empty text, of white space, or of a placeholder as programs write them. */
export const isGuessableHash = (hex: string): boolean => guessable().some((text) => hashToken(text) === hex);

function* guessable(): Generator<string> {
  for (const word of ['', '[object Object]', 'NaN', '{}', '[]', '""', 'changeme', ...PLACEHOLDERS.split('|')]) {
    for (const text of [word, word.toUpperCase(), word.slice(0, 1).toUpperCase() + word.slice(1)]) {
      for (const end of ['', ' ', '  ', '\t', '\n', '\r\n']) yield* [text + end, `Bearer ${text}${end}`];
    }
  }
}

/** Finds the tokens of a text, mistyped ones too; a token is whole when its form and its checksum are right. */
export const findTokens = (text: string) =>
  [...text.matchAll(similar)].map(({ index, 0: token, 1: kind = '' }) => ({
    index,
    token,
    kind,
    isWhole: isWellFormedToken(token),
  }));

/** A text without the secrets of tokens and webhooks, whole or not: `lkm_admin_…`, `whsec_…`. */
export const maskSecrets = (text: string): string =>
  text.replace(similar, (_, kind) => `lkm_${kind}_…`).replaceAll(/\bwhsec_[\w+/=-]+/g, 'whsec_…');

/** Hex SHA-256 of a token: all that is stored of it. A token has 256 random bits, so it needs no salt or stretching. */
export const hashToken = (token: string): string => hash('sha256', token);

function checksumOf(text: string): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(text));
  return encodeCrockford(bytes).toLowerCase();
}
