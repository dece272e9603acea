import type { AccountId } from '../../../contract/scalars.ts';
import type { License } from '../../../domain/license.ts';
import type { Connection } from '../../engine/driver.ts';
import { statement } from '../../engine/statement.ts';
import { phrasesOf } from '../../search.ts';
import { insertInto, type Table, text } from '../../table.ts';
import { addPhrases, removePhrases } from './search-phrases.ts';

export const licenseMetadataColumns = {
  accountId: text<AccountId>()('account_id'),
  name: text()('name'),
  /** As text: `true` and the text `true` are found by the same search. */
  value: text()('value'),
  licenseId: text()('license_id'),
};

const entries: Table<typeof licenseMetadataColumns> = { name: 'license_metadata', columns: licenseMetadataColumns };
const insert = insertInto(entries, { skipConflictsOn: { columns: ['account_id', 'name', 'value', 'license_id'] } });

const remove = statement<{ accountId: AccountId; name: string; value: string; licenseId: string }>()((db, $) =>
  db
    .deleteFrom('license_metadata')
    .where('account_id', '=', $.accountId)
    .where('name', '=', $.name)
    .where('value', '=', $.value)
    .where('license_id', '=', $.licenseId),
);

/** What a licence is found by, apart from its columns. */
export type Findable = Pick<License, 'accountId' | 'id' | 'metadata' | 'reference'>;

/**
 * Makes a licence findable by its free metadata and its reference. Called with every change of them: `before` is what it was
 * findable by.
 */
export async function writeMetadata(
  db: Connection,
  license: Findable,
  before: Pick<Findable, 'metadata' | 'reference'> = { metadata: {}, reference: null },
): Promise<void> {
  const { accountId, id: licenseId, metadata, reference } = license;
  for (const [name, value] of Object.entries(before.metadata)) {
    if (metadata[name] !== value) await db.run(remove, { accountId, name, value: String(value), licenseId });
  }
  for (const [name, value] of Object.entries(metadata)) {
    if (before.metadata[name] !== value) await db.run(insert, { accountId, name, value: String(value), licenseId });
  }
  if (reference === before.reference) return;
  const owner = { accountId, kind: 'license', ownerId: licenseId, detail: '' } as const;
  await removePhrases(db, owner, phrasesOf(before.reference));
  await addPhrases(db, owner, phrasesOf(reference));
}

/** Takes a licence from what licences are found by. */
export const removeMetadata = (db: Connection, license: Findable): Promise<void> =>
  writeMetadata(db, { ...license, metadata: {}, reference: null }, license);
