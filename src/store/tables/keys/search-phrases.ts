import type { AccountId } from '../../../contract/scalars.ts';
import type { Connection } from '../../engine/driver.ts';
import { join, sql } from '../../engine/sql.ts';
import { tableOf, text, unlessTaken } from '../../table.ts';

const columns = {
  accountId: text<AccountId>('account_id'),
  /** From a word of a text to its end, as `store/search.ts` makes it. */
  phrase: text('phrase'),
  /** Whose text it is. */
  kind: text<'customer' | 'device' | 'license'>('kind'),
  /** The customer, or the licence: that of a device too. */
  ownerId: text('owner_id'),
  /** The host of a device; empty for others. */
  detail: text('detail'),
};

const searchPhrases = tableOf('search_phrases', columns);

/** Whose phrases they are. */
export interface PhraseOwner {
  readonly accountId: AccountId;
  readonly kind: 'customer' | 'device' | 'license';
  readonly ownerId: string;
  readonly detail: string;
}

/** Makes an owner findable by some phrases, and not any more by those that it had before. */
export async function replacePhrases(
  db: Connection,
  owner: PhraseOwner,
  before: readonly string[],
  after: readonly string[],
): Promise<void> {
  const removed = before.filter((phrase) => !after.includes(phrase));
  if (removed.length > 0) {
    const { accountId, kind, ownerId, detail } = owner;
    await db.run(sql`
      delete from search_phrases where account_id = ${accountId} and kind = ${kind} and owner_id = ${ownerId}
        and detail = ${detail} and phrase in (${join(removed)})`);
  }
  const added = after.filter((phrase) => !before.includes(phrase));
  await searchPhrases.insertMany(
    db,
    added.map((phrase) => ({ ...owner, phrase })),
    unlessTaken,
  );
}
