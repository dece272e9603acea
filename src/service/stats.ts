import type { Instant } from '../contract/scalars.ts';
import type { KeyCounts, stats } from '../contract/stats.ts';
import type { License } from '../domain/license.ts';
import { addSeconds, toInstant } from '../domain/time.ts';
import type { NamedLicense } from '../store/tables/keys/licenses.ts';
import type { StatsScope } from '../store/tables/stats.ts';
import { productsOf } from './keys/lists.ts';
import { showListed } from './keys/show.ts';
import { anyone, type Operations } from './operation.ts';

const MAX_NAMED = 20;

const WEEKS = 12;
const DAY_SECONDS = 86_400;
const EXPIRING_SECONDS = 30 * DAY_SECONDS;

export const statsOperations: Operations<typeof stats> = {
  get: {
    authorize: anyone,
    async perform(context, { productId }) {
      const { repositories, caller, now } = context;
      const { accountId } = caller;
      const { stats, customers } = repositories;
      const ids = productsOf(caller, productId);
      const scopes = (ids ?? [null]).map((one): StatsScope => ({ accountId, productId: one }));
      const weeks = lastWeeks(now);
      const [firstWeek = ''] = weeks;
      const from = startOf(firstWeek);
      const times = { now, until: addSeconds(now, EXPIRING_SECONDS) };
      const products = (await Array.fromAsync(scopes, (scope) => stats.keysByProduct(scope, times))).flat();
      const issued = (await Array.fromAsync(scopes, (scope) => stats.issuedSince(scope, from))).flat();
      const activated = (await Array.fromAsync(scopes, (scope) => stats.activatedSince(scope, from))).flat();
      const fullest = await firstOf(scopes, (scope) => stats.fullest(scope, now, MAX_NAMED), isFuller);
      const next = await firstOf(scopes, (scope) => stats.nextToExpire(scope, now, MAX_NAMED), isSooner);
      return {
        keys: products.reduce(add, nothing),
        products: products.sort((one, other) => (one.productId < other.productId ? -1 : 1)),
        devices: sum(await Array.fromAsync(scopes, stats.devices)),
        sessions: sum(await Array.fromAsync(scopes, (scope) => stats.sessions(scope, now))),
        customers: ids === null ? await customers.list(accountId).count() : null,
        issuedPerWeek: perWeek(weeks, issued),
        activatedPerWeek: perWeek(weeks, activated),
        fullest: await showListed(context, fullest),
        nextToExpire: await showListed(context, next),
      };
    },
  },
};

const nothing = { total: 0, active: 0, unused: 0, full: 0, expiring: 0, expired: 0, blocked: 0, revoked: 0, trial: 0 };

const add = (sums: KeyCounts, counts: Readonly<KeyCounts>): KeyCounts =>
  Object.fromEntries(
    Object.entries(sums).map(([name, total]) => [name, total + counts[name as keyof KeyCounts]]),
  ) as unknown as KeyCounts;

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

const perWeek = (weeks: readonly string[], days: readonly { readonly day: string; readonly count: number }[]) =>
  weeks.map((week) => ({
    week,
    count: sum(days.filter(({ day }) => mondayOf(day) === week).map(({ count }) => count)),
  }));

/** Merges sorted lists, one per scope, and returns the first licences. */
const firstOf = async (
  scopes: readonly StatsScope[],
  list: (scope: StatsScope) => Promise<NamedLicense[]>,
  compare: (one: License, other: License) => number,
): Promise<NamedLicense[]> => (await Array.fromAsync(scopes, list)).flat().sort(compare).slice(0, MAX_NAMED);

const isFuller = (one: License, other: License): number => fill(other) - fill(one) || (one.id < other.id ? 1 : -1);

const fill = ({ activations, maxActivations }: License): number =>
  Math.floor((activations * 100) / (maxActivations ?? Number.POSITIVE_INFINITY));

const isSooner = (one: License, other: License): number => (endOf(one) < endOf(other) ? -1 : 1);

const endOf = ({ expirationDate, id }: License): string => `${expirationDate ?? ''} ${id}`;

/** The Mondays of the last weeks, oldest first, with the current week. */
function lastWeeks(now: Instant): string[] {
  const monday = mondayOf(now.slice(0, 10));
  return Array.from({ length: WEEKS }, (_, at) => addDays(monday, (at - WEEKS + 1) * 7));
}

const mondayOf = (day: string): string => addDays(day, -((new Date(startOf(day)).getUTCDay() + 6) % 7));

const addDays = (day: string, days: number): string => addSeconds(startOf(day), days * DAY_SECONDS).slice(0, 10);

const startOf = (day: string): Instant => toInstant(Date.parse(day));
