import { type Kysely, sql } from 'kysely';
import type { AccountId, Instant, LicenseKey, ProductId } from '../../../contract/scalars.ts';
import type { License } from '../../../domain/license.ts';
import type { LicenseChanges } from '../../../domain/license-changes.ts';
import type { Connection } from '../../engine/driver.ts';
import { statement } from '../../engine/statement.ts';
import type { Tables } from '../../schema.ts';
import { phrasesOf } from '../../search.ts';
import { byKey, insertInto, latestOf, readerOf, type Table, text } from '../../table.ts';
import {
  findReferenceWithCustomer,
  findWithCustomer,
  isKey,
  type LicenseWithCustomer,
  licenses,
  toLicense,
  withCustomer,
} from './licenses.ts';
import { addPhrases, removePhrases } from './search-phrases.ts';

export const licenseMetadataColumns = {
  accountId: text<AccountId>()('account_id'),
  name: text()('name'),
  /** As text: `true` and the text `true` are found by the same search. */
  value: text()('value'),
  licenseId: text()('license_id'),
};

const entries: Table<typeof licenseMetadataColumns> = { name: 'license_metadata', columns: licenseMetadataColumns };
const insertEntry = insertInto(entries, { skipConflictsOn: 'any' });
const byEntry = byKey(entries, ['accountId', 'name', 'value', 'licenseId'], readerOf(entries));

const insert = insertInto(licenses);
const insertUnlessTaken = insertInto(licenses, {
  skipConflictsOn: { columns: ['account_id', 'reference'], whereNotNull: 'reference' },
});
const insertUnlessThere = insertInto(licenses, { skipConflictsOn: 'any' });
const byId = byKey(licenses, ['accountId', 'id'], toLicense);
const byReference = byKey(licenses, ['accountId', 'reference'], toLicense);

interface Named {
  readonly accountId: AccountId;
  readonly productId: ProductId;
  readonly key: LicenseKey;
}

const named = (db: Kysely<Tables>, $: Named) =>
  db
    .selectFrom('licenses')
    .selectAll()
    .where('account_id', '=', $.accountId)
    .where(isKey($.key))
    .where('product_id', '=', $.productId);

const find = statement<Named>()(named);

const findLocked = statement<Named>()((db, $) => named(db, $).forUpdate());

const productOfKey = statement<{ accountId: AccountId; key: LicenseKey }>()((db, $) =>
  db.selectFrom('licenses').select('product_id').where('account_id', '=', $.accountId).where(isKey($.key)),
);

const productOfReference = statement<{ accountId: AccountId; reference: string }>()((db, $) =>
  db
    .selectFrom('licenses')
    .select('product_id')
    .where('account_id', '=', $.accountId)
    .where('reference', '=', $.reference),
);

const takeSlot = statement<{ accountId: AccountId; id: string; now: Instant; end: Instant | null }>()((db, $) =>
  db
    .updateTable('licenses')
    .set((l) => ({
      activations: l('activations', '+', 1),
      expires_at: l
        .case()
        .when('expires_after', 'is', null)
        .then(l.ref('expires_at'))
        .else(l.fn.coalesce('expires_at', l.val($.end)))
        .end(),
      updated_at: latestOf('updated_at', $.now),
    }))
    .where('account_id', '=', $.accountId)
    .where('id', '=', $.id)
    .where('vendor_disabled', '=', sql.lit(0))
    .where((l) => l.or([l('max_activations', 'is', null), l('activations', '<', l.ref('max_activations'))])),
);

const setEndAtFirstUse = statement<{ accountId: AccountId; id: string; now: Instant; end: Instant }>()((db, $) =>
  db
    .updateTable('licenses')
    .set({ expires_at: $.end, updated_at: latestOf('updated_at', $.now) })
    .where('account_id', '=', $.accountId)
    .where('id', '=', $.id)
    .where('expires_after', 'is not', null)
    .where('expires_at', 'is', null),
);

const freeSlots = statement<{ accountId: AccountId; id: string; count: number; now: Instant }>()((db, $) =>
  db
    .updateTable('licenses')
    .set((l) => ({ activations: l('activations', '-', $.count), updated_at: latestOf('updated_at', $.now) }))
    .where('account_id', '=', $.accountId)
    .where('id', '=', $.id),
);

const lock = statement<{ accountId: AccountId; id: string }>()((db, $) =>
  db.selectFrom('licenses').select('id').where('account_id', '=', $.accountId).where('id', '=', $.id).forUpdate(),
);

/** The licences of accounts. */
export const keyRepository = (db: Connection) => ({
  /** Adds a licence; false when its reference is taken. */
  async insert(license: License): Promise<boolean> {
    if ((await db.run(license.reference === null ? insert : insertUnlessTaken, license)) === 0) return false;
    await writeMetadata(db, license);
    return true;
  },

  /** Adds a licence of which anything may be taken: its key, its reference or its id; false when it is. */
  async insertUnlessThere(license: License): Promise<boolean> {
    if ((await db.run(insertUnlessThere, license)) === 0) return false;
    await writeMetadata(db, license);
    return true;
  },

  /** The licence that product and key name together. */
  async find(accountId: AccountId, productId: ProductId, key: LicenseKey): Promise<License | null> {
    const row = await db.first(find, { accountId, productId, key });
    return row === undefined ? null : toLicense(row);
  },

  /** The licence of this id. */
  findById: (accountId: AccountId, id: string): Promise<License | null> => byId.find(db, { accountId, id }),

  /** The licence of this reference. */
  findByReference: (accountId: AccountId, reference: string): Promise<License | null> =>
    byReference.find(db, { accountId, reference }),

  /** The product of the licence that has this key, or this reference; null when there is none. */
  async findProduct(
    accountId: AccountId,
    address: { readonly licenseKey: LicenseKey } | { readonly reference: string },
  ): Promise<ProductId | null> {
    const row = await ('licenseKey' in address
      ? db.first(productOfKey, { accountId, key: address.licenseKey })
      : db.first(productOfReference, { accountId, reference: address.reference }));
    return row?.product_id ?? null;
  },

  /** Whether there is a licence that has this key, of any product. */
  async exists(accountId: AccountId, key: LicenseKey): Promise<boolean> {
    return (await db.first(productOfKey, { accountId, key })) !== undefined;
  },

  /** The licence that product and key name together, and its customer if it has one; in one statement. */
  async findWithCustomer(
    accountId: AccountId,
    productId: ProductId,
    key: LicenseKey,
  ): Promise<LicenseWithCustomer | null> {
    const row = await db.first(findWithCustomer, { accountId, productId, key });
    return row === undefined ? null : withCustomer(row);
  },

  /** The same for a reference in place of the key. */
  async findReferenceWithCustomer(
    accountId: AccountId,
    productId: ProductId,
    reference: string,
  ): Promise<LicenseWithCustomer | null> {
    const row = await db.first(findReferenceWithCustomer, { accountId, productId, reference });
    return row === undefined ? null : withCustomer(row);
  },

  /** The licence that product and key name together, kept from all others until this transaction ends. */
  async findLocked(accountId: AccountId, productId: ProductId, key: LicenseKey): Promise<License | null> {
    const row = await db.first(findLocked, { accountId, productId, key });
    return row === undefined ? null : toLicense(row);
  },

  /** Changes what is given of a licence that the caller has locked, and returns it as it is then. */
  async patch(license: License, changes: LicenseChanges & { readonly updatedAt: Instant }): Promise<License> {
    const { accountId, id } = license;
    const changed = await byId.patch(db, { accountId, id }, changes);
    if (changed === null) throw new Error(`the licence ${id} is not there`);
    await writeMetadata(db, changed, license);
    return changed;
  },

  /** Removes a licence that has neither devices nor sessions. */
  async remove(license: License): Promise<void> {
    await removeMetadata(db, license);
    await byId.remove(db, license);
  },

  /**
   * Takes one activation slot; false when none is free, or the key is disabled. One statement, so no two callers get the last one. Where the
   * first use sets the end of the licence, the first slot sets it to `end`.
   */
  async takeSlot(license: License, now: Instant, end: Instant | null): Promise<boolean> {
    return (await db.run(takeSlot, { accountId: license.accountId, id: license.id, now, end })) === 1;
  },

  /** Sets the end of a licence that waits for its first use; one that has an end keeps it. */
  async setEndAtFirstUse(license: License, now: Instant, end: Instant): Promise<void> {
    await db.run(setEndAtFirstUse, { accountId: license.accountId, id: license.id, now, end });
  },

  /** Gives back `count` activation slots. */
  async freeSlots(license: License, count: number, now: Instant): Promise<void> {
    await db.run(freeSlots, { accountId: license.accountId, id: license.id, count, now });
  },

  /** Keeps all others from changing the licence until this transaction ends; false when it has been removed. */
  async lock(license: License): Promise<boolean> {
    return (await db.first(lock, { accountId: license.accountId, id: license.id })) !== undefined;
  },
});

/** What a licence is found by, apart from its columns. */
type Findable = Pick<License, 'accountId' | 'id' | 'metadata' | 'reference'>;

/**
 * Makes a licence findable by its free metadata and its reference. Called with every change of them: `before` is what it was
 * findable by.
 */
async function writeMetadata(
  db: Connection,
  license: Findable,
  before: Pick<Findable, 'metadata' | 'reference'> = { metadata: {}, reference: null },
): Promise<void> {
  const { accountId, id: licenseId, metadata, reference } = license;
  for (const [name, value] of Object.entries(before.metadata)) {
    if (metadata[name] !== value) await byEntry.remove(db, { accountId, name, value: String(value), licenseId });
  }
  for (const [name, value] of Object.entries(metadata)) {
    if (before.metadata[name] !== value)
      await db.run(insertEntry, { accountId, name, value: String(value), licenseId });
  }
  if (reference === before.reference) return;
  const owner = { accountId, kind: 'license', ownerId: licenseId, detail: '' } as const;
  await removePhrases(db, owner, phrasesOf(before.reference));
  await addPhrases(db, owner, phrasesOf(reference));
}

/** Takes a licence from what licences are found by. */
const removeMetadata = (db: Connection, license: Findable): Promise<void> =>
  writeMetadata(db, { ...license, metadata: {}, reference: null }, license);
