import type { Io } from '../../io.ts';
import { type Check, ok, warn } from './check.ts';

/** Which proxy requests to an address go through, as undici reads the environment. */
export function proxyFor(baseUrl: string, isLoopback: boolean, env: Io['env']): { check: Check; isUsed: boolean } {
  const { protocol, hostname, port } = new URL(baseUrl);
  const proxy = protocol === 'https:' ? env.https_proxy || env.HTTPS_PROXY : env.http_proxy || env.HTTP_PROXY;
  if (!proxy) return { check: ok('proxy', 'none'), isUsed: false };
  const shown = shownProxy(proxy);
  if (isLoopback) return { check: ok('proxy', `${shown} is passed by: the service is on this machine`), isUsed: false };
  const noProxy = env.no_proxy || env.NO_PROXY || '';
  if (isPassedBy(noProxy, hostname, port)) {
    return { check: ok('proxy', `${shown} is passed by, as NO_PROXY says`), isUsed: false };
  }
  const check = URL.canParse(proxy)
    ? ok('proxy', `${shown}, from the environment`)
    : warn('proxy', 'the address in the environment cannot be read', 'It has the form http://proxy.example:3128.');
  return { check, isUsed: true };
}

/** Without the name and password that it may hold. */
function shownProxy(proxy: string): string {
  if (!URL.canParse(proxy)) return 'a proxy';
  const { protocol, host } = new URL(proxy);
  return `${protocol}//${host}`;
}

/** Names with everything below them, `*` for all, a port where one is given. */
function isPassedBy(noProxy: string, hostname: string, port: string): boolean {
  return noProxy
    .split(/[,\s]+/)
    .filter(Boolean)
    .some((entry) => {
      const [, name = '', only] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
      const suffix = name.replace(/^\*?\./, '').toLowerCase();
      if (only !== undefined && only !== port) return false;
      return entry === '*' || hostname === suffix || hostname.endsWith(`.${suffix}`);
    });
}
