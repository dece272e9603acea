import type { Dialect } from './dialect.ts';
import { namedRows } from './named-rows.ts';

/** All tables. Columns are text or integer. Keys begin with the account, except in tables of the whole database. */
export const schema = (dialect: Dialect): readonly string[] => [
  `create table accounts (
    id text primary key, name text not null, created_at text not null
  )`,
  // Replicas that start at once on an empty database must agree on one account.
  `create unique index accounts_by_name on accounts (name)`,
  `create table data_keys (
    slot text primary key, id text not null, sealed text not null
  )`,
  `create table signing_keys (
    account_id text not null references accounts (id), kid text not null, private_pem text not null,
    public_pem text not null, created_at text not null,
    constraint signing_keys_pk primary key (account_id, kid)
  )`,
  `create table tokens (
    account_id text not null references accounts (id), id text not null, hash text not null unique,
    name text not null, kind text not null, scopes text not null, product_ids text, max_issues integer,
    issued integer not null, expires_at text, revoked_at text, created_at text not null, networks text,
    rate_limit integer, last_used_on text, budget_of text,
    constraint tokens_pk primary key (account_id, id)
  )`,
  // How much of each rate limit is used up, for replicas that share a database. A crash may lose it, so it is not logged.
  `create ${dialect.unlogged} table rates (
    name text primary key, empty_at bigint not null
  )`,
  `create index rates_by_end on rates (empty_at)`,
  `create table products (
    account_id text not null references accounts (id), id text not null, name text not null,
    active integer not null, created_at text not null, updated_at text not null, slug text,
    constraint products_pk primary key (account_id, id)
  )`,
  `create unique index products_slug on products (account_id, slug) where slug is not null`,
  `create table customer_links (
    account_id text not null, customer_id text not null, hash text not null, expires_at text not null,
    constraint customer_links_pk primary key (account_id, customer_id, hash)
  )`,
  `create unique index customer_links_hash on customer_links (hash)`,
  `create table product_versions (
    account_id text not null, id text not null, product_id text not null, version text not null,
    description text, active integer not null, created_at text not null,
    constraint product_versions_pk primary key (account_id, id),
    constraint product_versions_name unique (account_id, product_id, version),
    constraint product_versions_product foreign key (account_id, product_id) references products (account_id, id)
  )`,
  `create table plans (
    account_id text not null, id text not null, product_id text not null, name text not null,
    active integer not null, terms text not null, features text not null, created_at text not null,
    updated_at text not null,
    constraint plans_pk primary key (account_id, id),
    constraint plans_name unique (account_id, product_id, name),
    constraint plans_product foreign key (account_id, product_id) references products (account_id, id)
  )`,
  `create table customers (
    account_id text not null references accounts (id), id text not null, name text not null, email text,
    email_key text, active integer not null, created_at text not null, updated_at text not null,
    constraint customers_pk primary key (account_id, id),
    constraint customers_email unique (account_id, email_key)
  )`,
  `create table licenses (
    account_id text not null, id text not null, product_id text not null, license_key text not null,
    customer_id text, max_activations integer, activations integer not null, expires_at text,
    features text not null, is_trial integer not null, allowed_hosts text, license_type text not null,
    max_sessions integer, heartbeat_seconds integer not null, lease_seconds integer not null,
    customer_can_self_reset integer not null, vendor_disabled integer not null, version_id text,
    created_at text not null, updated_at text not null, metadata text default '{}' not null,
    soon_recorded_for text, expired_recorded_for text, reference text, expires_after text, grace_period text,
    revoked_at text, revocation_reason text, plan_id text, previous_key_until text, fingerprint_match integer,
    issued_by text, renewal_day integer,
    slot_year integer default 0 not null, promised_slots integer default 0 not null, moves integer default 0 not null,
    last_seen_on text,
    constraint licenses_pk primary key (account_id, id),
    constraint licenses_product foreign key (account_id, product_id) references products (account_id, id),
    constraint licenses_customer foreign key (account_id, customer_id) references customers (account_id, id)
  )`,
  // Finds keys by their last four characters and keeps whole keys unique. A second index would cost a page write for each new
  // key, since keys are random.
  `create unique index licenses_key on licenses
    (account_id, lower(substr(license_key, length(license_key) - 3)), license_key)`,
  // The licences with an event of their expiry still to be recorded: first the licences without an announcement, then the
  // announced licences.
  `create index licenses_to_record on licenses
    (account_id, (case when soon_recorded_for is distinct from expires_at then 0 else 1 end), expires_at, id)
    where expires_at is not null and expired_recorded_for is distinct from expires_at`,
  `create unique index licenses_reference on licenses (account_id, reference) where reference is not null`,
  // The indexes for lists of keys: first the columns of the filter, then the id for the order, then the columns for
  // counting. SQLite uses a partial index only if the statement repeats its condition word for word, and prefers the primary
  // key unless the compared expression comes before the id. Decision 0052.
  `create index licenses_by_customer on licenses (account_id, customer_id, id) where customer_id is not null`,
  `create index licenses_by_product on licenses (account_id, product_id, id)`,
  `create index licenses_by_end on licenses
    (account_id, expires_at, id, vendor_disabled, product_id) where expires_at is not null`,
  // Licences that expire, in the order of the list.
  `create index licenses_with_end on licenses
    (account_id, id, expires_at, vendor_disabled) where expires_at is not null`,
  // Licences whose expiry was recorded. The list shows new keys first, so it would read all valid keys before the expired
  // keys. Creating a key writes nothing to this index.
  `create index licenses_ended on licenses
    (account_id, (case when expired_recorded_for = expires_at then 1 end), id, expires_at, vendor_disabled, product_id)
    where expired_recorded_for = expires_at`,
  `create index licenses_ended_by_product on licenses
    (account_id, product_id, (case when expired_recorded_for = expires_at then 1 end), id, expires_at, vendor_disabled)
    where expired_recorded_for = expires_at`,
  `create index licenses_blocked on licenses (account_id, vendor_disabled, id) where vendor_disabled = 1`,
  `create index licenses_unused on licenses
    (account_id, activations, id, vendor_disabled, expires_at) where activations = 0`,
  `create index licenses_full on licenses
    (account_id, (case when activations >= max_activations then 1 end), id, vendor_disabled, expires_at)
    where activations >= max_activations`,
  `create index licenses_trial on licenses (account_id, is_trial, id) where is_trial = 1`,
  `create index licenses_floating on licenses (account_id, license_type, id) where license_type = 'floating'`,
  `create index licenses_by_fill on licenses
    (account_id, (activations * 100 / max_activations), id) where max_activations > 1 and activations > 0`,
  `create index licenses_revoked on licenses
    (account_id, (case when revoked_at is not null then 1 end), id) where revoked_at is not null`,
  `create index licenses_by_plan on licenses (account_id, plan_id, id) where plan_id is not null`,
  // No reference to the licence: the keys of a revoked licence stay when it is deleted.
  `create table previous_keys (
    account_id text not null references accounts (id), license_key text not null, license_id text not null,
    valid_until text not null,
    constraint previous_keys_pk primary key (account_id, license_key)
  ) ${dialect.clustered}`,
  `create index previous_keys_by_license on previous_keys (account_id, license_id)`,
  // Finds an earlier key by its end, as the index of keys does. SQLite takes it only with the licence in it.
  `create index previous_keys_by_end on previous_keys
    (account_id, lower(substr(license_key, length(license_key) - 3)), license_id)`,
  // No reference to the licence: a device gets no second trial when the licence is deleted.
  `create table trials (
    account_id text not null, product_id text not null, host_id text not null, license_id text not null,
    license_key text not null, created_at text not null,
    constraint trials_pk primary key (account_id, product_id, host_id),
    constraint trials_product foreign key (account_id, product_id) references products (account_id, id)
  ) ${dialect.clustered}`,
  `create table license_metadata (
    account_id text not null references accounts (id), name text not null, value text not null,
    license_id text not null,
    constraint license_metadata_pk primary key (account_id, name, value, license_id)
  ) ${dialect.clustered}`,
  // The words by which customers, licences and devices are found. Decision 0052.
  `create table customer_words (
    ${dialect.rowNumber} account_id text not null, customer_id text not null, words text not null,
    constraint customer_words_of unique (account_id, customer_id)
  )`,
  ...dialect.indexWords('customer_words', 'customer_search', 'account_id, customer_id'),
  `create table license_words (
    ${dialect.rowNumber} account_id text not null, license_id text not null, host_id text not null, words text not null,
    constraint license_words_of unique (account_id, license_id, host_id)
  )`,
  ...dialect.indexWords('license_words', 'license_search', 'account_id, license_id, host_id'),
  `create table devices (
    account_id text not null, license_id text not null, host_id text not null, id text not null, tag text,
    ip_address text not null, created_at text not null, fingerprint text, public_key text,
    last_seen_on text,
    constraint devices_pk primary key (account_id, license_id, host_id),
    constraint devices_license foreign key (account_id, license_id) references licenses (account_id, id)
  )`,
  `create unique index devices_by_id on devices (account_id, id)`,
  `create index devices_by_time on devices (account_id, created_at)`,
  `create table sessions (
    account_id text not null, license_id text not null, id text not null, host_id text, tag text,
    user_identifier text, secret text not null, nonce text not null, expires_at text not null,
    created_at text not null, previous_nonce text,
    constraint sessions_pk primary key (account_id, license_id, id),
    constraint sessions_license foreign key (account_id, license_id) references licenses (account_id, id)
  )`,
  `create unique index sessions_by_id on sessions (account_id, id)`,
  `create index sessions_by_end on sessions (expires_at)`,
  // Slots that are promised to the devices that left them, in the `slot_year` of the licence only.
  `create table slot_promises (
    account_id text not null, license_id text not null, host_id text not null, calendar_year integer not null,
    promised_at text not null, fingerprint text,
    constraint slot_promises_pk primary key (account_id, license_id, host_id),
    constraint slot_promises_license foreign key (account_id, license_id) references licenses (account_id, id) on delete cascade
  )`,
  `create index slot_promises_by_age on slot_promises (account_id, license_id, calendar_year, promised_at, host_id)`,
  // No reference to the licence: its files stay when it is deleted.
  `create table license_files (
    account_id text not null references accounts (id), id text not null, license_id text not null,
    host_id text not null, kid text not null, signed_at text not null, ends_at text not null, revoked_at text,
    constraint license_files_pk primary key (account_id, id)
  ) ${dialect.clustered}`,
  `create index license_files_by_license on license_files (account_id, license_id, ends_at)`,
  `create index license_files_by_end on license_files (ends_at)`,
  // The revocation list is public: reading it must cost no more than the rows it has.
  `create index license_files_revoked on license_files (account_id, id) where revoked_at is not null`,
  `create table revocation_lists (
    account_id text primary key references accounts (id), seq integer not null, changed_at text not null
  )`,
  `create table idempotency (
    account_id text not null references accounts (id), key_hash text not null,
    fingerprint_version integer not null, fingerprint text not null, state text not null, method text not null,
    path text not null, token_id text, sealed_response text, created_at text not null,
    constraint idempotency_by_hash primary key (account_id, key_hash)
  )`,
  `create index idempotency_by_age on idempotency (created_at)`,
  `create table outbox (
    account_id text not null references accounts (id), id text not null, created_at text not null,
    entry text not null,
    constraint outbox_pk primary key (account_id, id)
  ) ${dialect.clustered}`,
  `create table audit (
    account_id text not null references accounts (id), seq integer not null, operation text not null,
    content text not null, hash text not null,
    constraint audit_by_seq primary key (account_id, seq)
  )`,
  `create table events (
    account_id text not null references accounts (id), seq integer not null, type text not null,
    subject_id text not null, content text not null,
    constraint events_by_seq primary key (account_id, seq)
  )`,
  `create index events_by_subject on events (account_id, subject_id, seq)`,
  namedRows(dialect, 'named_audit', 'audit', { data: 'details', resourceId: `-> 'resource' ->> 'id'` }),
  namedRows(dialect, 'named_events', 'events', { data: 'data', resourceId: `->> 'resource_id'` }),
  `create table record_heads (
    account_id text primary key references accounts (id), audit_seq integer not null, audit_hash text not null,
    event_seq integer not null, checkpoint_seq integer not null, checkpoint_at text
  )`,
  `create table checkpoints (
    account_id text not null references accounts (id), seq integer not null, hash text not null,
    created_at text not null, kid text not null, signature text not null,
    constraint checkpoints_pk primary key (account_id, seq)
  )`,
  `create table webhooks (
    account_id text not null references accounts (id), id text not null, url text not null, types text,
    description text, reveal integer not null, ordered integer not null, active integer not null,
    secret text not null, previous_secret text, previous_secret_until text,
    last_seq integer not null, retry_at text, paused_until text, lease text, lease_until text, served_at text,
    failing_since text, last_error text, disabled_at text, disabled_reason text, created_at text not null,
    updated_at text not null, signatures text default '["standard"]' not null,
    constraint webhooks_pk primary key (account_id, id)
  )`,
  `create index webhooks_active on webhooks (account_id, id) where active = 1`,
  `create table webhook_deliveries (
    account_id text not null, webhook_id text not null, seq integer not null, event_id text not null,
    type text not null, state text not null, attempts integer not null, status integer, error text, answer text,
    duration_ms integer not null, attempted_at text not null, next_attempt_at text,
    constraint webhook_deliveries_pk primary key (account_id, webhook_id, seq),
    constraint webhook_deliveries_webhook foreign key (account_id, webhook_id) references webhooks (account_id, id) on delete cascade
  )`,
  // Most rows belong to delivered events, which only the cleanup reads, by age.
  `create index webhook_deliveries_open on webhook_deliveries
    (account_id, webhook_id, seq) where state = 'waiting'`,
  `create index webhook_deliveries_due on webhook_deliveries
    (account_id, webhook_id, next_attempt_at, seq) where state = 'waiting'`,
  `create index webhook_deliveries_by_age on webhook_deliveries (attempted_at)`,
];
