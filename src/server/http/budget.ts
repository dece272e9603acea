import type { Caller } from '../../domain/access.ts';
import type { Store } from '../../store/store.ts';
import type { Route } from './routes.ts';

/** How many keys the token in use may still issue; nothing where that was not counted. */
export const budgetHeader = (remaining: number | undefined): Readonly<Record<string, string>> =>
  remaining === undefined ? {} : { 'LKM-Budget-Remaining': String(remaining) };

/** What a token that gets its own replay, which is not counted again, may still issue. */
export async function budgetOfReplay(
  { store }: { readonly store: Store },
  { route, caller }: { readonly route: Route; readonly caller: Caller },
): Promise<number | undefined> {
  if (!route.issuesKeys || caller.tokenId === null || caller.maxIssues === null) return undefined;
  const token = await store.repositories.tokens.find(caller.accountId, caller.tokenId);
  return caller.maxIssues - (token?.issued ?? 0);
}
