import type { AccountId, Instant, ProductId } from '../../contract/scalars.ts';
import type { Features } from '../../domain/license.ts';
import type { Plan, PlanTerms } from '../../domain/plan.ts';
import type { Connection } from '../engine/driver.ts';
import { isAmong, raw, sql } from '../engine/sql.ts';
import { nullIfTaken } from '../errors.ts';
import { type List, listsOf } from '../lists.ts';
import { type Changes, flag, json, type Row, tableOf, text } from '../table.ts';

const columns = {
  accountId: text<AccountId>('account_id'),
  id: text('id'),
  productId: text<ProductId>('product_id'),
  name: text('name'),
  active: flag('active'),
  terms: json<PlanTerms>('terms'),
  features: json<Features>('features'),
  createdAt: text<Instant>('created_at'),
  updatedAt: text<Instant>('updated_at'),
};

const plans = tableOf('plans', columns, ['accountId']);

/** A plan with the name of its product. */
export interface NamedPlan extends Plan {
  readonly productName: string;
}

const readNamed = (row: Row): NamedPlan => ({ ...plans.read(row), productName: row.product_name as string });
const lists = listsOf({ ...plans, read: readNamed }, 'id', {
  beside: {
    columns: raw('p.name as product_name'),
    joins: raw('left join products as p on p.account_id = listed.account_id and p.id = listed.product_id'),
  },
});
const unlessNamed = sql`on conflict (account_id, product_id, name) do nothing`;

/** The plans of products. */
export const planRepository = (db: Connection) => ({
  /** False when the product has a plan of that name. */
  insert: (plan: Plan & { readonly accountId: AccountId }) => plans.insert(db, plan, unlessNamed),

  find: (accountId: AccountId, id: string): Promise<Plan | null> => plans.find(db, { accountId, id }),

  findByName: (accountId: AccountId, productId: ProductId, name: string): Promise<Plan | null> =>
    plans.find(db, { accountId, productId, name }),

  /** Locks and returns a plan. */
  findLocked: (accountId: AccountId, id: string): Promise<Plan | null> => plans.lock(db, { accountId, id }),

  /** Oldest first; null stands for all products. */
  list: (accountId: AccountId, productIds: readonly string[] | null): List<NamedPlan> =>
    lists.of(
      db,
      { accountId },
      productIds === null ? {} : { conditions: [isAmong(raw('plans.product_id'), productIds)] },
    ),

  /** Null when its name is taken. */
  patch: (accountId: AccountId, id: string, changes: Changes<typeof columns>): Promise<Plan | null> =>
    plans.patch(db, { accountId, id }, changes).catch(nullIfTaken),
});
