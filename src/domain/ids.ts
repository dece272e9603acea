import type { Instant } from '../contract/scalars.ts';
import { encodeCrockford } from './license-key.ts';

/** What an id names: account, product, customer, licence, device, session, token, event, licence file, audit entry. */
export type IdPrefix = 'acc' | 'prod' | 'cus' | 'lic' | 'dev' | 'ses' | 'tok' | 'evt' | 'fil' | 'aud';

/**
 * Makes a TypeID (github.com/jetify-com/typeid): the prefix, `_`, and 26 characters of a UUIDv7 (RFC 9562 §5.7) from the
 * instant and 10 random bytes.
 * Ids of one prefix sort by millisecond. Throws `RangeError` for an instant before 1970 or another number of bytes.
 */
export function newId(prefix: IdPrefix, now: Instant, random: Uint8Array): string {
  if (random.length !== 10) throw new RangeError(`an id takes 10 random bytes, not ${random.length}`);
  const uuid = Buffer.alloc(16);
  uuid.writeUIntBE(Date.parse(now), 0, 6);
  uuid.set(random, 6);
  uuid.writeUInt8((uuid.readUInt8(6) & 0x0f) | 0x70, 6);
  uuid.writeUInt8((uuid.readUInt8(8) & 0x3f) | 0x80, 8);
  return `${prefix}_${encodeCrockford(uuid, 2).toLowerCase()}`;
}
