/** Choices that look random and are the same for the same seed. */
export interface SeededRandom {
  one<T>(things: readonly T[]): T;
  /** The same, the more often the higher the weight. */
  weighted<T extends { readonly weight: number }>(things: readonly T[]): T;
  /** 0 to `max`. */
  upTo(max: number): number;
  happens(probability: number): boolean;
}

/** The choices of a seed: mulberry32, which is small and even enough for a demonstration. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const one = <T>(things: readonly T[]): T => {
    const [thing] = things.slice(Math.floor(next() * things.length));
    if (thing === undefined) throw new RangeError('there is nothing to choose from');
    return thing;
  };
  return {
    one,
    weighted: (things) => one(things.flatMap((thing) => Array.from({ length: thing.weight }, () => thing))),
    upTo: (max) => Math.floor(next() * (max + 1)),
    happens: (probability) => next() < probability,
  };
}
