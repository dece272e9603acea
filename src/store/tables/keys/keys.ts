import type { METADATA_LIMITS } from '../../../contract/keys/metadata.ts';
import type { AccountId, Instant, LicenseKey, ProductId } from '../../../contract/scalars.ts';
import type { Changes } from '../../../domain/changes.ts';
import type { License } from '../../../domain/license.ts';
import type { Connection } from '../../engine/driver.ts';
import { raw, type Sql, sql } from '../../engine/sql.ts';
import { licenseWords, replaceWords, wordsOf } from '../../search.ts';
import { latestOf, type Row, tableOf, text, unlessTaken } from '../../table.ts';
import { isKey, type LicenseCustomer, licenses } from './licenses.ts';

const entries = tableOf('license_metadata', {
  accountId: text<AccountId>('account_id'),
  name: text('name'),
  /** The value as text: a search for `true` finds the text and the boolean. */
  value: text('value'),
  licenseId: text('license_id'),
});

const unlessReferenced = sql`on conflict (account_id, reference) where reference is not null do nothing`;

/** The licence of a product with a key. */
const named = (accountId: AccountId, productId: ProductId, key: LicenseKey) =>
  sql`select * from licenses where account_id = ${accountId} and ${isKey(key)} and product_id = ${productId}`;

/** A key, or a reference. */
export type KeyAddress = { readonly licenseKey: LicenseKey } | { readonly reference: string };

/** The condition that the licence `l` has the key or the reference. */
const isAt = (address: KeyAddress): Sql =>
  'licenseKey' in address ? isKey(address.licenseKey, 'l.license_key') : sql`l.reference = ${address.reference}`;

const isLicense = ({ accountId, id }: License) => sql`account_id = ${accountId} and id = ${id}`;

/** The licences of accounts. */
export const keyRepository = (db: Connection) => ({
  /** Adds a licence; false when its reference is taken. */
  insert: (license: License): Promise<boolean> =>
    add(db, license, license.reference === null ? undefined : unlessReferenced),

  /** Adds an imported licence; false if its key, reference or id is taken. */
  insertUnlessThere: (license: License): Promise<boolean> => add(db, license, unlessTaken),

  find: (accountId: AccountId, productId: ProductId, key: LicenseKey): Promise<License | null> =>
    licenses.first(db)`${named(accountId, productId, key)}`,

  findById: (accountId: AccountId, id: string): Promise<License | null> => licenses.find(db, { accountId, id }),

  findByReference: (accountId: AccountId, reference: string): Promise<License | null> =>
    licenses.find(db, { accountId, reference }),

  /** The product of a licence; null for an unknown licence. */
  findProduct(accountId: AccountId, address: KeyAddress): Promise<ProductId | null> {
    const product = sql`select l.product_id from licenses as l where l.account_id = ${accountId} and ${isAt(address)}`;
    return db.first(product, (row: { product_id: ProductId }) => row.product_id);
  },

  /** A licence, its customer, the name of its product, and whether it has signed files, in one statement. */
  findWithCustomer(accountId: AccountId, productId: ProductId, address: KeyAddress) {
    const found = sql`
      select l.*, c.name as customer_name, c.email as customer_email, c.active as customer_active,
        p.name as product_name,
        exists (select 1 from license_files as f where f.account_id = l.account_id and f.license_id = l.id) as has_files
      from licenses as l join products as p on p.account_id = l.account_id and p.id = l.product_id
        left join customers as c on c.account_id = l.account_id and c.id = l.customer_id
      where l.account_id = ${accountId} and ${isAt(address)} and l.product_id = ${productId}`;
    return db.first(found, withCustomer);
  },

  /** Locks and returns the licence of a product with a key. */
  findLocked: (accountId: AccountId, productId: ProductId, key: LicenseKey): Promise<License | null> =>
    licenses.first(db)`${named(accountId, productId, key)} for update`,

  /** Changes the given fields of a licence that the caller has locked, and returns the new licence. */
  async patch(license: License, changes: Changes<License> & { readonly updatedAt: Instant }): Promise<License> {
    const { accountId, id } = license;
    const changed = await licenses.patch(db, { accountId, id }, changes);
    if (changed === null) throw new Error(`the licence ${id} is not there`);
    await writeMetadata(db, changed, license);
    return changed;
  },

  /** The licence has neither devices nor sessions. */
  async remove(license: License): Promise<void> {
    await writeMetadata(db, { ...license, metadata: {}, reference: null }, license);
    await licenses.remove(db, { accountId: license.accountId, id: license.id });
  },

  /**
   * Takes one activation slot; false when no slot is free, when slots are promised in the year, or when the key is disabled.
   * One statement, so no two callers get the last slot. Where the first use sets the end of the licence, the first slot sets
   * it to `first`.
   */
  async takeSlot(license: License, now: Instant, first: First): Promise<boolean> {
    const year = Number(now.slice(0, 4));
    const taken = await db.run(sql`
      update licenses set activations = activations + 1, updated_at = ${latestOf('updated_at', now)},
        last_seen_on = ${now.slice(0, 10)},
        ${setUnlessBegun('expires_at', first.expirationDate)}, ${setUnlessBegun('renewal_day', first.renewalDay)}
      where ${isLicense(license)} and vendor_disabled = 0
        and (max_activations is null or activations < max_activations and (promised_slots = 0 or slot_year < ${year}))`);
    return taken === 1;
  },

  /** Sets the end of a licence that waits for its first use; a licence with an end keeps it. */
  setEndAtFirstUse: (license: License, now: Instant, { expirationDate, renewalDay }: First) =>
    db.run(sql`
      update licenses set expires_at = ${expirationDate}, renewal_day = ${renewalDay},
        updated_at = ${latestOf('updated_at', now)}
      where ${isLicense(license)} and expires_after is not null and expires_at is null`),

  /** Notes that a licence was used on a day, if it was not on that day yet. */
  markSeen: (license: License, day: string) =>
    db.send(sql`
      update licenses set last_seen_on = ${day} where ${isLicense(license)} and coalesce(last_seen_on, '') < ${day}`),

  freeSlots: (license: License, count: number, now: Instant) =>
    db.run(sql`
      update licenses set activations = activations - ${count}, updated_at = ${latestOf('updated_at', now)}
      where ${isLicense(license)}`),

  /** Locks and reloads a licence; null if it was removed. */
  lock: ({ accountId, id }: License): Promise<License | null> => licenses.lock(db, { accountId, id }),
});

/** The end of a licence by its first use. */
type First = Pick<License, 'expirationDate' | 'renewalDay'>;

/** Sets a column of a licence that waits for its first use. */
const setUnlessBegun = (name: 'expires_at' | 'renewal_day', value: string | number | null): Sql => {
  const column = raw(name);
  return sql`${column} = case when expires_after is not null and expires_at is null then ${value} else ${column} end`;
};

function withCustomer(row: Row) {
  const { customer_id: id, customer_name: name, customer_email: email, customer_active: active } = row;
  const known = id === null || name === null ? null : { id, name, email, active: active === 1 };
  const customer = known as LicenseCustomer | null;
  const productName = row.product_name as string;
  // SQLite returns `has_files` as a number.
  return { license: licenses.read(row), customer, productName, hasFiles: Boolean(row.has_files) };
}

async function add(db: Connection, license: License, conflict: Sql | undefined): Promise<boolean> {
  if (conflict === undefined) await licenses.add(db, license);
  else if (!(await licenses.insert(db, license, conflict))) return false;
  await writeMetadata(db, license);
  return true;
}

/** Longer texts are not found: no entry of an index of PostgreSQL has more than 2 704 bytes. */
const MAX_FOUND_LENGTH: (typeof METADATA_LIMITS)['foundLength'] = 500;

/** Entries that are text, number or boolean, as text. */
function findableOf(metadata: License['metadata']): ReadonlyMap<string, string> {
  const single = Object.entries(metadata).filter(([, value]) => value !== null && typeof value !== 'object');
  return new Map(
    single
      .map(([name, value]) => [name, String(value)] as const)
      .filter(([, { length }]) => length <= MAX_FOUND_LENGTH),
  );
}

type Findable = Pick<License, 'accountId' | 'id' | 'metadata' | 'reference'>;

/**
 * Makes a licence findable by its free metadata and its reference. Called with every change of them: `before` has the former
 * texts.
 */
async function writeMetadata(
  db: Connection,
  license: Findable,
  before: Pick<Findable, 'metadata' | 'reference'> = { metadata: {}, reference: null },
): Promise<void> {
  const { accountId, id: licenseId, metadata } = license;
  const [past, present] = [findableOf(before.metadata), findableOf(metadata)];
  for (const [name, value] of past) {
    if (present.get(name) !== value) await entries.remove(db, { accountId, name, value, licenseId });
  }
  for (const [name, value] of present) {
    if (past.get(name) !== value) await entries.insert(db, { accountId, name, value, licenseId }, unlessTaken);
  }
  const owner = { accountId, licenseId, hostId: '' };
  await replaceWords(db, licenseWords, owner, wordsIn(before), wordsIn(license));
}

/** The search phrases of a reference and of free metadata, without booleans, which many licences share. */
function wordsIn({ reference, metadata }: Pick<Findable, 'metadata' | 'reference'>): string {
  const entries = [...findableOf(metadata)].filter(([name]) => typeof metadata[name] !== 'boolean');
  return wordsOf(reference, ...entries.map(([, value]) => value));
}
