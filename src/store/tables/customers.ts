import type { Customer } from '../../contract/customers.ts';
import type { AccountId, Instant } from '../../contract/scalars.ts';
import type { Connection } from '../engine/driver.ts';
import { isAmong, type Sql, sql, unionOf } from '../engine/sql.ts';
import { nullIfTaken } from '../errors.ts';
import { type Filters, type List, listsOf } from '../lists.ts';
import { customerSearch, customerWords, patternsOf, replaceWords, wordsOf } from '../search.ts';
import { type Changes, flag, latestOf, optional, tableOf, text, unlessTaken } from '../table.ts';

const columns = {
  accountId: text<AccountId>('account_id'),
  id: text('id'),
  name: text('name'),
  email: optional(text('email')),
  /** The e-mail address as it is compared: without case. */
  emailKey: optional(text('email_key')),
  active: flag('active'),
  createdAt: text<Instant>('created_at'),
  updatedAt: text<Instant>('updated_at'),
};

const customers = tableOf('customers', columns, ['emailKey']);
const lists = listsOf(customers, 'id');

/** The filters of a list of customers. */
export interface CustomerFilters {
  /** Part of the e-mail address, without case. */
  readonly email?: string | undefined;
  /** Words in a row, or parts of them, in the name or the e-mail address, without case and accents. */
  readonly text?: string | undefined;
  readonly active?: boolean | undefined;
  /** Only customers that have a licence of any of these products. */
  readonly productIds?: ReadonlySet<string> | undefined;
}

type CustomerChanges = Pick<Changes<typeof columns>, 'name' | 'email' | 'active'> & { readonly updatedAt: Instant };

type NewCustomer = Pick<Customer, 'id' | 'name' | 'email'> & { accountId: AccountId; active?: boolean; now: Instant };

/** The customers of accounts. */
export const customerRepository = (db: Connection) => ({
  /** False when the id or the e-mail address is taken; addresses are compared without case. */
  async insert({ now, active = true, ...customer }: NewCustomer): Promise<boolean> {
    const record = { ...customer, emailKey: keyOf(customer.email), active, createdAt: now, updatedAt: now };
    if (!(await customers.insert(db, record, unlessTaken))) return false;
    await replaceWords(db, customerWords, ownerOf(record), '', wordsOf(record.name, record.email));
    return true;
  },

  find: (accountId: AccountId, id: string) => customers.find(db, { accountId, id }).then(toCustomerOrNull),

  /** Oldest first. */
  list: (accountId: AccountId, filters: CustomerFilters = {}): List<Customer> =>
    lists.of(db, { accountId }, toFilters(accountId, filters)).map(toCustomer),

  /** Locks and returns a customer. */
  lock: (accountId: AccountId, id: string) => customers.lock(db, { accountId, id }).then(toCustomerOrNull),

  /**
   * Changes the given fields of a locked customer, and returns the customer. Null when another customer has the e-mail
   * address: the transaction cannot go on.
   */
  async patch(accountId: AccountId, before: Customer, changes: CustomerChanges): Promise<Customer | null> {
    const { name = before.name, email = before.email, active, updatedAt } = changes;
    const { id } = before;
    if (email !== null && ((await idOfEmail(db, accountId, email)) ?? id) !== id) return null;
    const fields = { name, email, emailKey: keyOf(email), active, updatedAt };
    const changed = await customers.patch(db, { accountId, id }, fields).catch(nullIfTaken);
    if (changed === null) return null;
    await replaceWords(
      db,
      customerWords,
      ownerOf({ accountId, id }),
      wordsOf(before.name, before.email),
      wordsOf(name, email),
    );
    return toCustomer(changed);
  },

  /** Locks a customer against removal; false if there is no such customer. */
  async hold(accountId: AccountId, id: string): Promise<boolean> {
    const held = sql`select id from customers where account_id = ${accountId} and id = ${id} for key share`;
    return (await db.first(held)) !== null;
  },

  /** Whether the customer has a licence of one of the products. */
  isOfProducts: (accountId: AccountId, id: string, productIds: ReadonlySet<string>) =>
    hasLicense(db, accountId, id, isOf(productIds)),

  /** Whether the customer has a licence of any other product. */
  isOfOthers: (accountId: AccountId, id: string, productIds: ReadonlySet<string>) =>
    hasLicense(db, accountId, id, sql`not (${isOf(productIds)})`),

  /** The id of the customer, compared without case. */
  findByEmail: (accountId: AccountId, email: string) => idOfEmail(db, accountId, email),

  /**
   * Removes a customer and leaves its licences without a customer; licences of an inactive customer are disabled. Returns
   * the number of the licences, or null for an unknown customer.
   */
  async remove(accountId: AccountId, id: string, now: Instant): Promise<number | null> {
    // The lock waits for transactions that hold the customer, so that the licences they add are seen below.
    const customer = await customers.lock(db, { accountId, id });
    if (customer === null) return null;
    await replaceWords(db, customerWords, ownerOf({ accountId, id }), wordsOf(customer.name, customer.email), '');
    const disabled = customer.active ? sql`vendor_disabled` : sql`1`;
    const released = await db.run(sql`
      update licenses set customer_id = null, vendor_disabled = ${disabled}, updated_at = ${latestOf('updated_at', now)}
      where account_id = ${accountId} and customer_id = ${id}`);
    await customers.remove(db, { accountId, id });
    return released;
  },
});

const idOfEmail = async (db: Connection, accountId: AccountId, email: string): Promise<string | null> =>
  (await customers.find(db, { accountId, emailKey: keyOf(email) }))?.id ?? null;

const keyOf = (email: string | null): string | null => email?.toLowerCase() ?? null;

const ownerOf = ({ accountId, id }: { readonly accountId: AccountId; readonly id: string }) => ({
  accountId,
  customerId: id,
});

type CustomerRecord = ReturnType<typeof customers.read>;

const toCustomer = ({ accountId, ...customer }: CustomerRecord): Customer => ({ ...customer, createdBy: accountId });

const toCustomerOrNull = (found: CustomerRecord | null) => found && toCustomer(found);

/**
 * Whether a licence belongs to any of the products. In an expression, so that no planner reads all licences of a product.
 */
const isOf = (productIds: ReadonlySet<string>): Sql => isAmong(sql`(l.product_id || '')`, [...productIds]);

async function hasLicense(db: Connection, accountId: AccountId, id: string, condition: Sql): Promise<boolean> {
  const license = sql`
    select l.id from licenses as l where l.account_id = ${accountId} and l.customer_id = ${id} and ${condition} limit 1`;
  return (await db.first(license)) !== null;
}

function toFilters(accountId: AccountId, { email, text, active, productIds }: CustomerFilters): Filters {
  const conditions: Sql[] = [];
  if (active !== undefined) conditions.push(sql`customers.active = ${active ? 1 : 0}`);
  if (email !== undefined) {
    const part = email.toLowerCase().replace(/[!%_]/g, '!$&');
    conditions.push(sql`customers.email_key like ${`%${part}%`} escape '!'`);
  }
  const found =
    text === undefined
      ? undefined
      : unionOf(patternsOf(text).map((one) => sql`select w.customer_id as id from ${customerSearch(accountId, one)}`));
  if (productIds !== undefined) {
    conditions.push(sql`exists (
      select 1 from licenses as l
      where l.account_id = customers.account_id and l.customer_id = customers.id and ${isOf(productIds)})`);
  }
  return { conditions, found };
}
