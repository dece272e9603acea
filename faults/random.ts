/** Numbers that a seed decides, so that a run can be had again. */
export interface Random {
  /** A whole number from 0 to `count - 1`. */
  below(count: number): number;
  between(least: number, most: number): number;
  pick<T>(list: readonly T[]): T;
}

/** The mulberry32 generator. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count: number) => Math.floor(next() * count);
  return {
    below,
    between: (least, most) => least + below(most - least + 1),
    pick: <T>(list: readonly T[]) => {
      const picked = list[below(list.length)];
      if (picked === undefined) throw new RangeError('nothing to pick from');
      return picked;
    },
  };
}
