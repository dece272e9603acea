import type { Instant } from '../contract/scalars.ts';
import type { KeyCounts, stats } from '../contract/stats.ts';
import { allows, productsOf } from '../domain/access.ts';
import { addSeconds, toInstant } from '../domain/time.ts';
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
      const scope = { accountId, productIds: ids };
      const weeks = lastWeeks(now);
      const [firstWeek = ''] = weeks;
      const from = startOf(firstWeek);
      const products = await stats.keysByProduct(scope, { now, until: addSeconds(now, EXPIRING_SECONDS) });
      return {
        keys: products.reduce(add, nothing),
        // Databases may sort text otherwise.
        products: products
          .sort((one, other) => (one.productId < other.productId ? -1 : 1))
          .map(({ productName, ...counts }) => ({ ...counts, ...(allows(caller, 'product:read') && { productName }) })),
        devices: await stats.devices(scope),
        sessions: await stats.sessions(scope, now),
        customers: ids === null ? await customers.list(accountId).count() : null,
        issuedPerWeek: perWeek(weeks, await stats.issuedSince(scope, from)),
        activatedPerWeek: perWeek(weeks, await stats.activatedSince(scope, from)),
        fullest: await showListed(context, await stats.fullest(scope, now, MAX_NAMED)),
        nextToExpire: await showListed(context, await stats.nextToExpire(scope, now, MAX_NAMED)),
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

/** The Mondays of the last weeks, oldest first, with the current week. */
function lastWeeks(now: Instant): string[] {
  const monday = mondayOf(now.slice(0, 10));
  return Array.from({ length: WEEKS }, (_, at) => addDays(monday, (at - WEEKS + 1) * 7));
}

const mondayOf = (day: string): string => addDays(day, -((new Date(startOf(day)).getUTCDay() + 6) % 7));

const addDays = (day: string, days: number): string => addSeconds(startOf(day), days * DAY_SECONDS).slice(0, 10);

const startOf = (day: string): Instant => toInstant(Date.parse(day));
