import type { Customer } from '../../../contract/customers.ts';
import type { Duration } from '../../../contract/fields.ts';
import type { AccountId, Instant, LicenseKey, ProductId, TokenId } from '../../../contract/scalars.ts';
import type { Features, License } from '../../../domain/license.ts';
import { isAmong, raw, type Sql, sql } from '../../engine/sql.ts';
import type { Beside } from '../../lists.ts';
import { flag, integer, json, optional, type Row, tableOf, text } from '../../table.ts';

const columns = {
  accountId: text<AccountId>('account_id'),
  id: text('id'),
  productId: text<ProductId>('product_id'),
  key: text<LicenseKey>('license_key'),
  reference: optional(text('reference')),
  customerId: optional(text('customer_id')),
  maxActivations: optional(integer('max_activations')),
  /** The number of rows in `devices`; both change in one transaction. */
  activations: integer('activations'),
  expirationDate: optional(text<Instant>('expires_at')),
  renewalDay: optional(integer('renewal_day')),
  expiresAfter: optional(json<Duration>('expires_after')),
  gracePeriod: optional(json<Duration>('grace_period')),
  features: json<Features>('features'),
  metadata: json<License['metadata']>('metadata'),
  isTrial: flag('is_trial'),
  allowedHosts: optional(json<readonly string[]>('allowed_hosts')),
  licenseType: text<License['licenseType']>('license_type'),
  maxConcurrentSessions: optional(integer('max_sessions')),
  heartbeatInterval: integer('heartbeat_seconds'),
  sessionLeaseDuration: integer('lease_seconds'),
  customerCanSelfReset: flag('customer_can_self_reset'),
  vendorDisabled: flag('vendor_disabled'),
  revokedAt: optional(text<Instant>('revoked_at')),
  revocationReason: optional(text('revocation_reason')),
  planId: optional(text('plan_id')),
  previousKeyUntil: optional(text<Instant>('previous_key_until')),
  fingerprintMatch: optional(integer('fingerprint_match')),
  versionId: optional(text('version_id')),
  issuedBy: optional(text<TokenId>('issued_by')),
  slotYear: integer('slot_year'),
  promisedSlots: integer('promised_slots'),
  moves: integer('moves'),
  lastSeenOn: optional(text('last_seen_on')),
  createdAt: text<Instant>('created_at'),
  updatedAt: text<Instant>('updated_at'),
};

export const licenses = tableOf('licenses', columns);

/** The last four characters of a key, in lower case, in the words of the index of keys; that begins with them. */
export const tailOf = (key: Sql | string): Sql => sql`lower(substr(${key}, length(${key}) - 3))`;

/**
 * How many characters a masked key shows: the last section of a key of lkm (`domain/license-key.ts`, with the symbols of
 * `domain/crockford.ts`), else the last four characters, or fewer of a key below 12 characters.
 */
export const shownLength = (key: Sql | string): Sql => sql`case
  when ${key} like '_____-_____-_____-_____-_____'
    and length(replace(${key}, '-', '')) = 25
    and ltrim(${key}, '-0123456789ABCDEFGHJKMNPQRSTVWXYZ') = ''
  then 5 when length(${key}) < 8 then 0 when length(${key}) < 12 then length(${key}) - 8 else 4 end`;

/** A condition that finds a key by that index. */
export const isKey = (key: string, column = 'license_key'): Sql =>
  sql`${tailOf(raw(column))} = ${tailOf(key)} and ${raw(column)} = ${key}`;

// Same text as in the partial indexes of the migrations, without parameters: otherwise the engines do not use the indexes.

/** Whether a licence, or a device, was not seen on a day or later; where that is not known, by when it was made. */
export const isUnseenSince = (table: string, day: string): Sql =>
  sql`coalesce(${raw(table)}.last_seen_on, substr(${raw(table)}.created_at, 1, 10)) < ${day}`;

/** Neither blocked nor expired. */
export const isActive = (now: Instant) =>
  sql`licenses.vendor_disabled = 0 and (licenses.expires_at is null or licenses.expires_at > ${now})`;

/** Active, without devices. */
export const isUnused = (now: Instant) => sql`licenses.activations = 0 and ${isActive(now)}`;

/** Active, without a free slot. */
export const isFull = (now: Instant) => sql`licenses.activations >= licenses.max_activations and ${isActive(now)}`;

export const isExpiring = (now: Instant, until: Instant) =>
  sql`licenses.vendor_disabled = 0 and licenses.expires_at > ${now} and licenses.expires_at <= ${until}`;

/** Ended, and not blocked. */
export const isExpired = (now: Instant) => sql`licenses.vendor_disabled = 0 and licenses.expires_at <= ${now}`;

/**
 * Keys that fit by their end and their id, in two parts with an index each: keys whose expiry was recorded, so that their
 * end has passed, in the order of lists; and other keys, by their ends.
 *
 * @param fits takes both columns, as an expression where SQLite must not use an index for it
 */
export const byRecordedEnd = (fits: (end: Sql, id: Sql) => Sql): readonly [recorded: Sql, unrecorded: Sql] => [
  sql`licenses.expired_recorded_for = licenses.expires_at
    and (case when licenses.expired_recorded_for = licenses.expires_at then 1 end) = 1
    and ${fits(raw(`(licenses.expires_at || '')`), raw('licenses.id'))}`,
  sql`licenses.expires_at is not null and licenses.expired_recorded_for is distinct from licenses.expires_at
    and (case when licenses.soon_recorded_for is distinct from licenses.expires_at then 0 else 1 end) in (0, 1)
    and ${fits(raw('licenses.expires_at'), raw(`(licenses.id || '')`))}`,
];

/** Disabled by the vendor, and not revoked. */
export const isBlocked: Sql = sql`licenses.vendor_disabled = 1 and licenses.revoked_at is null`;

export const isRevoked: Sql = sql`licenses.revoked_at is not null`;

export const isTrial: Sql = sql`licenses.is_trial = 1`;

/** A licence with the names of its product and its customer. */
export interface NamedLicense extends License {
  readonly productName: string;
  readonly customerName: string | null;
  readonly customerEmail: string | null;
}

/** The names of the product and the customer of a row `listed` with the columns of a licence. */
export const besideLicense: Beside = {
  columns: raw('p.name as product_name, c.name as customer_name, c.email as customer_email'),
  joins: raw(`left join products as p on p.account_id = listed.account_id and p.id = listed.product_id
    left join customers as c on c.account_id = listed.account_id and c.id = listed.customer_id`),
};

const namesOf = (row: Row) => ({
  productName: row.product_name as string,
  customerName: row.customer_name as string | null,
  customerEmail: row.customer_email as string | null,
});

export const readNamed = (row: Row): NamedLicense => ({ ...licenses.read(row), ...namesOf(row) });

/** The key and the names beside a row `listed` of a licence: of a device, or of a session. */
export const besideHeld: Beside = {
  columns: sql`l.license_key, l.product_id, l.customer_id, ${besideLicense.columns}`,
  joins: raw(`left join licenses as l on l.account_id = listed.account_id and l.id = listed.license_id
    left join products as p on p.account_id = l.account_id and p.id = l.product_id
    left join customers as c on c.account_id = l.account_id and c.id = l.customer_id`),
};

export const readHeld = (row: Row) => ({
  licenseId: row.license_id as string,
  key: row.license_key as LicenseKey,
  productId: row.product_id as ProductId,
  customerId: row.customer_id as string | null,
  ...namesOf(row),
});

/** Whether the licence that a column names belongs to any of the products; null means every product. */
export const isOfProducts = (accountId: AccountId, licenseId: string, productIds: readonly string[] | null): Sql =>
  productIds === null
    ? raw('1 = 1')
    : sql`exists (select 1 from licenses as l where l.account_id = ${accountId} and l.id = ${raw(licenseId)}
        and ${isAmong(raw('l.product_id'), productIds)})`;

/** The customer of a licence. */
export type LicenseCustomer = Pick<Customer, 'id' | 'name' | 'email' | 'active'>;
