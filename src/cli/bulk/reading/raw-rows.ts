import type { Problem } from './problems.ts';

/** A row of a file before its columns are known. */
export interface RawRow {
  /** The line it begins on, from 1. */
  readonly line: number;
  /** Names and values; those of a CSV file are texts. */
  readonly cells: readonly (readonly [name: string, value: unknown])[];
}

/** The rows of a file as they come, and what is wrong with its form. */
export type RawRows = AsyncIterable<RawRow | Problem>;
