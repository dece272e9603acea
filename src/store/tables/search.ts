import type { AccountId, LicenseKey } from '../../contract/scalars.ts';
import type { Findable } from '../../domain/access.ts';
import type { License } from '../../domain/license.ts';
import type { Connection } from '../engine/driver.ts';
import { isAmong, raw, type Sql, sql, unionOf } from '../engine/sql.ts';
import { customerSearch, isFoundBy, licenseSearch, patternsOf } from '../search.ts';
import type { Row } from '../table.ts';
import { besideLicense, isOfProducts, type LicenseCustomer, type NamedLicense, readNamed } from './keys/licenses.ts';
import { idsByKey } from './keys/lists.ts';

/** The text to find, and the places to search. */
export interface Wanted extends Findable {
  readonly text: string;
  /** The text as a key is stored. */
  readonly key: LicenseKey;
  /** Null means of any product. */
  readonly productIds: readonly string[] | null;
  readonly limit: number;
}

/** A licence that is found, with the names that it is shown with. */
export interface FoundLicense extends Pick<NamedLicense, 'productName' | 'customerName' | 'customerEmail'> {
  readonly license: License;
  /** The text of the licence that has the words; null for a licence that is found by a key or an id. */
  readonly words: { readonly by: 'reference' | 'metadata' | 'device'; readonly matched: string } | null;
}

/** A customer that is found: by its name, unless by its address alone, or by its id. */
export interface FoundCustomer extends LicenseCustomer {
  readonly by: 'name' | 'email' | 'id';
}

/** At most this many results are read; the newest of them are shown. */
const MAX_READ = 1_000;

/** The results for a text, newest first. */
export const searchRepository = (db: Connection) => ({
  /** Licences by a key, by the end of a key, or by their id. */
  byKey: (accountId: AccountId, wanted: Wanted): Promise<FoundLicense[]> =>
    licensesOf(
      db,
      accountId,
      wanted,
      sql`select k.id, '' as host_id from (${unionOf([idsByKey(accountId, wanted), itself(wanted.text)])}) as k`,
    ),

  /** Licences by words of their own, or of a device. */
  byWords: (accountId: AccountId, wanted: Wanted): Promise<FoundLicense[]> =>
    licensesOf(
      db,
      accountId,
      wanted,
      unionOf(
        patternsOf(wanted.text).map(
          (pattern) => sql`select * from (select w.license_id as id, w.host_id from ${licenseSearch(accountId, pattern)}
            and ${isOfProducts(accountId, 'w.license_id', wanted.productIds)} limit ${MAX_READ}) as found`,
        ),
        ['id', 'host_id'],
      ),
    ),

  /** Customers by words of name and address, or by their id. */
  async customers(accountId: AccountId, { text, productIds, limit }: Wanted): Promise<FoundCustomer[]> {
    const isSeen = (id: string): Sql =>
      productIds === null
        ? raw('1 = 1')
        : sql`exists (select 1 from licenses as l where l.account_id = ${accountId} and l.customer_id = ${raw(id)}
            and ${isAmong(raw('l.product_id'), productIds)})`;
    const found = patternsOf(text).map(
      (pattern) => sql`select * from (select w.customer_id as id from ${customerSearch(accountId, pattern)}
        and ${isSeen('w.customer_id')} limit ${MAX_READ}) as found`,
    );
    return db.all(
      sql`select c.id, c.name, c.email, c.active from customers as c
        where c.account_id = ${accountId} and c.id in (${unionOf([...found, itself(text)])}) and ${isSeen('c.id')}
        order by c.id desc limit ${limit}`,
      (row: Row): FoundCustomer => {
        const [id, name, email] = [row.id as string, row.name as string, row.email as string | null];
        const by = isFoundBy(name, text) ? 'name' : isFoundBy(email ?? '', text) ? 'email' : 'id';
        return { id, name, email, active: row.active === 1, by };
      },
    );
  },
});

/** A query for a text that may be an id. */
const itself = (text: string): Sql => sql`select cast(${text} as text) as id`;

/** The licences whose ids a query finds, with the host of a device, or nothing, beside each. A cross join is not turned round. */
function licensesOf(db: Connection, accountId: AccountId, { text, productIds, limit }: Wanted, found: Sql) {
  return db.all(
    sql`select listed.*, ${besideLicense.columns}, found.host_id as found_host, d.tag as found_tag
      from (select distinct * from (${found}) as each_found) as found
        cross join licenses as listed ${besideLicense.joins}
        left join devices as d
          on d.account_id = listed.account_id and d.license_id = listed.id and d.host_id = found.host_id
      where listed.account_id = ${accountId} and listed.id = found.id and ${isOfProducts(accountId, 'found.id', productIds)}
      order by listed.id desc, found.host_id limit ${limit}`,
    (row: Row): FoundLicense => {
      const license = readNamed(row);
      const { productName, customerName, customerEmail } = license;
      const words = row.found_host === '' ? ownWords(license, text) : deviceWords(row, text);
      return { license, productName, customerName, customerEmail, words };
    },
  );
}

function ownWords({ reference, metadata }: License, text: string): FoundLicense['words'] {
  if (reference !== null && isFoundBy(reference, text)) return { by: 'reference', matched: reference };
  const entry = Object.entries(metadata).find(
    ([, value]) => (typeof value === 'string' || typeof value === 'number') && isFoundBy(String(value), text),
  );
  return entry === undefined ? null : { by: 'metadata', matched: entry.join('=') };
}

function deviceWords({ found_host: hostId, found_tag: tag }: Row, text: string): FoundLicense['words'] {
  const isTag = tag != null && !isFoundBy(String(hostId), text);
  return { by: 'device', matched: String(isTag ? tag : hostId) };
}
