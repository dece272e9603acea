export interface RawRow {
  /** The line it begins on, from 1; the place in a JSON array. */
  readonly line: number;
  /** Names and values; all values of a CSV file are texts. */
  readonly cells: Cells;
  /** The same as the file has them, for the results: with blanks, apostrophes and objects. */
  readonly written: Cells;
}

type Cells = readonly (readonly [name: string, value: unknown])[];

/** How the rows of a file are written, for results that are written in the same way. */
export interface Layout {
  readonly names: readonly string[];
  /** Whether the values of a row stand in the order of the names; else each has its own name. */
  readonly isByPlace: boolean;
  readonly delimiter: string;
  /** A byte order mark, where the file has one or is not UTF-8: the program that wrote it looks for one. */
  readonly mark: '' | '\ufeff';
}

/** How results are written when no file was read. */
export const OWN_LAYOUT: Layout = { names: ['row'], isByPlace: true, delimiter: ',', mark: '' };

/** Of several files the second one has lines from here on, and so on. */
export const LINES_PER_FILE = 1e9;

/** A layout while it is found out. */
export interface Form {
  readonly names: string[];
  isByPlace: boolean;
  delimiter: string;
}

/** Takes one thing that is wrong with a file; `line` is null for the file as a whole. */
export type Report = (line: number | null, text: string) => void;
