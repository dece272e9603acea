/** Whether an address or name to listen on is reached from this machine alone. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);

/** Whether a `Host` header names this machine, with a port or without. */
export function isLoopbackHost(header: string): boolean {
  const name = /^(\[[^\]]*\]|[^:]*)(?::\d{1,5})?$/.exec(header)?.[1] ?? '';
  return isLoopback(name.toLowerCase().replace(/^\[(.*)\]$/, '$1'));
}
