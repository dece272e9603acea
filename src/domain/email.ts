import { domainToASCII, domainToUnicode } from 'node:url';

/**
 * An e-mail address in the form in which it is stored: NFC, its domain in Unicode and lower case. So
 * `me@xn--shpware-b1a.example` and `me@SHÖPWARE.example` are one address; {@link emailKey} also ignores the case of the part
 * before the `@`.
 */
export function normaliseEmail(email: string): string {
  const at = email.lastIndexOf('@') + 1;
  return email.slice(0, at).normalize() + readableDomain(email.slice(at));
}

/** A key under which two spellings of one address are equal: no two customers share it. */
export const emailKey = (email: string): string => normaliseEmail(email).toLowerCase();

/** A search text, such as a part of a domain, in the stored form of addresses. */
export const searchedEmail = (text: string): string =>
  text.includes('@') ? normaliseEmail(text) : text.normalize().replaceAll(/\bxn--[a-z0-9-]+/gi, readableDomain);

/** An ASCII domain is only written in lower case: of parts such as `10.2`, the functions would make IPv4 addresses. */
const readableDomain = (domain: string): string =>
  (/[^ -~]|xn--/i.test(domain) && domainToUnicode(domainToASCII(domain))) || domain.normalize().toLowerCase();
