import type { ProductId } from '../../src/contract/scalars.ts';
import type { TestDatabase } from './engines.ts';
import { accountId, insertLicense } from './store-fixture.ts';

/** Rows of each table that has a list. */
export const SIZE = 5_000;

export const products = [
  'prod_0000000000000000000001' as ProductId,
  'prod_0000000000000000000002' as ProductId,
] as const;

/** The id of a row by its number, of the form that ids have. */
export const idOf = (kind: string, at: number): string => `${kind}_${String(at).padStart(26, '0')}`;

const id = (kind: string, at = 'i') =>
  `'${kind}_' || substr('00000000000000000000000000' || ${at}, length('' || ${at}) + 1)`;
const instant = '2026-11-21T10:00:00.000Z';

/**
 * Fills a database with `SIZE` rows in each table that has a list, so that each filter finds many, and each pair of them
 * few or none: what is found by one is mostly looked at for the other.
 */
export async function fillLists({ store, query }: TestDatabase): Promise<void> {
  const license = await insertLicense(store, { productId: products[0] });
  await query(`insert into products (account_id, id, name, active, created_at, updated_at)
    select account_id, '${products[1]}', name, active, created_at, updated_at from products where id = '${products[0]}'`);
  await query(`with recursive ${numbers}
    insert into customers (account_id, id, name, email, email_key, active, created_at, updated_at)
    select '${accountId}', ${id('cus')}, 'Ada', i || '@example.com', i || '@example.com',
      i % 2, '${instant}', '${instant}' from n`);
  await copyLicense(query, license.id);
  await query(`insert into license_metadata (account_id, name, value, license_id)
    select account_id, 'plan', 'pro', id from licenses where id < '${idOf('lic', SIZE - 100)}'`);
  await query(`insert into license_metadata (account_id, name, value, license_id)
    select account_id, 'region', case when is_trial = 1 then 'eu' else 'us' end, id from licenses`);
  await query(`insert into license_words (account_id, license_id, host_id, words)
    select account_id, id, 'host', '  host  ' || id from licenses`);
  await query(`insert into customer_words (account_id, customer_id, words)
    select account_id, id, '  ada' || coalesce('  ' || replace(replace(email_key, '@', '  '), '.', '  '), '') from customers`);
  await query(`insert into sessions (account_id, license_id, id, secret, nonce, expires_at, created_at)
    select account_id, id, 'ses' || id, '', '', case when is_trial = 1 then '2025' else '2027' end, '${instant}' from licenses`);
  await query(`with recursive ${numbers} insert into events (account_id, seq, type, subject_id, content)
    select '${accountId}', i, case when i % 100 = 0 then 'license.created' else 'license.signed' end,
      'lic_' || (i % 2), '' from n`);
  await query(`insert into webhooks
    (account_id, id, url, reveal, ordered, active, secret, last_seq, created_at, updated_at)
    values ('${accountId}', '${idOf('wh', 1)}', '', 0, 0, 1, '', 0, '${instant}', '${instant}')`);
  await query(`with recursive ${numbers}
    insert into webhook_deliveries (account_id, webhook_id, seq, event_id, type, state, attempts, duration_ms, attempted_at)
    select '${accountId}', '${idOf('wh', 1)}', i, '' || i, 'ping',
      case when i % 100 = 0 then 'waiting' else 'delivered' end, 1, 1, '${instant}' from n`);
}

const numbers = `n(i) as (select 1 union all select i + 1 from n where i < ${SIZE})`;

const licenseValues: Readonly<Record<string, string>> = {
  id: id('lic'),
  product_id: `case when i % 3 = 0 then '${products[1]}' else '${products[0]}' end`,
  license_key: `'KEY-' || substr('00000000000000000000000000' || i, length('' || i) + 1)`,
  reference: `null`,
  customer_id: `case when i % 5 = 0 then '${idOf('cus', 1)}' when i % 5 = 1 then ${id('cus')} end`,
  max_activations: `1 + i % 3`,
  activations: `i % 4`,
  expires_at: `case when i % 4 = 0 then null else (2024 + i % 5) || '-' || (10 + i % 3) || '-0' || (1 + i % 7) || 'T00:00:00.000Z' end`,
  expired_recorded_for: `case when i % 4 = 0 or i % 3 = 0 then null else (2024 + i % 5) || '-' || (10 + i % 3) || '-0' || (1 + i % 7) || 'T00:00:00.000Z' end`,
  is_trial: `case when i % 7 = 0 then 1 else 0 end`,
  license_type: `case when i % 11 = 0 then 'floating' else 'node-locked' end`,
  vendor_disabled: `case when i % 13 = 0 then 1 else 0 end`,
  revoked_at: `case when i % 26 = 0 then '${instant}' end`,
  plan_id: `'plan_' || (i % 2)`,
};

/** Copies a licence many times, with these values, in SQL, in place of its own. */
async function copyLicense(query: TestDatabase['query'], like: string): Promise<void> {
  const [row] = await query(`select * from licenses where id = '${like}'`);
  const columns = Object.keys(row ?? {});
  await query(`with recursive ${numbers} insert into licenses (${columns.join()})
    select ${columns.map((column) => licenseValues[column] ?? `l.${column}`).join()}
    from n, licenses as l where l.id = '${like}'`);
}
