/** How much of a response is kept, in characters. */
const MAX_LENGTH = 1_024;

const HIDDEN = '[hidden]';

/** Texts that look like secrets or personal data. */
const SECRETS: readonly RegExp[] = [
  // Secrets of webhooks, and tokens of this service and of other services.
  /\b(whsec|lkm|sk|pk|ghp|xox[abprs])[-_][\w+/=-]{8,}/gi,
  /\b(bearer|basic)\s+[\w+/=.~-]{6,}/gi,
  /\beyJ[\w-]+\.[\w-]+\.[\w-]*/g,
  // Licence keys.
  /\b[0-9A-Z]{5}(-[0-9A-Z]{5}){3,}\b/gi,
  /[^\s"'<>@]{1,64}@[^\s"'<>@]{1,255}\.[a-z]{2,}/gi,
  // Any long run of characters of base64 or hexadecimal digits.
  /[\w+/=-]{40,}/g,
];

/** The beginning of a response for storage: one printable line without `secrets` and {@link SECRETS}; null if empty. */
export function redactResponse(response: string, secrets: readonly string[]): string | null {
  let text = response;
  for (const secret of secrets) text = text.replaceAll(secret, HIDDEN);
  for (const pattern of SECRETS) text = text.replace(pattern, HIDDEN);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it removes
  const line = text.replace(/[\x00-\x20\x7f-\x9f\ufffd]+/g, ' ').trim();
  return line === '' ? null : line.slice(0, MAX_LENGTH).toWellFormed();
}
