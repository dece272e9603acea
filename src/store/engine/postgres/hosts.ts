/**
 * An address for each host of an address that may have several, in their order:
 * `postgres://USER@HOST:PORT,HOST:PORT/DB?target_session_attrs=read-write` (libpq, "Specifying Multiple Hosts").
 */
export function hostsOf(url: string): readonly string[] {
  const [, before, hosts, after = ''] = /^([^/]+\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? [];
  return hosts?.includes(',') ? hosts.split(',').map((host) => before + host + after) : [url];
}

/** Whether to use only a host that takes writes. With several hosts this is always so. */
export const wantsPrimary = (url: string): boolean =>
  hostsOf(url).length > 1 || /[?&]target_session_attrs=(read-write|primary)(?=&|$)/.test(url);

/** The address for messages, without user and password. */
export function nameOf(url: string): string {
  const found = hostsOf(url).map((one) => URL.parse(one));
  const [first] = found;
  if (first == null || found.includes(null)) return 'the PostgreSQL database';
  return `the PostgreSQL database ${found.map((one) => one?.host || 'localhost').join(',')}${first.pathname}`;
}
