import type { Customer } from '../../../contract/customers.ts';
import type { Duration } from '../../../contract/fields.ts';
import type { AccountId, Instant, LicenseKey, ProductId } from '../../../contract/scalars.ts';
import type { Features, License } from '../../../domain/license.ts';
import type { Connection } from '../../engine/driver.ts';
import { raw, type Sql, sql } from '../../engine/sql.ts';
import { flag, integer, json, optional, type Row, tableOf, text } from '../../table.ts';

const columns = {
  accountId: text<AccountId>('account_id'),
  id: text('id'),
  productId: text<ProductId>('product_id'),
  key: text<LicenseKey>('license_key'),
  reference: optional(text('reference')),
  customerId: optional(text('customer_id')),
  maxActivations: optional(integer('max_activations')),
  /** Always the number of rows in `devices`: both change in one transaction. */
  activations: integer('activations'),
  expirationDate: optional(text<Instant>('expires_at')),
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
  versionId: optional(text('version_id')),
  createdAt: text<Instant>('created_at'),
  updatedAt: text<Instant>('updated_at'),
};

/** The table of licences. */
export const licenses = tableOf('licenses', columns);

/** The last four characters of a key, in lower case, in the words of the index of keys; that begins with them. */
export const tailOf = (key: Sql | string): Sql => sql`lower(substr(${key}, length(${key}) - 3))`;

/**
 * How many characters a masked key shows: the last section of one of ours (`domain/license-key.ts`, of the symbols of
 * `domain/crockford.ts`), else the last four.
 */
export const shownLength = (key: Sql | string): Sql => sql`case
  when ${key} like '_____-_____-_____-_____-_____'
    and length(replace(${key}, '-', '')) = 25
    and ltrim(${key}, '-0123456789ABCDEFGHJKMNPQRSTVWXYZ') = ''
  then 5 else 4 end`;

/** A condition that finds a key by that index. */
export const isKey = (key: string, column = 'license_key'): Sql =>
  sql`${tailOf(raw(column))} = ${tailOf(key)} and ${raw(column)} = ${key}`;

// In the words of the partial indexes of the migrations, and without parameters in these: only so are they used.

/** Whether a key is neither blocked nor expired. */
export const isActive = (now: Instant) =>
  sql`licenses.vendor_disabled = 0 and (licenses.expires_at is null or licenses.expires_at > ${now})`;

/** Whether an active key has no devices. */
export const isUnused = (now: Instant) => sql`licenses.activations = 0 and ${isActive(now)}`;

/** Whether an active key has no slot left. */
export const isFull = (now: Instant) => sql`licenses.activations >= licenses.max_activations and ${isActive(now)}`;

/** Whether an active key ends in this span of time. */
export const isExpiring = (now: Instant, until: Instant) =>
  sql`licenses.vendor_disabled = 0 and licenses.expires_at > ${now} and licenses.expires_at <= ${until}`;

/** Whether a key that is not blocked has ended. */
export const isExpired = (now: Instant) => sql`licenses.vendor_disabled = 0 and licenses.expires_at <= ${now}`;

export const isBlocked: Sql = sql`licenses.vendor_disabled = 1`;

export const isTrial: Sql = sql`licenses.is_trial = 1`;

/** The customer of a licence. */
export type LicenseCustomer = Pick<Customer, 'id' | 'name' | 'email' | 'active'>;

/** A licence with its customer, if it has one, and whether a file was signed for it that is remembered. */
export interface LicenseWithCustomer {
  readonly license: License;
  readonly customer: LicenseCustomer | null;
  readonly hasFiles: boolean;
}

/** The licences that fit a condition on `l`, with their customers. */
export async function findWithCustomer(db: Connection, condition: Sql): Promise<LicenseWithCustomer | null> {
  const row = await db.first<Row>(sql`
    select l.*, c.name as customer_name, c.email as customer_email, c.active as customer_active,
      exists (select 1 from license_files as f where f.account_id = l.account_id and f.license_id = l.id) as has_files
    from licenses as l left join customers as c on c.account_id = l.account_id and c.id = l.customer_id
    where ${condition}`);
  if (row === undefined) return null;
  const { customer_id: id, customer_name: name, customer_email: email, customer_active: active } = row;
  const customer = id === null || name === null ? null : { id, name, email, active: active === 1 };
  // SQLite has numbers for this.
  return {
    license: licenses.read(row),
    customer: customer as LicenseCustomer | null,
    hasFiles: Boolean(row.has_files),
  };
}
