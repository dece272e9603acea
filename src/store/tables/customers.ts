import { type RawBuilder, sql } from 'kysely';
import type { Customer } from '../../contract/customers.ts';
import type { AccountId, Instant } from '../../contract/scalars.ts';
import type { Connection } from '../engine/driver.ts';
import { statement } from '../engine/statement.ts';
import { ConstraintError } from '../errors.ts';
import { listsOf, type Page } from '../lists.ts';
import { containing, phrasesOf, searchText, wordsBeginning } from '../search.ts';
import { byKey, flag, insertInto, latestOf, optional, type RowOf, readerOf, type Table, text } from '../table.ts';
import { addPhrases, removePhrases } from './keys/search-phrases.ts';

export const customerColumns = {
  accountId: text<AccountId>()('account_id'),
  id: text()('id'),
  name: text()('name'),
  email: optional(text()('email')),
  /** The e-mail address as it is compared: without case. */
  emailKey: optional(text()('email_key')),
  /** The words of name and e-mail address as they are searched. */
  searchText: text()('search_text'),
  active: flag()('active'),
  createdAt: text<Instant>()('created_at'),
  updatedAt: text<Instant>()('updated_at'),
};

const customers: Table<typeof customerColumns> = { name: 'customers', columns: customerColumns };
const insert = insertInto(customers, { skipConflictsOn: 'any' });
const read = readerOf(customers, ['id', 'name', 'email', 'active', 'createdAt', 'updatedAt', 'accountId']);
const byId = byKey(customers, ['accountId', 'id'], toCustomer);

/** Stands between products in a text: no id holds a line break, while some hold commas. */
const APART = '\n';

/** Products as one text, in which each can be looked for whole. */
const productsText = (productIds: Iterable<string>): string => `${APART}${[...productIds].join(APART)}${APART}`;

/** Whether a licence is of one of the products that a text names: cut out of it, they leave it shorter. */
const isOfProducts = (products: RawBuilder<unknown>) =>
  sql`replace(${products}, ${sql.lit(APART)} || l.product_id || ${sql.lit(APART)}, '') <> ${products}`;

/** Whether the customer of a row has a licence of one of the products that a text names. */
const hasLicenseOf = (products: RawBuilder<unknown>) => sql`exists (
  select 1 from licenses l
  where l.account_id = customers.account_id and l.customer_id = customers.id and ${isOfProducts(products)})`;

const lists = listsOf(customers, toCustomer, {
  scope: ['accountId'],
  order: 'id',
  conditions: {
    active: (value) => sql`customers.active = ${value()}`,
    email: (pattern) => sql`customers.email_key like ${pattern()} escape '!'`,
    text: (pattern) => sql`customers.search_text like ${pattern()} escape '!'`,
    products: (products) => hasLicenseOf(sql`${products()}`),
  },
});

/** Which customers a list holds. */
export interface CustomerFilters {
  /** Part of the e-mail address, without case. */
  readonly email?: string | undefined;
  /** The start of a word, or of words in a row, in the name or the e-mail address, without case. */
  readonly text?: string | undefined;
  readonly active?: boolean | undefined;
  /** Only customers that have a licence of one of these. */
  readonly productIds?: ReadonlySet<string> | undefined;
}

const holdRow = statement<{ accountId: AccountId; id: string }>()((db, $) =>
  db.selectFrom('customers').select('id').where('account_id', '=', $.accountId).where('id', '=', $.id).forKeyShare(),
);

const findByEmail = statement<{ accountId: AccountId; emailKey: string }>()((db, $) =>
  db.selectFrom('customers').select('id').where('account_id', '=', $.accountId).where('email_key', '=', $.emailKey),
);

const releaseLicenses = statement<{ accountId: AccountId; id: string; blocks: number; now: Instant }>()((db, $) =>
  db
    .updateTable('licenses')
    .set({
      customer_id: null,
      vendor_disabled: sql<0 | 1>`case when ${$.blocks} = 1 then 1 else vendor_disabled end`,
      updated_at: latestOf('updated_at', $.now),
    })
    .where('account_id', '=', $.accountId)
    .where('customer_id', '=', $.id),
);

interface OfProducts {
  readonly accountId: AccountId;
  readonly id: string;
  readonly products: string;
}

const seen = statement<OfProducts>()((db, $) =>
  db
    .selectFrom('customers')
    .select('id')
    .where('account_id', '=', $.accountId)
    .where('id', '=', $.id)
    .where(() => sql<boolean>`${hasLicenseOf(sql`${$.products}`)}`),
);

const elsewhere = statement<OfProducts>()((db, $) =>
  db
    .selectFrom('licenses as l')
    .select('l.id')
    .where('l.account_id', '=', $.accountId)
    .where('l.customer_id', '=', $.id)
    .where(() => sql<boolean>`not ${isOfProducts(sql`${$.products}`)}`)
    .orderBy('l.id')
    .limit(sql.lit(1)),
);

/** The customers of accounts. */
export const customerRepository = (db: Connection) => ({
  /** Adds a customer, active unless given; false when its id or its e-mail address is taken, which is decided without case. */
  async insert({
    now,
    active = true,
    ...customer
  }: {
    accountId: AccountId;
    id: string;
    name: string;
    email: string | null;
    active?: boolean;
    now: Instant;
  }): Promise<boolean> {
    const { name, email } = customer;
    const row = { ...customer, ...derivedFrom(customer), active, createdAt: now, updatedAt: now };
    if ((await db.run(insert, row)) === 0) return false;
    await addPhrases(db, ownerOf(customer.accountId, customer.id), phrasesOf(name, email));
    return true;
  },

  find: (accountId: AccountId, id: string): Promise<Customer | null> => byId.find(db, { accountId, id }),

  /** Customers, oldest first. */
  list: (accountId: AccountId, { after, offset, limit, ...filters }: Page & CustomerFilters): Promise<Customer[]> =>
    lists.page(db, { accountId }, { after, offset, limit }, toFilterValues(filters)),

  count: (accountId: AccountId, filters: CustomerFilters = {}): Promise<number> =>
    lists.count(db, { accountId }, toFilterValues(filters)),

  /** All customers, oldest first. */
  listAll: (accountId: AccountId, filters: CustomerFilters = {}): AsyncGenerator<Customer> =>
    lists.walk(db, { accountId }, toFilterValues(filters)),

  /** The customer, which nobody else changes until this transaction ends. */
  lock: (accountId: AccountId, id: string): Promise<Customer | null> => byId.lock(db, { accountId, id }),

  /**
   * Changes what is given of a customer that is locked, and returns it as it is then. Null when another customer has the
   * e-mail address: the transaction cannot go on.
   */
  async patch(accountId: AccountId, before: Customer, changes: CustomerChanges): Promise<Customer | null> {
    const { name = before.name, email = before.email, active, updatedAt } = changes;
    const { id } = before;
    const other =
      email === null ? undefined : await db.first(findByEmail, { accountId, emailKey: email.toLowerCase() });
    if (other !== undefined && other.id !== id) return null;
    const fields = { name, email, ...derivedFrom({ name, email }), active, updatedAt };
    const changed = await byId.patch(db, { accountId, id }, fields).catch(takenOrThrow);
    if (changed === 'taken') return null;
    if (changed === null) throw new Error(`customer ${id} was not locked`);
    const [old, now] = [phrasesOf(before.name, before.email), phrasesOf(name, email)];
    const owner = ownerOf(accountId, id);
    await removePhrases(
      db,
      owner,
      old.filter((phrase) => !now.includes(phrase)),
    );
    await addPhrases(
      db,
      owner,
      now.filter((phrase) => !old.includes(phrase)),
    );
    return changed;
  },

  /** Keeps a customer from being removed until this transaction ends; false when there is no such customer. */
  async hold(accountId: AccountId, id: string): Promise<boolean> {
    return (await db.first(holdRow, { accountId, id })) !== undefined;
  },

  /** Whether the customer has a licence of one of the products. */
  async isOfProducts(accountId: AccountId, id: string, productIds: ReadonlySet<string>): Promise<boolean> {
    return (await db.first(seen, { accountId, id, products: productsText(productIds) })) !== undefined;
  },

  /** Whether the customer has a licence of any other product. */
  async isOfOthers(accountId: AccountId, id: string, productIds: ReadonlySet<string>): Promise<boolean> {
    return (await db.first(elsewhere, { accountId, id, products: productsText(productIds) })) !== undefined;
  },

  /** The id of the customer with this address, compared without case. */
  async findByEmail(accountId: AccountId, email: string): Promise<string | null> {
    return (await db.first(findByEmail, { accountId, emailKey: email.toLowerCase() }))?.id ?? null;
  },

  /**
   * Removes a customer and leaves its licences without one; those of an inactive customer are disabled. Returns how many
   * they are, or null when there is no such customer.
   */
  async remove(accountId: AccountId, id: string, now: Instant): Promise<number | null> {
    // The lock waits for transactions that hold the customer, so that the licences they add are seen below.
    const customer = await byId.lock(db, { accountId, id });
    if (customer === null) return null;
    await removePhrases(db, ownerOf(accountId, id), phrasesOf(customer.name, customer.email));
    const released = await db.run(releaseLicenses, { accountId, id, now, blocks: customer.active ? 0 : 1 });
    await byId.remove(db, { accountId, id });
    return released;
  },
});

/** New values of a customer; what is undefined stays. */
export interface CustomerChanges {
  readonly name?: string | undefined;
  readonly email?: string | null | undefined;
  readonly active?: boolean | undefined;
  readonly updatedAt: Instant;
}

/** Another transaction may have taken the address since it was looked for. */
function takenOrThrow(error: unknown): 'taken' {
  if (error instanceof ConstraintError) return 'taken';
  throw error;
}

const derivedFrom = ({ name, email }: { readonly name: string; readonly email: string | null }) => ({
  emailKey: email?.toLowerCase() ?? null,
  searchText: searchText(name, email ?? ''),
});

const ownerOf = (accountId: AccountId, ownerId: string) =>
  ({ accountId, kind: 'customer', ownerId, detail: '' }) as const;

function toCustomer(row: RowOf<typeof customerColumns>): Customer {
  const { accountId, ...customer } = read(row);
  return { ...customer, createdBy: accountId };
}

const toFilterValues = ({ email, text, active, productIds }: CustomerFilters) => ({
  email: email === undefined ? undefined : containing(email),
  text: text === undefined ? undefined : wordsBeginning(text),
  active: active === undefined ? undefined : customerColumns.active.toSql(active),
  products: productIds && productsText(productIds),
});
