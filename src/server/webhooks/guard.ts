import type { promises as dns, LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from '../../domain/webhooks/url.ts';

/** All addresses of a name. Rejects when there is none. */
export type Resolve = (name: string) => Promise<readonly LookupAddress[]>;

/** Something was to be sent where nothing may be sent; no connection was made. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

/**
 * Looks names up for connections, of which each is made to an address that was checked here: a name that resolves to
 * another address afterwards changes nothing. A name with one address that is not public is refused whole.
 */
export function guardedLookup(resolve: Resolve): LookupFunction {
  return (name, options, callback) => {
    resolve(name).then(
      (addresses) => {
        const [first] = addresses;
        if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address))) {
          callback(new AddressRefused(`${name} is not at a public address`), '');
        } else if (options.all) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    );
  };
}

/**
 * Asks name servers, IPv4 and IPv6 at once. Not `getaddrinfo`: of that only four calls run at one time in a process, so
 * that a few names that are slow would hold up everybody, and none can be ended.
 */
export function resolveWith(resolver: dns.Resolver): Resolve {
  return async (name) => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = [
      ...(v4.status === 'fulfilled' ? v4.value : []).map((address) => ({ address, family: 4 })),
      ...(v6.status === 'fulfilled' ? v6.value : []).map((address) => ({ address, family: 6 })),
    ];
    if (found.length === 0 && v4.status === 'rejected') throw v4.reason;
    return found;
  };
}
