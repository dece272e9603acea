import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Customer } from '../../../contract/customers.ts';
import type { Duration } from '../../../contract/fields.ts';
import type { AccountId, Instant, LicenseKey, ProductId } from '../../../contract/scalars.ts';
import type { Features, License } from '../../../domain/license.ts';
import { statement } from '../../engine/statement.ts';
import type { Tables } from '../../schema.ts';
import { flag, integer, json, optional, type RowOf, readerOf, type Table, text } from '../../table.ts';

export const licenseColumns = {
  accountId: text<AccountId>()('account_id'),
  id: text()('id'),
  productId: text<ProductId>()('product_id'),
  key: text<LicenseKey>()('license_key'),
  reference: optional(text()('reference')),
  customerId: optional(text()('customer_id')),
  maxActivations: optional(integer()('max_activations')),
  /** Always the number of rows in `devices`: both change in one transaction. */
  activations: integer()('activations'),
  expirationDate: optional(text<Instant>()('expires_at')),
  expiresAfter: optional(json<Duration>()('expires_after')),
  gracePeriod: optional(json<Duration>()('grace_period')),
  features: json<Features>()('features'),
  metadata: json<License['metadata']>()('metadata'),
  isTrial: flag()('is_trial'),
  allowedHosts: optional(json<readonly string[]>()('allowed_hosts')),
  licenseType: text<License['licenseType']>()('license_type'),
  maxConcurrentSessions: optional(integer()('max_sessions')),
  heartbeatInterval: integer()('heartbeat_seconds'),
  sessionLeaseDuration: integer()('lease_seconds'),
  customerCanSelfReset: flag()('customer_can_self_reset'),
  vendorDisabled: flag()('vendor_disabled'),
  versionId: optional(text()('version_id')),
  createdAt: text<Instant>()('created_at'),
  updatedAt: text<Instant>()('updated_at'),
};

/** The symbols of the keys that are made here, as `domain/crockford.ts` has them. */
const KEY_SYMBOLS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** The table of licences. */
export const licenses: Table<typeof licenseColumns> = { name: 'licenses', columns: licenseColumns };

/** Reads a row of that table. */
export const toLicense: (row: RowOf<typeof licenseColumns>) => License = readerOf(licenses);

/** The last four characters of a key, in lower case, in the words of the index of keys; that begins with them. */
export const tailOf = (key: unknown): RawBuilder<string> => sql`lower(substr(${key}, length(${key}) - 3))`;

/** How many characters a masked key shows: the last section of one of ours (`domain/license-key.ts`), else the last four. */
export const shownLength = (key: unknown): RawBuilder<number> => sql`case
  when ${key} like '_____-_____-_____-_____-_____'
    and length(replace(${key}, '-', '')) = 25
    and ltrim(${key}, ${sql.lit(`-${KEY_SYMBOLS}`)}) = ''
  then 5 else 4 end`;

/** A condition that finds a key by that index. */
export const isKey = (key: unknown, column = 'license_key'): RawBuilder<SqlBool> =>
  sql`${tailOf(sql.ref(column))} = ${tailOf(key)} and ${sql.ref(column)} = ${key}`;

// In the words of the partial indexes of the migrations, and without parameters in these: only so are they used.

/** Whether a key is neither blocked nor expired. */
export const isActive = (now: unknown) =>
  sql`licenses.vendor_disabled = 0 and (licenses.expires_at is null or licenses.expires_at > ${now})`;

/** Whether an active key has no devices. */
export const isUnused = (now: unknown) => sql`licenses.activations = 0 and ${isActive(now)}`;

/** Whether an active key has no slot left. */
export const isFull = (now: unknown) => sql`licenses.activations >= licenses.max_activations and ${isActive(now)}`;

/** Whether an active key ends in this span of time. */
export const isExpiring = (now: unknown, until: unknown) =>
  sql`licenses.vendor_disabled = 0 and licenses.expires_at > ${now} and licenses.expires_at <= ${until}`;

/** Whether a key that is not blocked has ended. */
export const isExpired = (now: unknown) => sql`licenses.vendor_disabled = 0 and licenses.expires_at <= ${now}`;

export const isBlocked: RawBuilder<unknown> = sql`licenses.vendor_disabled = 1`;

export const isTrial: RawBuilder<unknown> = sql`licenses.is_trial = 1`;

/** The customer of a licence. */
export type LicenseCustomer = Pick<Customer, 'id' | 'name' | 'email' | 'active'>;

/** A licence with its customer, if it has one, and whether a file was signed for it that is remembered. */
export interface LicenseWithCustomer {
  readonly license: License;
  readonly customer: LicenseCustomer | null;
  readonly hasFiles: boolean;
}

const selectWithCustomer = (db: Kysely<Tables>) =>
  db
    .selectFrom('licenses as l')
    .leftJoin('customers as c', (on) =>
      on.onRef('c.account_id', '=', 'l.account_id').onRef('c.id', '=', 'l.customer_id'),
    )
    .selectAll('l')
    .select(['c.name as customer_name', 'c.email as customer_email', 'c.active as customer_active'])
    .select(({ exists, selectFrom }) =>
      exists(
        selectFrom('license_files as f')
          .select('f.id')
          .whereRef('f.account_id', '=', 'l.account_id')
          .whereRef('f.license_id', '=', 'l.id'),
      ).as('has_files'),
    );

/** The licence that product and key name together. */
export const findWithCustomer = statement<{ accountId: AccountId; productId: ProductId; key: LicenseKey }>()((db, $) =>
  selectWithCustomer(db)
    .where('l.account_id', '=', $.accountId)
    .where(isKey($.key, 'l.license_key'))
    .where('l.product_id', '=', $.productId),
);

/** The licence that product and reference name together. */
export const findReferenceWithCustomer = statement<{ accountId: AccountId; productId: ProductId; reference: string }>()(
  (db, $) =>
    selectWithCustomer(db)
      .where('l.account_id', '=', $.accountId)
      .where('l.reference', '=', $.reference)
      .where('l.product_id', '=', $.productId),
);

type RowWithCustomer = RowOf<typeof licenseColumns> & {
  readonly customer_name: string | null;
  readonly customer_email: string | null;
  readonly customer_active: 0 | 1 | null;
  /** SQLite has numbers for this. */
  readonly has_files: unknown;
};

/** Reads a row of these statements. */
export function withCustomer(row: RowWithCustomer): LicenseWithCustomer {
  const { customer_id: id, customer_name: name, customer_email: email, customer_active: active } = row;
  const customer = id === null || name === null ? null : { id, name, email, active: active === 1 };
  return { license: toLicense(row), customer, hasFiles: Boolean(row.has_files) };
}
