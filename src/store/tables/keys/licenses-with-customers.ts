import type { Kysely } from 'kysely';
import type { Customer } from '../../../contract/customers.ts';
import type { AccountId, LicenseKey, ProductId } from '../../../contract/scalars.ts';
import type { License } from '../../../domain/license.ts';
import { statement } from '../../engine/statement.ts';
import type { Tables } from '../../schema.ts';
import type { RowOf } from '../../table.ts';
import { isKey, type licenseColumns, toLicense } from './licenses.ts';

/** The customer of a licence. */
export type LicenseCustomer = Pick<Customer, 'id' | 'name' | 'email' | 'active'>;

/** A licence with its customer, if it has one, and whether a file was signed for it that is remembered. */
export interface LicenseWithCustomer {
  readonly license: License;
  readonly customer: LicenseCustomer | null;
  readonly hasFiles: boolean;
}

const selectWithCustomer = (db: Kysely<Tables>) =>
  db
    .selectFrom('licenses as l')
    .leftJoin('customers as c', (on) =>
      on.onRef('c.account_id', '=', 'l.account_id').onRef('c.id', '=', 'l.customer_id'),
    )
    .selectAll('l')
    .select(['c.name as customer_name', 'c.email as customer_email', 'c.active as customer_active'])
    .select(({ exists, selectFrom }) =>
      exists(
        selectFrom('license_files as f')
          .select('f.id')
          .whereRef('f.account_id', '=', 'l.account_id')
          .whereRef('f.license_id', '=', 'l.id'),
      ).as('has_files'),
    );

/** The licence that product and key name together. */
export const findWithCustomer = statement<{ accountId: AccountId; productId: ProductId; key: LicenseKey }>()((db, $) =>
  selectWithCustomer(db)
    .where('l.account_id', '=', $.accountId)
    .where(isKey($.key, 'l.license_key'))
    .where('l.product_id', '=', $.productId),
);

/** The licence that product and reference name together. */
export const findReferenceWithCustomer = statement<{ accountId: AccountId; productId: ProductId; reference: string }>()(
  (db, $) =>
    selectWithCustomer(db)
      .where('l.account_id', '=', $.accountId)
      .where('l.reference', '=', $.reference)
      .where('l.product_id', '=', $.productId),
);

type RowWithCustomer = RowOf<typeof licenseColumns> & {
  readonly customer_name: string | null;
  readonly customer_email: string | null;
  readonly customer_active: 0 | 1 | null;
  /** SQLite has numbers for this. */
  readonly has_files: unknown;
};

/** Reads a row of these statements. */
export function withCustomer(row: RowWithCustomer): LicenseWithCustomer {
  const { customer_id: id, customer_name: name, customer_email: email, customer_active: active } = row;
  const customer = id === null || name === null ? null : { id, name, email, active: active === 1 };
  return { license: toLicense(row), customer, hasFiles: Boolean(row.has_files) };
}
