/*
 * A spreadsheet runs a cell that begins like a formula. An apostrophe before it makes it text there, as OWASP advises
 * ("CSV Injection"); reading takes it away again, so that every text comes back as it was.
 */

const first = '=+\\-@\\t\\r\uff1d\uff0b\uff0d\uff20';
const formula = new RegExp(`^[${first}']`);
const guarded = new RegExp(`^'[${first}']`);

/** A text as a cell that no spreadsheet runs. */
export const guard = (text: string): string => (formula.test(text) ? `'${text}` : text);

/** The text of such a cell. */
export const unguard = (cell: string): string => (guarded.test(cell) ? cell.slice(1) : cell);
