import { hash } from 'node:crypto';

/** Values with the lines that they were seen on first. */
export interface SeenValues {
  /** The line of the same value before; null when it is new. */
  add(value: string, line: number): number | null;
}

/** Words of 32 bits for each value: 96 bits of its hash, and its line. */
const WORDS = 4;
const MIN_PLACES = 1_024;

/** Remembers millions of values, each in 64 bytes at most: 96 bits of SHA-256 stand for it. */
export function rememberValues(): SeenValues {
  let places = MIN_PLACES;
  let table = new Uint32Array(places * WORDS);
  let count = 0;

  /** The place of a hash, or the free one where it belongs. */
  function find(a: number, b: number, c: number): number {
    for (let place = a % places; ; place = (place + 1) % places) {
      const at = place * WORDS;
      if (table[at + 3] === 0 || (table[at] === a && table[at + 1] === b && table[at + 2] === c)) return at;
    }
  }

  function grow(): void {
    const before = table;
    places *= 2;
    table = new Uint32Array(places * WORDS);
    for (let at = 0; at < before.length; at += WORDS) {
      const [a = 0, b = 0, c = 0, line = 0] = before.subarray(at, at + WORDS);
      if (line > 0) table.set([a, b, c, line], find(a, b, c));
    }
  }

  function add(value: string, line: number): number | null {
    const bytes = hash('sha256', value, 'buffer');
    const words = [bytes.readUInt32LE(0), bytes.readUInt32LE(4), bytes.readUInt32LE(8)] as const;
    const at = find(...words);
    const first = table[at + 3] ?? 0;
    if (first > 0) return first;
    table.set([...words, line], at);
    count += 1;
    if (count * 2 > places) grow();
    return null;
  }

  return { add };
}
