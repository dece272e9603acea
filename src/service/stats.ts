import type { Instant } from '../contract/scalars.ts';
import type { KeyCounts, stats } from '../contract/stats.ts';
import type { License } from '../domain/license.ts';
import { addSeconds, toInstant } from '../domain/time.ts';
import type { StatsScope } from '../store/tables/stats.ts';
import type { Context } from './context.ts';
import { productsOf } from './keys/lists.ts';
import { showListed } from './keys/show.ts';
import { anyone, type Operations } from './operation.ts';
import { recentCounts } from './recent-counts.ts';

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
      const products = productsOf(caller, productId);
      const scopes = (products ?? [null]).map((one): StatsScope => ({ accountId, productId: one }));
      const name = JSON.stringify([accountId, products?.toSorted() ?? null]);
      const counts = await recentCounts(context, name, async () => ({
        ...(await countKeys(context, scopes)),
        sessions: await sumOf(scopes, (scope) => repositories.stats.countSessions(scope, now)),
        customers: products === null ? await repositories.customers.list(accountId).count() : null,
        activatedPerWeek: await countActivations(context, scopes),
      }));
      const fullest = await firstOf(scopes, (scope) => repositories.stats.fullest(scope, now, MAX_NAMED), isFuller);
      const next = await firstOf(scopes, (scope) => repositories.stats.nextToExpire(scope, now, MAX_NAMED), isSooner);
      return {
        ...counts,
        fullest: await showListed(context, fullest),
        nextToExpire: await showListed(context, next),
      };
    },
  },
};

async function countKeys({ repositories, now }: Context, scopes: readonly StatsScope[]) {
  const until = addSeconds(now, EXPIRING_SECONDS);
  const products = new Map<string, KeyCounts>();
  const weeks = new Map(lastWeeks(now).map(({ week }) => [week, 0]));
  const keys: KeyCounts = { ...nothing };
  let devices = 0;
  for (const scope of scopes) {
    for await (const found of repositories.stats.countKeys(scope, { now, until })) {
      const ofProduct = products.get(found.productId) ?? { ...nothing };
      products.set(found.productId, ofProduct);
      add(ofProduct, found.counts);
      add(keys, found.counts);
      devices += found.devices;
      const week = mondayOf(found.day);
      const issued = weeks.get(week);
      if (issued !== undefined) weeks.set(week, issued + found.counts.total);
    }
  }
  const byAge = [...products].sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    keys,
    products: byAge.map(([productId, counts]) => ({ productId, ...counts })),
    devices,
    issuedPerWeek: [...weeks].map(([week, count]) => ({ week, count })),
  };
}

const nothing = { total: 0, active: 0, unused: 0, full: 0, expiring: 0, expired: 0, blocked: 0, revoked: 0, trial: 0 };

function add(sums: KeyCounts, counts: Readonly<KeyCounts>): void {
  for (const name of Object.keys(sums) as (keyof KeyCounts)[]) sums[name] += counts[name];
}

const countActivations = ({ repositories, now }: Context, scopes: readonly StatsScope[]) =>
  Array.fromAsync(lastWeeks(now), async ({ week, ...range }) => ({
    week,
    count: await sumOf(scopes, (scope) => repositories.stats.countDevices(scope, range)),
  }));

const sumOf = async (scopes: readonly StatsScope[], count: (scope: StatsScope) => Promise<number>): Promise<number> =>
  (await Array.fromAsync(scopes, count)).reduce((sum, one) => sum + one, 0);

/** The first licences of all scopes, from the first ones of each. */
const firstOf = async (
  scopes: readonly StatsScope[],
  list: (scope: StatsScope) => Promise<License[]>,
  compare: (one: License, other: License) => number,
): Promise<License[]> => (await Array.fromAsync(scopes, list)).flat().sort(compare).slice(0, MAX_NAMED);

const isFuller = (one: License, other: License): number => fill(other) - fill(one) || (one.id < other.id ? 1 : -1);

const fill = ({ activations, maxActivations }: License): number =>
  Math.floor((activations * 100) / (maxActivations ?? Number.POSITIVE_INFINITY));

const isSooner = (one: License, other: License): number => (endOf(one) < endOf(other) ? -1 : 1);

const endOf = ({ expirationDate, id }: License): string => `${expirationDate ?? ''} ${id}`;

/** The last weeks, oldest first, the one that is not over included: each by its Monday, and from when until when. */
function lastWeeks(now: Instant) {
  const monday = mondayOf(now.slice(0, 10));
  return Array.from({ length: WEEKS }, (_, at) => {
    const week = addDays(monday, (at - WEEKS + 1) * 7);
    return { week, from: startOf(week), before: startOf(addDays(week, 7)) };
  });
}

const mondayOf = (day: string): string => addDays(day, -((new Date(startOf(day)).getUTCDay() + 6) % 7));

const addDays = (day: string, days: number): string => addSeconds(startOf(day), days * DAY_SECONDS).slice(0, 10);

const startOf = (day: string): Instant => toInstant(Date.parse(day));
