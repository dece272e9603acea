import { describe, expect, it } from 'vitest';
import type { Instant, LicenseKey, ProductId } from '../../src/contract/scalars.ts';
import { openDatabase } from '../../src/store/database.ts';
import type { Connection, Database } from '../../src/store/engine/driver.ts';
import { raw, type Sql, sql } from '../../src/store/engine/sql.ts';
import { keyRepository } from '../../src/store/tables/keys/keys.ts';
import { type KeyFilters, keyListRepository } from '../../src/store/tables/keys/lists.ts';
import { engines } from '../support/engines.ts';
import { accountId, insertLicense } from '../support/store-fixture.ts';

const now = '2026-11-21T10:00:00.000Z' as Instant;
const later = '2026-12-21T10:00:00.000Z' as Instant;
const status = (...is: NonNullable<KeyFilters['status']>['is']) => ({ status: { is, now, until: later } });

const inListOrder = /licenses_pk|sqlite_autoindex_licenses_1/;

const products = ['prod_0000000000000000000003', 'prod_0000000000000000000005'];

/** By the ends of keys, or in the order of the list where the engine expects many of them. */
const byEnd = /licenses_by_end|licenses_with_end|licenses_pk|sqlite_autoindex_licenses_1/;

/** Keys that have ended, in the order of the list. */
const ended = /licenses_ended/;

/** Each filter alone, and some together, with the index that finds their first page. */
const filters: readonly [name: string, filter: Partial<KeyFilters>, index: RegExp][] = [
  ['nothing', {}, inListOrder],
  ['productId', { productIds: ['prod_0000000000000000000003'] }, /licenses_by_product/],
  ['productIds', { productIds: products }, /licenses_by_product|licenses_pk|sqlite_autoindex_licenses_1/],
  ['customerId', { customerId: 'cus_7' }, /licenses_by_customer/],
  ['status active', status('active'), inListOrder],
  ['status unused', status('unused'), /licenses_unused/],
  ['status full', status('full'), /licenses_full/],
  ['status expiring', status('expiring'), byEnd],
  ['status expired', status('expired'), ended],
  ['status blocked', status('blocked'), /licenses_blocked/],
  ['status revoked', status('revoked'), /licenses_revoked/],
  [
    'status unused, full, blocked',
    status('unused', 'full', 'blocked'),
    /licenses_unused.*licenses_full.*licenses_blocked/s,
  ],
  ['status revoked, expired', status('revoked', 'expired'), /licenses_revoked.*licenses_ended/s],
  ['planId', { planId: 'plan_7' }, /licenses_by_plan/],
  ['trial', { trial: true }, /licenses_trial/],
  ['no trial', { trial: false }, inListOrder],
  ['floating', { licenseTypes: ['floating'] }, /licenses_floating/],
  ['node-locked', { licenseTypes: ['node-locked'] }, inListOrder],
  ['createdAfter', { fromId: 'lic_00000000000000000000019000' }, inListOrder],
  ['createdBefore', { beforeId: 'lic_00000000000000000000001000' }, inListOrder],
  ['expiresAfter', { expiresFrom: now }, byEnd],
  ['expiresBefore', { expiresBefore: now }, ended],
  ['product, paid, expired', { productIds: products.slice(0, 1), trial: false, ...status('expired') }, ended],
  [
    'text',
    { text: { text: 'engines', key: 'engines', anyKeyEnd: false, customers: true } },
    /license_words_index|SCAN i VIRTUAL TABLE INDEX 0:L0/,
  ],
  ['metadata', { metadata: [['plan', 'pro']] }, /license_metadata_pk|USING PRIMARY KEY/],
];

/** A scan of a whole table, as each engine calls it; SQLite also scans what a query has found. There are few customers and products. */
const fullScan =
  /Seq Scan on (?!customer_words|customers|products)|SCAN (licenses|license_words|customer_words|license_metadata|t|w|l)\b(?! USING)/;

describe.each(engines)('the plan of a list of keys on $name', (engine) => {
  it('finds the first page, and the next, by an index, whatever the filter', async () => {
    await using database = await engine.createDatabase();
    const license = await insertLicense(database.store);
    await fill(database.query, license.id);
    await database.store.close();
    const opened = await openDatabase(database.location);
    try {
      // What the server does by itself, after a while.
      if (opened.engine === 'PostgreSQL') await database.query('vacuum analyze');
      for (const [name, filter, index] of filters) {
        for (const after of [undefined, 'lic_00000000000000000000015000']) {
          const plan = await planOf(opened, { productIds: null, ...filter }, after);
          expect(plan, `${name}\n${plan}`).toMatch(index);
          expect(plan, `${name}\n${plan}`).not.toMatch(fullScan);
        }
      }
      // PostgreSQL may find it cheaper to look at all keys once.
      if (opened.engine === 'SQLite') {
        for (const [at, [name, filter]] of filters.entries()) {
          for (const [other, more] of filters.slice(at + 1)) {
            const plan = await planOf(opened, { productIds: null, ...filter, ...more }, undefined);
            expect(plan, `${name} + ${other}\n${plan}`).not.toMatch(fullScan);
          }
        }
      }
      // A whole key has one index on both engines, and with it the end of one.
      const wholeKey = /licenses_key\b.*\blicense_key ?=/s;
      const key = license.key;
      expect(await planOfKey(opened, license.productId, key)).toMatch(wholeKey);
      const found = await planOf(
        opened,
        { productIds: null, text: { text: key, key, anyKeyEnd: false, customers: true } },
        undefined,
      );
      expect(found).toMatch(wholeKey);
      expect(found.match(/licenses_key\b/g)?.length).toBeGreaterThanOrEqual(2);
      expect(found).toMatch(/previous_keys_by_end/);
    } finally {
      await opened.close();
    }
  });
});

/** Twenty thousand keys as a shop has them: few are blocked, floating or trials, half have ended. */
async function fill(query: (sql: string) => Promise<unknown>, like: string): Promise<void> {
  for (let product = 2; product <= 9; product += 1) {
    await query(
      `insert into products (account_id, id, name, active, created_at, updated_at)
       select account_id, 'prod_000000000000000000000${product}', name, active, created_at, updated_at
       from products where id = 'prod_0000000000000000000001'`,
    );
  }
  await query(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < 500)
     insert into customers (account_id, id, name, email, email_key, active, created_at, updated_at)
     select '${accountId}', 'cus_' || i, 'Ada', null, null, 1, '${now}', '${now}' from n`,
  );
  const columns = await columnsOf(query, like);
  const values: Record<string, string> = {
    id: `'lic_' || substr('00000000000000000000000000' || i, length('' || i) + 1)`,
    product_id: `'prod_000000000000000000000' || (1 + i % 9)`,
    license_key: `'KEY-' || substr('00000000000000000000000000' || i, length('' || i) + 1)`,
    customer_id: `case when i % 3 = 0 then 'cus_' || (1 + i % 500) end`,
    max_activations: `1 + i % 9`,
    activations: `case when i % 50 = 0 then 1 + i % 9 when i % 40 = 0 then 0 else 1 end`,
    expires_at: `case when i < 10000 then '2026-0' || (1 + i % 9) || '-01T00:00:00.000Z' else '2027-0' || (1 + i % 9) || '-01T00:00:00.000Z' end`,
    expired_recorded_for: `case when i < 10000 then '2026-0' || (1 + i % 9) || '-01T00:00:00.000Z' end`,
    is_trial: `case when i % 50 = 0 then 1 else 0 end`,
    license_type: `case when i % 50 = 0 then 'floating' else 'node-locked' end`,
    vendor_disabled: `case when i % 100 = 0 then 1 else 0 end`,
    revoked_at: `case when i % 200 = 0 then '${now}' end`,
    plan_id: `case when i % 5 = 0 then 'plan_' || (i % 70) end`,
  };
  await query(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
     insert into licenses (${columns.join()})
     select ${columns.map((column) => values[column] ?? `l.${column}`).join()} from n, licenses as l where l.id = '${like}'`,
  );
  await query(
    `insert into previous_keys (account_id, license_key, license_id, valid_until)
     select account_id, 'OLD-' || license_key, id, '${now}' from licenses`,
  );
  await query(
    `insert into license_metadata (account_id, name, value, license_id)
     select account_id, 'plan', case when license_type = 'floating' then 'pro' else 'free' end, id from licenses`,
  );
  await query(
    `insert into customer_words (account_id, customer_id, words) select account_id, id, '  ' || id from customers`,
  );
  await query(
    `insert into license_words (account_id, license_id, host_id, words)
     select account_id, id, 'host', '  host  ' || id from licenses`,
  );
}

/** The columns of licences that every row has, whatever is added to them. */
async function columnsOf(query: (sql: string) => Promise<unknown>, like: string): Promise<string[]> {
  const [row] = (await query(`select * from licenses where id = '${like}'`)) as Record<string, unknown>[];
  return Object.keys(row ?? {}).filter((column) => column !== 'reference');
}

/** What the engine says it will do for a page of the list. */
async function planOf(opened: Database, filters: KeyFilters, after: string | undefined): Promise<string> {
  const { connection, plans } = explainer(opened);
  await keyListRepository(connection).page(accountId, filters, { after, limit: 100 });
  return plans.join('\n');
}

/** What the engine says it will do to find a key. */
async function planOfKey(opened: Database, productId: ProductId, key: LicenseKey) {
  const { connection, plans } = explainer(opened);
  await keyRepository(connection).find(accountId, productId, key);
  return plans.join('\n');
}

/** A connection that has statements explained before it sends them. */
function explainer({ engine, connection: explaining }: Database) {
  const plans: string[] = [];
  async function explain(statement: Sql): Promise<void> {
    const command = raw(engine === 'SQLite' ? 'explain query plan' : 'explain');
    const rows = await explaining.all<Record<string, unknown>>(sql`${command} ${statement}`);
    plans.push(rows.map((row) => row.detail ?? row['QUERY PLAN']).join('\n'));
  }
  const connection: Pick<Connection, 'all' | 'first'> = {
    all: (statement, read) => explain(statement).then(() => explaining.all(statement, read)),
    first: (statement, read) => explain(statement).then(() => explaining.first(statement, read)),
  };
  return { connection: connection as Connection, plans };
}
