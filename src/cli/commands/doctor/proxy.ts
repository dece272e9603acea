import type { Io } from '../../io.ts';
import { type Check, ok, warn } from './check.ts';

/** Which proxy requests to an address go through, as undici reads the environment. */
export function proxyFor(baseUrl: string, isLoopback: boolean, env: Io['env']): { check: Check; isUsed: boolean } {
  const { protocol, hostname, port } = new URL(baseUrl);
  const proxy = protocol === 'https:' ? env.https_proxy || env.HTTPS_PROXY : env.http_proxy || env.HTTP_PROXY;
  if (!proxy) return { check: ok('proxy', 'none'), isUsed: false };
  const shown = shownProxy(proxy);
  if (isLoopback) return { check: ok('proxy', `${shown} is passed by: the service is on this machine`), isUsed: false };
  if (isPassedBy(noProxyEntries(env), hostname, port || (protocol === 'https:' ? '443' : '80'))) {
    return { check: ok('proxy', `${shown} is passed by, as NO_PROXY says`), isUsed: false };
  }
  const isUsed = /^https?:\/\//.test(proxy) && URL.canParse(proxy);
  const check = isUsed
    ? ok('proxy', `${shown}, from the environment`)
    : warn('proxy', 'the address in the environment cannot be read', 'It has the form http://proxy.example:3128.');
  return { check, isUsed };
}

/** Without the name and password that it may hold. */
function shownProxy(proxy: string): string {
  if (!URL.canParse(proxy)) return 'a proxy';
  const { protocol, host } = new URL(proxy);
  return `${protocol}//${host}`;
}

/** `example.com` is that name and all below it, `.example.com` and `*.example.com` all below it; `*` all there are. */
function isPassedBy(entries: readonly string[], hostname: string, port: string): boolean {
  return entries
    .map((entry) => entry.toLowerCase())
    .some(
      (entry) =>
        ['*', hostname, `${hostname}:${port}`].includes(entry) || hostname.endsWith(`.${entry.replace(/^\*?\./, '')}`),
    );
}

/** What `NO_PROXY` lists, apart by commas or blanks. */
const noProxyEntries = (env: Io['env']): readonly string[] =>
  (env.no_proxy || env.NO_PROXY || '').split(/[\s,]+/).filter(Boolean);
