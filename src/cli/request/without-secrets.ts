import { hasKeyShape } from '../../domain/license-key.ts';

const secretName = /^(key|licenseKey|token|secret|nonce|sessionSecret|nextNonce|timestamp|signature|file)$/;

const hidden = '[redacted]';

/**
 * A body of our contract without keys, tokens, secrets and licence files, at any depth. Field names show where they are, so
 * the rest stays readable. `redactResponse` hides much more, in text of other programs.
 */
export function withoutSecrets(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return secretName.test(name) || isSecretText(value) ? hidden : value;
  if (Array.isArray(value)) return value.map((one) => withoutSecrets(one, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([inner, one]) => [inner, withoutSecrets(one, inner)]));
}

const isSecretText = (text: string): boolean => /^(lkm_|whsec_)/.test(text) || hasKeyShape(text);

export const withoutSecretFields = (word: string): string =>
  word.replaceAll(/\b(licenseKey|secret|nonce|token)=[^&]*/g, '$1=…');

export const withoutAddresses = (text: string): string =>
  text.replaceAll(/[^\s"<>=&?/,:]+(?:@|%40)[^\s"<>&,]+/g, '[redacted]');

/** A text without tokens, webhook secrets, keys made here and licence files. */
export const withoutSecretTexts = (text: string): string =>
  text.replaceAll(
    /\b(?:(?:lkm|whsec)_[\w+/=-]+|eyJ[\w-]*\.[\w-]+\.[\w-]+|[\da-z]{5}(?:-[\da-z]{5}){4}(?![\da-z-]))/gi,
    hidden,
  );
