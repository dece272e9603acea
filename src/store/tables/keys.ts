import type { Customer } from '../../contract/customers.ts';
import type { AccountId, Instant, LicenseKey, ProductId } from '../../contract/scalars.ts';
import type { Features, License } from '../../domain/license.ts';
import type { Connection } from '../engine/driver.ts';
import { statement } from '../engine/statement.ts';
import { flag, insertInto, integer, json, optional, readerOf, type Table, text } from '../table.ts';

export const licenseColumns = {
  accountId: text<AccountId>()('account_id'),
  id: text()('id'),
  productId: text<ProductId>()('product_id'),
  key: text<LicenseKey>()('license_key'),
  customerId: optional(text()('customer_id')),
  maxActivations: optional(integer()('max_activations')),
  /** Always the number of rows in `devices`: both change in one transaction. */
  activations: integer()('activations'),
  expirationDate: optional(text<Instant>()('expires_at')),
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

const licenses: Table<typeof licenseColumns> = { name: 'licenses', columns: licenseColumns };
const insert = insertInto(licenses);
const toLicense: (row: Parameters<ReturnType<typeof readerOf<typeof licenseColumns>>>[0]) => License =
  readerOf(licenses);

/** The customer of a licence. */
export type LicenseCustomer = Pick<Customer, 'id' | 'name' | 'email' | 'active'>;

const find = statement<{ accountId: AccountId; productId: ProductId; key: LicenseKey }>()((db, $) =>
  db
    .selectFrom('licenses')
    .selectAll()
    .where('account_id', '=', $.accountId)
    .where('license_key', '=', $.key)
    .where('product_id', '=', $.productId),
);

const findById = statement<{ accountId: AccountId; id: string }>()((db, $) =>
  db.selectFrom('licenses').selectAll().where('account_id', '=', $.accountId).where('id', '=', $.id),
);

const findWithCustomer = statement<{ accountId: AccountId; productId: ProductId; key: LicenseKey }>()((db, $) =>
  db
    .selectFrom('licenses as l')
    .leftJoin('customers as c', (on) =>
      on.onRef('c.account_id', '=', 'l.account_id').onRef('c.id', '=', 'l.customer_id'),
    )
    .selectAll('l')
    .select(['c.name as customer_name', 'c.email as customer_email', 'c.active as customer_active'])
    .where('l.account_id', '=', $.accountId)
    .where('l.license_key', '=', $.key)
    .where('l.product_id', '=', $.productId),
);

const takeSlot = statement<{ accountId: AccountId; id: string; now: Instant }>()((db, $) =>
  db
    .updateTable('licenses')
    .set((l) => ({ activations: l('activations', '+', 1), updated_at: $.now }))
    .where('account_id', '=', $.accountId)
    .where('id', '=', $.id)
    .where((l) => l.or([l('max_activations', 'is', null), l('activations', '<', l.ref('max_activations'))])),
);

const freeSlots = statement<{ accountId: AccountId; id: string; count: number; now: Instant }>()((db, $) =>
  db
    .updateTable('licenses')
    .set((l) => ({ activations: l('activations', '-', $.count), updated_at: $.now }))
    .where('account_id', '=', $.accountId)
    .where('id', '=', $.id),
);

const lock = statement<{ accountId: AccountId; id: string }>()((db, $) =>
  db.selectFrom('licenses').select('id').where('account_id', '=', $.accountId).where('id', '=', $.id).forUpdate(),
);

/** The licences of accounts. */
export const keyRepository = (db: Connection) => ({
  async insert(license: License): Promise<void> {
    await db.run(insert, license);
  },

  /** The licence that product and key name together. */
  async find(accountId: AccountId, productId: ProductId, key: LicenseKey): Promise<License | null> {
    const row = await db.first(find, { accountId, productId, key });
    return row === undefined ? null : toLicense(row);
  },

  /** The licence of this id. */
  async findById(accountId: AccountId, id: string): Promise<License | null> {
    const row = await db.first(findById, { accountId, id });
    return row === undefined ? null : toLicense(row);
  },

  /** The licence that product and key name together, and its customer if it has one; in one statement. */
  async findWithCustomer(
    accountId: AccountId,
    productId: ProductId,
    key: LicenseKey,
  ): Promise<{ license: License; customer: LicenseCustomer | null } | null> {
    const row = await db.first(findWithCustomer, { accountId, productId, key });
    if (row === undefined) return null;
    const { customer_id: id, customer_name: name, customer_email: email, customer_active: active } = row;
    const customer = id === null || name === null ? null : { id, name, email, active: active === 1 };
    return { license: toLicense(row), customer };
  },

  /** Takes one activation slot; false when none is free. One statement, so no two callers get the last one. */
  async takeSlot(license: License, now: Instant): Promise<boolean> {
    return (await db.run(takeSlot, { accountId: license.accountId, id: license.id, now })) === 1;
  },

  /** Gives back `count` activation slots. */
  async freeSlots(license: License, count: number, now: Instant): Promise<void> {
    await db.run(freeSlots, { accountId: license.accountId, id: license.id, count, now });
  },

  /** Keeps all others from changing the licence until this transaction ends. */
  async lock(license: License): Promise<void> {
    await db.first(lock, { accountId: license.accountId, id: license.id });
  },
});
