import { InputError } from './errors.ts';

/** The checked address of a service. */
export interface BaseUrl {
  /** Without a slash at the end. */
  readonly href: string;
  readonly host: string;
  readonly isLoopback: boolean;
}

/** Reads a base URL; throws an {@link InputError} unless it is `https:`, or `http:` on loopback or where allowed. */
export function readBaseUrl(text: string, options: { readonly plainHttpAllowed: boolean }): BaseUrl {
  if (!URL.canParse(text)) throw invalidBaseUrl('is not a URL');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw invalidBaseUrl('must begin with https://');
  if (url.username !== '' || url.password !== '') throw invalidBaseUrl('must not carry a user name or password');
  if (url.search !== '' || url.hash !== '') throw invalidBaseUrl('must not carry a query or fragment');
  const isLoopback = isLoopbackName(url.hostname);
  if (url.protocol === 'http:' && !isLoopback && !options.plainHttpAllowed) {
    throw invalidBaseUrl('must begin with https://; plain http is for loopback addresses only');
  }
  return { href: url.href.replace(/\/+$/, ''), host: url.host, isLoopback };
}

/** `URL` has already turned `127.1` and `0x7f000001` into `127.0.0.1`. */
const isLoopbackName = (hostname: string) =>
  hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);

const invalidBaseUrl = (message: string) => new InputError([{ path: 'baseUrl', message }]);
