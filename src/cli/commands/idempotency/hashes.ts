import type { Field } from '../../output/result.ts';

/** Digits of a hash that a table shows, if they are enough. */
const MIN_SHOWN_DIGITS = 12;

/** The hash that names a request: whole for programs, short in a table. */
export const hashFields: readonly Field[] = [
  { name: 'hash', shown: 'data' },
  { name: 'shortHash', label: 'hash', shown: 'table' },
];

/** Adds to each row the first digits of its hash, as many as tell the hashes of all rows apart. */
export function shortenHashes(rows: readonly { readonly hash: string }[]): Record<string, unknown>[] {
  const hashes = [...new Set(rows.map(({ hash }) => hash))];
  let digits = MIN_SHOWN_DIGITS;
  while (new Set(hashes.map((hash) => hash.slice(0, digits))).size < hashes.length) digits += 1;
  return rows.map((row) => ({ ...row, shortHash: row.hash.slice(0, digits) }));
}
