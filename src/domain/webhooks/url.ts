import { isPublicAddress } from './public-address.ts';

/** Where webhooks may be sent to. */
export interface UrlRules {
  /** Whether plain HTTP and addresses that are not public are allowed: for programs on the same machine. */
  readonly allowPrivate: boolean;
}

/**
 * Why nothing may be sent to this URL, to follow a colon; null when its text alone does not forbid it. What its name
 * resolves to is checked when it is sent to.
 */
export function urlProblem(text: string, { allowPrivate }: UrlRules): string | null {
  if (!URL.canParse(text)) return 'it is not a URL';
  const { protocol, username, password, hostname, hash } = new URL(text);
  if (protocol !== 'https:' && !(allowPrivate && protocol === 'http:')) return 'it must begin with https://';
  if (username !== '' || password !== '') return 'it must not hold a user name or password';
  if (hash !== '') return 'it must not have a fragment';
  if (allowPrivate) return null;
  if (isLocalName(hostname)) return 'it names this machine';
  const address = literalAddress(hostname);
  return address === null || isPublicAddress(address) ? null : 'its address is not public';
}

/** The address that a host name is; null when it is a name. `URL` has turned `0x7f.1` and `2130706433` into `127.0.0.1`. */
function literalAddress(hostname: string): string | null {
  if (hostname.startsWith('[')) return hostname.slice(1, -1);
  return /^\d+\.\d+\.\d+\.\d+$/.test(hostname) ? hostname : null;
}

const isLocalName = (hostname: string): boolean => /^(.+\.)?localhost\.?$/i.test(hostname);
