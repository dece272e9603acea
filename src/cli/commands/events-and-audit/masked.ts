import { UsageError } from '../../failure/errors.ts';

/** Throws `UsageError` when the rows come with masked addresses: their hashes then cannot be computed. */
export function refuseMasked(rows: readonly { readonly address: string | null }[]): void {
  if (!rows.some(({ address }) => address?.includes('*'))) return;
  throw new UsageError('this token sees addresses masked, and the hashes are over whole ones', [
    'Use an admin token, or one with license:reveal.',
  ]);
}
