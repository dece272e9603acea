import type { Connection, Engine } from '../engine/driver.ts';
import { raw } from '../engine/sql.ts';

/** Plans, trials, revoked and reissued keys, slugs, fingerprints, keys of devices, forms of signatures. */
export async function up(db: Connection, engine: Engine): Promise<void> {
  const clustered = engine === 'SQLite' ? 'without rowid' : '';
  for (const statement of [...columns, ...tables(clustered)]) await db.run(raw(statement));
}

const columns = [
  `alter table licenses add column revoked_at text`,
  `alter table licenses add column revocation_reason text`,
  `alter table licenses add column plan_id text`,
  `alter table licenses add column previous_key_until text`,
  `alter table licenses add column fingerprint_match integer`,
  `alter table devices add column fingerprint text`,
  `alter table devices add column public_key text`,
  `alter table products add column slug text`,
  `alter table webhooks add column signatures text default '["standard"]' not null`,
];

const tables = (clustered: string) => [
  `create index licenses_revoked on licenses
    (account_id, (case when revoked_at is not null then 1 end), id) where revoked_at is not null`,
  `create index licenses_by_plan on licenses (account_id, plan_id, id) where plan_id is not null`,
  `create unique index products_slug on products (account_id, slug) where slug is not null`,
  // A key that a licence had before is given to no other one while that licence is there.
  `create table previous_keys (
    account_id text not null, license_key text not null, license_id text not null, valid_until text not null,
    constraint previous_keys_pk primary key (account_id, license_key),
    constraint previous_keys_license foreign key (account_id, license_id) references licenses (account_id, id)
      on delete cascade
  ) ${clustered}`,
  `create index previous_keys_by_license on previous_keys (account_id, license_id)`,
  `create table plans (
    account_id text not null, id text not null, product_id text not null, name text not null,
    active integer not null, terms text not null, features text not null, created_at text not null,
    updated_at text not null,
    constraint plans_pk primary key (account_id, id),
    constraint plans_name unique (account_id, product_id, name),
    constraint plans_product foreign key (account_id, product_id) references products (account_id, id)
  )`,
  // No reference to the licence: a device has had its trial, also when that is deleted.
  `create table trials (
    account_id text not null, product_id text not null, host_id text not null, license_id text not null,
    created_at text not null,
    constraint trials_pk primary key (account_id, product_id, host_id),
    constraint trials_product foreign key (account_id, product_id) references products (account_id, id)
  ) ${clustered}`,
];
