import type { Instant } from '../contract/scalars.ts';
import { alphabet, encodeCrockford } from './crockford.ts';
import { toInstant } from './time.ts';

/**
 * The object that an id names: account, product, customer, licence, device, session, token, event, licence file, audit
 * entry, version, webhook, plan.
 */
export type IdPrefix =
  | 'acc'
  | 'act'
  | 'prod'
  | 'cus'
  | 'lic'
  | 'dev'
  | 'ses'
  | 'tok'
  | 'evt'
  | 'fil'
  | 'aud'
  | 'ver'
  | 'whk'
  | 'plan';

/** Makes a TypeID of a UUIDv7 (RFC 9562) from the instant and 10 random bytes. Throws `RangeError` for other numbers and before 1970. */
export function newId(prefix: IdPrefix, now: Instant, random: Uint8Array): string {
  return idAt(prefix, Date.parse(now), random);
}

/**
 * Makes ids that sort in the order in which they are made, whatever their prefix and whatever the clock says: from random
 * bytes, with a counter where the clock stands or goes back (RFC 9562 §6.2, method 1).
 */
export function createIdSequence(random: (length: number) => Uint8Array): (prefix: IdPrefix, now: Instant) => string {
  let lastMs = Number.NEGATIVE_INFINITY;
  let counter = MAX_COUNTER;
  return (prefix, now) => {
    const bytes = random(10).slice();
    const nowMs = Date.parse(now);
    if (nowMs > lastMs || counter === MAX_COUNTER) {
      lastMs = Math.max(nowMs, lastMs + 1);
      // The upper half is left for later ids of this millisecond.
      counter = (((bytes[0] ?? 0) & 0x07) << 8) | (bytes[1] ?? 0);
    } else counter += 1;
    bytes.set([counter >> 8, counter & 0xff]);
    return idAt(prefix, lastMs, bytes);
  };
}

const MAX_COUNTER = 0xfff;

/** The millisecond in which an id of this form was made. */
export function idTime(id: string): Instant {
  const [, time = ''] = id.toUpperCase().split('_');
  const ms = [...time.slice(0, 10)].reduce((sum, symbol) => sum * 32 + alphabet.indexOf(symbol), 0);
  return toInstant(ms);
}

function idAt(prefix: IdPrefix, ms: number, random: Uint8Array): string {
  if (random.length !== 10) throw new RangeError(`an id takes 10 random bytes, not ${random.length}`);
  const uuid = Buffer.alloc(16);
  uuid.writeUIntBE(ms, 0, 6);
  uuid.set(random, 6);
  uuid.writeUInt8((uuid.readUInt8(6) & 0x0f) | 0x70, 6);
  uuid.writeUInt8((uuid.readUInt8(8) & 0x3f) | 0x80, 8);
  return `${prefix}_${encodeCrockford(uuid, 2).toLowerCase()}`;
}
