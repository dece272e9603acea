import type { AccountId, Instant, LicenseKey, ProductId } from '../../contract/scalars.ts';
import type { License } from '../../domain/license.ts';
import type { Connection } from '../engine/driver.ts';
import { type SqlValue, statement } from '../engine/statement.ts';
import type { LicenseRow } from '../schema.ts';

const insert = statement<LicenseRow>()((db, $) =>
  db.insertInto('licenses').values({
    account_id: $.account_id,
    id: $.id,
    product_id: $.product_id,
    license_key: $.license_key,
    customer_id: $.customer_id,
    max_activations: $.max_activations,
    activations: $.activations,
    expires_at: $.expires_at,
    features: $.features,
    metadata: $.metadata,
    is_trial: $.is_trial,
    allowed_hosts: $.allowed_hosts,
    license_type: $.license_type,
    max_sessions: $.max_sessions,
    heartbeat_seconds: $.heartbeat_seconds,
    lease_seconds: $.lease_seconds,
    customer_can_self_reset: $.customer_can_self_reset,
    vendor_disabled: $.vendor_disabled,
    version_id: $.version_id,
    created_at: $.created_at,
    updated_at: $.updated_at,
  }),
);

const find = statement<{ accountId: string; productId: string; key: string }>()((db, $) =>
  db
    .selectFrom('licenses')
    .selectAll()
    .where('account_id', '=', $.accountId)
    .where('license_key', '=', $.key)
    .where('product_id', '=', $.productId),
);

const takeSlot = statement<{ accountId: string; id: string; now: string }>()((db, $) =>
  db
    .updateTable('licenses')
    .set((l) => ({ activations: l('activations', '+', 1), updated_at: $.now }))
    .where('account_id', '=', $.accountId)
    .where('id', '=', $.id)
    .where((l) => l.or([l('max_activations', 'is', null), l('activations', '<', l.ref('max_activations'))])),
);

const freeSlots = statement<{ accountId: string; id: string; count: number; now: string }>()((db, $) =>
  db
    .updateTable('licenses')
    .set((l) => ({ activations: l('activations', '-', $.count), updated_at: $.now }))
    .where('account_id', '=', $.accountId)
    .where('id', '=', $.id),
);

const lock = statement<{ accountId: string; id: string }>()((db, $) =>
  db.selectFrom('licenses').select('id').where('account_id', '=', $.accountId).where('id', '=', $.id).forUpdate(),
);

/** The licences of accounts. */
export const keyRepository = (db: Connection) => ({
  async insert(license: License): Promise<void> {
    await db.run(insert, toRow(license));
  },

  /** The licence that product and key name together. */
  async find(accountId: AccountId, productId: ProductId, key: LicenseKey): Promise<License | null> {
    const row = await db.first(find, { accountId, productId, key });
    return row === undefined ? null : toLicense(row);
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

const flag = (value: boolean): 0 | 1 => (value ? 1 : 0);

const toRow = (license: License): LicenseRow & Record<string, SqlValue> => ({
  account_id: license.accountId,
  id: license.id,
  product_id: license.productId,
  license_key: license.key,
  customer_id: license.customerId,
  max_activations: license.maxActivations,
  activations: license.activations,
  expires_at: license.expirationDate,
  features: JSON.stringify(license.features),
  metadata: JSON.stringify(license.metadata),
  is_trial: flag(license.isTrial),
  allowed_hosts: license.allowedHosts && JSON.stringify(license.allowedHosts),
  license_type: license.licenseType,
  max_sessions: license.maxConcurrentSessions,
  heartbeat_seconds: license.heartbeatInterval,
  lease_seconds: license.sessionLeaseDuration,
  customer_can_self_reset: flag(license.customerCanSelfReset),
  vendor_disabled: flag(license.vendorDisabled),
  version_id: license.versionId,
  created_at: license.createdAt,
  updated_at: license.updatedAt,
});

const toLicense = (row: LicenseRow): License => ({
  accountId: row.account_id as AccountId,
  id: row.id,
  productId: row.product_id as ProductId,
  key: row.license_key as LicenseKey,
  customerId: row.customer_id,
  maxActivations: row.max_activations,
  activations: row.activations,
  expirationDate: row.expires_at as Instant | null,
  features: JSON.parse(row.features) as License['features'],
  metadata: JSON.parse(row.metadata) as License['metadata'],
  isTrial: row.is_trial === 1,
  allowedHosts: row.allowed_hosts === null ? null : (JSON.parse(row.allowed_hosts) as string[]),
  licenseType: row.license_type as License['licenseType'],
  maxConcurrentSessions: row.max_sessions,
  heartbeatInterval: row.heartbeat_seconds,
  sessionLeaseDuration: row.lease_seconds,
  customerCanSelfReset: row.customer_can_self_reset === 1,
  vendorDisabled: row.vendor_disabled === 1,
  versionId: row.version_id,
  createdAt: row.created_at as Instant,
  updatedAt: row.updated_at as Instant,
});
