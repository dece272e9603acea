import { type RawBuilder, sql } from 'kysely';
import type { AccountId } from '../../contract/scalars.ts';
import type { Connection } from '../engine/driver.ts';
import { statement } from '../engine/statement.ts';

/** Stands between products in a text: no id holds a line break, while some hold commas. */
const APART = '\n';

/** Products as one text, in which each can be looked for whole. */
export const productsText = (productIds: Iterable<string>): string => `${APART}${[...productIds].join(APART)}${APART}`;

/** Whether a licence is of one of the products that a text names: cut out of it, they leave it shorter. */
const isOfProducts = (products: RawBuilder<unknown>) =>
  sql`replace(${products}, ${sql.lit(APART)} || l.product_id || ${sql.lit(APART)}, '') <> ${products}`;

/** Whether the customer of a row has a licence of one of the products that a text names. */
export const hasLicenseOf = (products: RawBuilder<unknown>) => sql`exists (
  select 1 from licenses l
  where l.account_id = customers.account_id and l.customer_id = customers.id and ${isOfProducts(products)})`;

interface Named {
  readonly accountId: AccountId;
  readonly id: string;
  readonly products: string;
}

const seen = statement<Named>()((db, $) =>
  db
    .selectFrom('customers')
    .select('id')
    .where('account_id', '=', $.accountId)
    .where('id', '=', $.id)
    .where(() => sql<boolean>`${hasLicenseOf(sql`${$.products}`)}`),
);

const elsewhere = statement<Named>()((db, $) =>
  db
    .selectFrom('licenses as l')
    .select('l.id')
    .where('l.account_id', '=', $.accountId)
    .where('l.customer_id', '=', $.id)
    .where(() => sql<boolean>`not ${isOfProducts(sql`${$.products}`)}`)
    .orderBy('l.id')
    .limit(sql.lit(1)),
);

/** Which customers a caller that is limited to some products has to do with. */
export const customersOfProductsRepository = (db: Connection) => ({
  /** Whether the customer has a licence of one of the products. */
  async has(accountId: AccountId, id: string, productIds: ReadonlySet<string>): Promise<boolean> {
    return (await db.first(seen, { accountId, id, products: productsText(productIds) })) !== undefined;
  },

  /** Whether the customer has a licence of any other product. */
  async hasOthers(accountId: AccountId, id: string, productIds: ReadonlySet<string>): Promise<boolean> {
    return (await db.first(elsewhere, { accountId, id, products: productsText(productIds) })) !== undefined;
  },
});
