import { trimmed } from './text.ts';

/*
 * A spreadsheet runs a cell that begins like a formula. An apostrophe before it makes it text there, as OWASP advises
 * ("CSV Injection"); reading takes it away again. It also keeps what is blank at the ends of a text, so that every text comes
 * back as it was.
 */
const formula = /^['=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;

const needsGuard = (text: string): boolean => formula.test(text) || trimmed(text) !== text;

/** A cell that no spreadsheet runs. */
export const guard = (text: string): string => (needsGuard(text) ? `'${text}` : text);

/** The text of a cell, without the apostrophe of `guard` and surrounding blanks. */
export const readCell = (cell: string): string =>
  cell.startsWith("'") && needsGuard(cell.slice(1)) ? cell.slice(1) : trimmed(cell);
