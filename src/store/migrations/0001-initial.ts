import { type Kysely, sql } from 'kysely';

/** Accounts, tokens, signing keys, products, customers, licences, devices and sessions. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('accounts')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .execute();

  await db.schema
    .createTable('tokens')
    .addColumn('account_id', 'text', (c) => c.notNull().references('accounts.id'))
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('hash', 'text', (c) => c.notNull().unique())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('scopes', 'text', (c) => c.notNull())
    .addColumn('product_ids', 'text')
    .addColumn('max_issues', 'integer')
    .addColumn('issued', 'integer', (c) => c.notNull())
    .addColumn('expires_at', 'text')
    .addColumn('revoked_at', 'text')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('tokens_pk', ['account_id', 'id'])
    .execute();

  await db.schema
    .createTable('signing_keys')
    .addColumn('account_id', 'text', (c) => c.notNull().references('accounts.id'))
    .addColumn('kid', 'text', (c) => c.notNull())
    .addColumn('private_pem', 'text', (c) => c.notNull())
    .addColumn('public_pem', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('signing_keys_pk', ['account_id', 'kid'])
    .execute();

  await db.schema
    .createTable('products')
    .addColumn('account_id', 'text', (c) => c.notNull().references('accounts.id'))
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('active', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('updated_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('products_pk', ['account_id', 'id'])
    .execute();

  await db.schema
    .createTable('customers')
    .addColumn('account_id', 'text', (c) => c.notNull().references('accounts.id'))
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('email', 'text')
    .addColumn('email_key', 'text')
    .addColumn('active', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('updated_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('customers_pk', ['account_id', 'id'])
    .addUniqueConstraint('customers_email', ['account_id', 'email_key'])
    .execute();

  await db.schema
    .createTable('licenses')
    .addColumn('account_id', 'text', (c) => c.notNull())
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('product_id', 'text', (c) => c.notNull())
    .addColumn('license_key', 'text', (c) => c.notNull())
    .addColumn('customer_id', 'text')
    .addColumn('max_activations', 'integer')
    .addColumn('activations', 'integer', (c) => c.notNull())
    .addColumn('expires_at', 'text')
    .addColumn('features', 'text', (c) => c.notNull())
    .addColumn('is_trial', 'integer', (c) => c.notNull())
    .addColumn('allowed_hosts', 'text')
    .addColumn('license_type', 'text', (c) => c.notNull())
    .addColumn('max_sessions', 'integer')
    .addColumn('heartbeat_seconds', 'integer', (c) => c.notNull())
    .addColumn('lease_seconds', 'integer', (c) => c.notNull())
    .addColumn('customer_can_self_reset', 'integer', (c) => c.notNull())
    .addColumn('vendor_disabled', 'integer', (c) => c.notNull())
    .addColumn('version_id', 'text')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('updated_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('licenses_pk', ['account_id', 'id'])
    .addForeignKeyConstraint('licenses_product', ['account_id', 'product_id'], 'products', ['account_id', 'id'])
    .addForeignKeyConstraint('licenses_customer', ['account_id', 'customer_id'], 'customers', ['account_id', 'id'])
    .execute();

  // One index says that a key is there once, and finds it by its end: keys are random, so that each entry of an index of
  // them has a page of its own to be written.
  await sql`
    create unique index licenses_key on licenses
      (account_id, lower(substr(license_key, length(license_key) - 3)), license_key)
  `.execute(db);

  await db.schema.createIndex('licenses_by_customer').on('licenses').columns(['account_id', 'customer_id']).execute();

  await db.schema
    .createTable('devices')
    .addColumn('account_id', 'text', (c) => c.notNull())
    .addColumn('license_id', 'text', (c) => c.notNull())
    .addColumn('host_id', 'text', (c) => c.notNull())
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('tag', 'text')
    .addColumn('ip_address', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('devices_pk', ['account_id', 'license_id', 'host_id'])
    .addForeignKeyConstraint('devices_license', ['account_id', 'license_id'], 'licenses', ['account_id', 'id'])
    .execute();

  await db.schema
    .createTable('sessions')
    .addColumn('account_id', 'text', (c) => c.notNull())
    .addColumn('license_id', 'text', (c) => c.notNull())
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('host_id', 'text')
    .addColumn('tag', 'text')
    .addColumn('user_identifier', 'text')
    .addColumn('secret', 'text', (c) => c.notNull())
    .addColumn('nonce', 'text', (c) => c.notNull())
    .addColumn('expires_at', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('sessions_pk', ['account_id', 'license_id', 'id'])
    .addForeignKeyConstraint('sessions_license', ['account_id', 'license_id'], 'licenses', ['account_id', 'id'])
    .execute();
}
