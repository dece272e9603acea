import type { AccountId } from '../../../contract/scalars.ts';
import type { Connection } from '../../engine/driver.ts';
import { dynamicStatement, type Parameter, type SqlValue, type Statement } from '../../engine/statement.ts';
import { remember } from '../../recent.ts';
import { columnOf, text } from '../../table.ts';

export const searchPhraseColumns = {
  accountId: text<AccountId>()('account_id'),
  /** From a word of a text to its end, as `store/search.ts` makes it. */
  phrase: text()('phrase'),
  /** Whose text it is. */
  kind: text<PhraseKind>()('kind'),
  /** The customer, or the licence: that of a device too. */
  ownerId: text()('owner_id'),
  /** The host of a device; empty for others. */
  detail: text()('detail'),
};

export type PhraseKind = 'customer' | 'device' | 'license';

/** Whose phrases they are. */
export interface PhraseOwner {
  readonly accountId: AccountId;
  readonly kind: PhraseKind;
  readonly ownerId: string;
  readonly detail: string;
}

/** A statement writes at most this many at a time: a statement for each is a round trip for each. */
const BATCH = 8;

/** Makes an owner findable by these phrases. Those that it has already stay. */
export async function addPhrases(db: Connection, owner: PhraseOwner, phrases: readonly string[]): Promise<void> {
  await inBatches(phrases, (batch) => db.run(insertSome(batch.length), { ...owner, ...numbered(batch) }));
}

/** Takes these phrases from an owner. */
export async function removePhrases(db: Connection, owner: PhraseOwner, phrases: readonly string[]): Promise<void> {
  await inBatches(phrases, (batch) => db.run(deleteSome(batch.length), { ...owner, ...numbered(batch) }));
}

type Write = Statement<PhraseOwner & Readonly<Record<string, string>>, unknown>;

const owned = ['accountId', 'kind', 'ownerId', 'detail'] as const;

const column = (field: string) => columnOf(searchPhraseColumns, field);

const insertSome = perCount(
  (count): Write =>
    dynamicStatement((db, $) =>
      db
        .insertInto('search_phrases')
        .values(
          parameters(count, $).map((phrase) =>
            Object.fromEntries([...owned.map((field) => [column(field), $(field)]), [column('phrase'), phrase]]),
          ),
        )
        .onConflict((on) => on.columns(Object.values(searchPhraseColumns).map(({ name }) => name)).doNothing()),
    ),
);

const deleteSome = perCount(
  (count): Write =>
    dynamicStatement((db, $) =>
      owned
        .reduce((query, field) => query.where(column(field), '=', $(field)), db.deleteFrom('search_phrases'))
        .where(column('phrase'), 'in', parameters(count, $)),
    ),
);

/** Makes a statement for each number of phrases, once. */
function perCount(make: (count: number) => Write): (count: number) => Write {
  const remembered = remember<Write>(BATCH);
  return (count) => remembered(String(count), () => make(count));
}

const parameters = (count: number, $: Parameter): SqlValue[] =>
  Array.from({ length: count }, (_, at) => $(`phrase${at}`));

const numbered = (phrases: readonly string[]) =>
  Object.fromEntries(phrases.map((phrase, at) => [`phrase${at}`, phrase]));

async function inBatches(phrases: readonly string[], write: (batch: readonly string[]) => Promise<unknown>) {
  for (let from = 0; from < phrases.length; from += BATCH) await write(phrases.slice(from, from + BATCH));
}
