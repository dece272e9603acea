export interface RawRow {
  /** The first line of the row, from 1; in a JSON array the position. */
  readonly line: number;
  /** Names and values; all values of a CSV file are texts. */
  readonly cells: Cells;
  /** The cells as the file has them, for the results: with blanks, apostrophes and objects. */
  readonly written: Cells;
}

type Cells = readonly (readonly [name: string, value: unknown])[];

/** How the rows of a file are written: the results are written in the same way. */
export interface Layout {
  readonly names: readonly string[];
  /** Whether the values of a row stand in the order of the names; else each has its own name. */
  readonly isByPlace: boolean;
  readonly delimiter: string;
  /** A byte order mark, if the file has one or is not UTF-8: the program that wrote it expects one. */
  readonly mark: '' | '\ufeff';
}

/** How results are written when no file was read. */
export const OWN_LAYOUT: Layout = { names: ['row'], isByPlace: true, delimiter: ',', mark: '' };

/** The lines of the second file are counted from here, the lines of the third from twice this number. */
export const LINES_PER_FILE = 1e9;

/** The parts of a layout that are detected while the file is read. */
export interface Form {
  readonly names: string[];
  isByPlace: boolean;
  delimiter: string;
}

/** Reports a problem of a file; `line` is null for a problem of the whole file. */
export type Report = (line: number | null, text: string) => void;
