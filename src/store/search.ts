import { domainToUnicode } from 'node:url';
import type { AccountId } from '../contract/scalars.ts';
import type { Connection } from './engine/driver.ts';
import { join, type Sql, sql } from './engine/sql.ts';
import { type RecordOf, tableOf, text, unlessTaken } from './table.ts';

const searchPhrases = tableOf('search_phrases', {
  accountId: text<AccountId>('account_id'),
  /** From a word of a text to its end. */
  phrase: text('phrase'),
  /** Whose text it is. */
  kind: text<'customer' | 'device' | 'license'>('kind'),
  /** The customer, or the licence: that of a device too. */
  ownerId: text('owner_id'),
  /** The host of a device; empty for others. */
  detail: text('detail'),
});

type Owner = Omit<RecordOf<typeof searchPhrases.columns>, 'phrase'>;

/** Makes an owner findable by some phrases, and not any more by those that it had before. */
export async function replacePhrases(
  db: Connection,
  owner: Owner,
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
  const added = after.filter((phrase) => !before.includes(phrase)).map((phrase) => ({ ...owner, phrase }));
  await searchPhrases.insertMany(db, added, unlessTaken);
}

/** The condition for phrases `p` of an account that begin with these words; null when there are no words. */
export function beginsWith(accountId: AccountId, words: string): Sql | null {
  const begun = withoutHalves(wordsOf(words).join(' ').slice(0, MAX_PHRASE_LENGTH));
  if (begun === '') return null;
  return sql`p.account_id = ${accountId} and p.phrase >= ${begun} and p.phrase < ${`${begun}\u{10ffff}`}`;
}

/** Longer than what anybody types to find something. */
const MAX_PHRASE_LENGTH = 64;

/**
 * What an index of these texts holds: from each of their words to the end of its text, cut off, without case. A search
 * for the start of a word, or of words in a row, is then one range of that index: {@link beginsWith}.
 */
export function phrasesOf(...texts: readonly (string | null)[]): readonly string[] {
  const phrases = texts.flatMap((text) => {
    const words = wordsOf(text ?? '');
    return words.map((_, at) => words.slice(at).join(' ').slice(0, MAX_PHRASE_LENGTH));
  });
  return [...new Set(phrases.map(withoutHalves))];
}

/** Without half of a character at its end, which databases do not keep. */
const withoutHalves = (text: string): string => text.replace(/[\ud800-\udbff]$/, '');

const wordsOf = (text: string): string[] =>
  text
    .normalize('NFKC')
    .toLowerCase()
    // Of a domain, both of its forms are one text.
    .replaceAll(/\bxn--[a-z0-9-]+/g, (label) => domainToUnicode(label) || label)
    // At the end of a word a sigma has another form, which it has nowhere else: the beginning of a word would not match.
    .replaceAll('ς', 'σ')
    .split(/[^\p{L}\p{N}\p{M}]+/u)
    .filter(Boolean);
