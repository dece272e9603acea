import { BlockList, isIP } from 'node:net';
import { InputError } from './errors.ts';

/** A proxy that requests go through. */
export interface HttpProxy {
  /** With the user name and the password that it may have. */
  readonly href: string;
  /** Without them: for messages. */
  readonly shown: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that the environment names for an address; null without a proxy, and where `NO_PROXY` has the address. Throws
 * `InputError` where the variable holds no address.
 */
export function proxyFor(href: string, env: Environment): HttpProxy | null {
  const { protocol, hostname, port } = new URL(href);
  const isSecure = protocol === 'https:';
  const given = (isSecure ? env.https_proxy || env.HTTPS_PROXY : undefined) || env.http_proxy || env.HTTP_PROXY;
  if (!given || isLeftOut(hostname, port || (isSecure ? '443' : '80'), env.no_proxy ?? env.NO_PROXY ?? '')) return null;
  const proxy = URL.parse(/^\w+:\/\//.test(given) ? given : `http://${given}`);
  if (proxy === null || !/^https?:$/.test(proxy.protocol)) {
    throw new InputError([{ path: '', message: 'the address of the proxy in the environment cannot be read' }]);
  }
  return { href: proxy.href, shown: `${proxy.protocol}//${proxy.host}` };
}

/** Whether `NO_PROXY` has a host: as a name, a domain (`.example.com`), an address, a network (`10.0.0.0/8`), or `*`. */
function isLeftOut(hostname: string, port: string, list: string): boolean {
  const host = hostname
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
    .some((entry) => {
      const [, name = '', only = port] = /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(entry) ?? [entry, entry];
      const domain = name
        .replace(/^\[(.*)\]$/, '$1')
        .replace(/^\*?\.(?=.)/, '')
        .replace(/\.$/, '');
      if (only !== port) return false;
      return (
        domain === '*' ||
        domain === host ||
        (isIP(host) === 0 ? host.endsWith(`.${domain}`) : isInNetwork(host, domain))
      );
    });
}

function isInNetwork(address: string, network: string): boolean {
  const [base = '', bits = ''] = network.split('/');
  const family = isIP(base);
  if (family === 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128)) return false;
  const list = new BlockList();
  list.addSubnet(base, Number(bits), family === 4 ? 'ipv4' : 'ipv6');
  return list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
}
