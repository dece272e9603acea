import { UsageError } from '../failure/errors.ts';

/**
 * Throws `UsageError` for the address of a service that begins with no scheme, and says how it is written. Anything else
 * is checked by the client.
 *
 * @param from where it comes from: `--base-url`
 */
export function checkScheme(address: string, from: string): string {
  const isBare = /^[\w.[\]:-]+(\/[\w./-]*)?$/.test(address) && !/^https?:/i.test(address);
  if (!isBare) return address;
  const scheme = /^(localhost|127\.|\[::1\])/i.test(address) ? 'http' : 'https';
  throw new UsageError(`${from} '${address}' does not begin with https:// or http://`, [
    ['Write:', `${from}${from.startsWith('--') ? ' ' : '='}${scheme}://${address}`],
  ]);
}
