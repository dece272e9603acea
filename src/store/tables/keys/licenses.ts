import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Duration } from '../../../contract/fields.ts';
import type { AccountId, Instant, LicenseKey, ProductId } from '../../../contract/scalars.ts';
import type { Features, License } from '../../../domain/license.ts';
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
