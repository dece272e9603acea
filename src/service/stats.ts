import type { AccountId, Instant } from '../contract/scalars.ts';
import type { KeyCounts, stats } from '../contract/stats.ts';
import type { License } from '../domain/license.ts';
import { addSeconds, epochSeconds, toInstant } from '../domain/time.ts';
import type { Repositories } from '../store/store.ts';
import type { AccountCounts, ProductCounts, StatsScope } from '../store/tables/stats.ts';
import { productsOf } from './keys/lists.ts';
import { showListed } from './keys/show.ts';
import { anyone, type Operations } from './operation.ts';

const MAX_NAMED = 20;

const WEEKS = 12;
const DAY_SECONDS = 86_400;
const EXPIRING_SECONDS = 30 * DAY_SECONDS;

/** Counts of many keys are given again for so long; a job counts anew much sooner. */
const USABLE_SECONDS = 3_600;

export const statsOperations: Operations<typeof stats> = {
  get: {
    authorize: anyone,
    async perform(context, { productId }) {
      const { repositories, caller, now } = context;
      const { accountId } = caller;
      const products = productsOf(caller, productId);
      const kept = await repositories.stats.find(accountId);
      const isUsable = kept !== null && isYounger(kept, USABLE_SECONDS, now);
      const counts = isUsable ? kept : await countAccount(repositories, { accountId, now });
      const scopes = (products ?? [null]).map((one): StatsScope => ({ accountId, productId: one }));
      const fullest = await firstOf(scopes, (scope) => repositories.stats.fullest(scope, now, MAX_NAMED), isFuller);
      const next = await firstOf(scopes, (scope) => repositories.stats.nextToExpire(scope, now, MAX_NAMED), isSooner);
      return {
        age: ageOf(counts, now),
        ...sumsOf(counts, products),
        fullest: await showListed(context, fullest),
        nextToExpire: await showListed(context, next),
      };
    },
  },
};

/** In seconds; negative when the clock was set back. */
const ageOf = ({ countedAt }: AccountCounts, now: Instant): number => epochSeconds(now) - epochSeconds(countedAt);

const isYounger = (counts: AccountCounts, seconds: number, now: Instant): boolean =>
  ageOf(counts, now) >= 0 && ageOf(counts, now) < seconds;

interface Counting {
  readonly accountId: AccountId;
  readonly now: Instant;
  /** Ends it between two batches, with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Counts the keys of an account anew and keeps what was counted, where they are more than `many`, and not counted a moment ago.
 *
 * @param transaction keeps it, or forgets what was kept of keys that are few by now
 */
export async function countMany(
  repositories: Repositories,
  transaction: (work: (inside: Repositories) => Promise<unknown>) => Promise<unknown>,
  { many, freshSeconds, ...counting }: Counting & { readonly many: number; readonly freshSeconds: number },
): Promise<void> {
  const { accountId, now } = counting;
  const kept = await repositories.stats.find(accountId);
  if (kept === null ? !(await repositories.stats.hasMoreThan(accountId, many)) : isYounger(kept, freshSeconds, now))
    return;
  const counts = await countAccount(repositories, counting);
  const isMany = counts.products.reduce((sum, { keys }) => sum + keys.total, 0) > many;
  await transaction(({ stats }) => (isMany ? stats.keep(counts) : stats.forget(accountId)));
}

async function countAccount(
  { stats, customers }: Repositories,
  { accountId, now, signal }: Counting,
): Promise<AccountCounts> {
  const products = new Map<string, ReturnType<typeof nothingOf>>();
  const weeks = lastWeeks(now);
  const ofProduct = (productId: string) => {
    const counts = products.get(productId) ?? nothingOf(productId);
    products.set(productId, counts);
    return counts;
  };
  const addToWeek = (perWeek: number[], day: string, count: number): void => {
    const at = weeks.indexOf(mondayOf(day));
    if (at !== -1) perWeek[at] = (perWeek[at] ?? 0) + count;
  };
  for await (const batch of stats.count(accountId, { now, until: addSeconds(now, EXPIRING_SECONDS) })) {
    signal?.throwIfAborted();
    for (const { productId, day, counts } of batch.keys) {
      const { keys, issuedPerWeek } = ofProduct(productId);
      add(keys, counts);
      addToWeek(issuedPerWeek, day, counts.total);
    }
    for (const { productId, day, count } of batch.devices) {
      const counts = ofProduct(productId);
      counts.devices += count;
      addToWeek(counts.activatedPerWeek, day, count);
    }
    for (const { productId, count } of batch.sessions) ofProduct(productId).sessions += count;
  }
  return {
    accountId,
    countedAt: now,
    customers: await customers.list(accountId).count(),
    products: [...products.values()].sort((one, other) => (one.productId < other.productId ? -1 : 1)),
  };
}

const nothing = { total: 0, active: 0, unused: 0, full: 0, expiring: 0, expired: 0, blocked: 0, revoked: 0, trial: 0 };

const nothingOf = (productId: string) => ({
  productId,
  keys: { ...nothing },
  devices: 0,
  sessions: 0,
  issuedPerWeek: Array<number>(WEEKS).fill(0),
  activatedPerWeek: Array<number>(WEEKS).fill(0),
});

function add(sums: KeyCounts, counts: Readonly<KeyCounts>): void {
  for (const name of Object.keys(sums) as (keyof KeyCounts)[]) sums[name] += counts[name];
}

/** The sums of an account, or of some of its products; null means all. */
function sumsOf({ countedAt, customers, products: counted }: AccountCounts, products: readonly string[] | null) {
  const shown = products === null ? counted : counted.filter(({ productId }) => products.includes(productId));
  const sum = (count: (one: ProductCounts) => number | undefined) =>
    shown.reduce((total, one) => total + (count(one) ?? 0), 0);
  const keys = { ...nothing };
  for (const one of shown) add(keys, one.keys);
  const weeks = lastWeeks(countedAt);
  return {
    keys,
    products: shown.map((one) => ({ productId: one.productId, ...one.keys })),
    devices: sum((one) => one.devices),
    sessions: sum((one) => one.sessions),
    customers: products === null ? customers : null,
    issuedPerWeek: weeks.map((week, at) => ({ week, count: sum((one) => one.issuedPerWeek[at]) })),
    activatedPerWeek: weeks.map((week, at) => ({ week, count: sum((one) => one.activatedPerWeek[at]) })),
  };
}

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

/** The last weeks by their Mondays, oldest first, the one that is not over included. */
function lastWeeks(now: Instant): string[] {
  const monday = mondayOf(now.slice(0, 10));
  return Array.from({ length: WEEKS }, (_, at) => addDays(monday, (at - WEEKS + 1) * 7));
}

const mondayOf = (day: string): string => addDays(day, -((new Date(startOf(day)).getUTCDay() + 6) % 7));

const addDays = (day: string, days: number): string => addSeconds(startOf(day), days * DAY_SECONDS).slice(0, 10);

const startOf = (day: string): Instant => toInstant(Date.parse(day));
