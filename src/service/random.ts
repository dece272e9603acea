import { randomFillSync } from 'node:crypto';

/** Bytes that are drawn at a time: a draw costs more than what it draws. */
const POOL_BYTES = 4_096;

/** A source of unpredictable bytes. Each byte is handed out once and wiped from the pool. */
export function createRandom(): (length: number) => Uint8Array {
  const pool = new Uint8Array(POOL_BYTES);
  let next = POOL_BYTES;
  return (length) => {
    if (next + length > POOL_BYTES) {
      randomFillSync(pool);
      next = 0;
    }
    const bytes = pool.slice(next, next + length);
    pool.fill(0, next, next + length);
    next += length;
    return bytes;
  };
}
