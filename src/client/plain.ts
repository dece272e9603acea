import type { z } from 'zod';

/** `T` without zod's brands, so that a caller writes plain values: `ProductId` becomes `string`. */
export type Plain<T> = T extends string & z.$brand
  ? string
  : T extends number & z.$brand
    ? number
    : T extends readonly (infer Item)[]
      ? readonly Plain<Item>[]
      : T extends object
        ? { [Name in keyof T]: Plain<T[Name]> }
        : T;
