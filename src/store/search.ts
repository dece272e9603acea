import { domainToUnicode } from 'node:url';
import type { AccountId } from '../contract/scalars.ts';
import type { Connection, Database } from './engine/driver.ts';
import { type Sql, sql } from './engine/sql.ts';
import { tableOf, text } from './table.ts';

/** The words of customers. */
export const customerWords = tableOf('customer_words', {
  accountId: text<AccountId>('account_id'),
  customerId: text('customer_id'),
  words: text('words'),
});

/** The words of licences, and of their devices. */
export const licenseWords = tableOf('license_words', {
  accountId: text<AccountId>('account_id'),
  licenseId: text('license_id'),
  /** The host of a device; empty for the licence itself. */
  hostId: text('host_id'),
  words: text('words'),
});

interface WordsTable<Owner> {
  add(db: Connection, record: Owner & { readonly words: string }): Promise<unknown>;
  set(db: Connection, owner: Owner, changes: { readonly words: string }): Promise<unknown>;
  remove(db: Connection, owner: Owner): Promise<unknown>;
}

/** Makes an owner findable by {@link wordsOf} its texts, and no longer by the texts before. */
export async function replaceWords<Owner>(
  db: Connection,
  table: WordsTable<Owner>,
  owner: Owner,
  before: string,
  after: string,
): Promise<void> {
  if (before === after) return;
  if (after === '') await table.remove(db, owner);
  else if (before === '') await table.add(db, { ...owner, words: after });
  else await table.set(db, owner, { words: after });
}

/** The words `w` of customers that a pattern matches, up to where further conditions may follow. */
export const customerSearch = (accountId: AccountId, pattern: string): Sql =>
  sql`customer_search as w where w.account_id = ${accountId} and w.words like ${pattern}`;

/** The words `w` of licences and of devices that a pattern matches. */
export const licenseSearch = (accountId: AccountId, pattern: string): Sql =>
  sql`license_search as w where w.account_id = ${accountId} and w.words like ${pattern}`;

/** Whether an index finds words; else a search looks at all of them. Of a database with the schema of this version. */
export async function hasIndexOfWords({
  engine,
  connection,
}: Pick<Database, 'engine' | 'connection'>): Promise<boolean> {
  if (engine === 'SQLite') return true;
  const index = sql`select 1 from pg_indexes
    where schemaname = any (current_schemas(false)) and indexname = 'license_words_index'`;
  return (await connection.first(index)) !== null;
}

/** The text that a search looks in: the words of texts, folded, in each spelling, each text on a line of its own. */
export const wordsOf = (...texts: readonly (string | null)[]): string =>
  [...new Set(texts.flatMap((one) => (one === null ? [] : spellingsOf(one))))]
    .map((words) => `${BETWEEN}${words}`)
    .join('\n');

/**
 * Patterns for `like`. One of them matches {@link wordsOf} a text that has the words of `text` in a row; the first word may
 * lack its beginning, the last word its end. One or two characters match only the beginning of a word. No patterns for a
 * text without a letter or digit.
 */
export const patternsOf = (text: string): readonly string[] =>
  spellingsOf(text).map((words) => (Array.from(words).length < INDEXED_LENGTH ? `%${BETWEEN}${words}%` : `%${words}%`));

/** Whether a search for `other` finds a text. */
export function isFoundBy(text: string, other: string): boolean {
  const words = wordsOf(text);
  return patternsOf(other).some((pattern) => words.includes(pattern.slice(1, -1)));
}

/** How many characters in a row the indexes of words hold: a pattern with as many is found by them. */
const INDEXED_LENGTH = 3;

/** Stands in front of each word: so long that an index holds it together with the first character. */
const BETWEEN = '  ';

/** Longer than any search text that a person types. */
const MAX_LENGTH = 256;

/** The words of a text, in one or two spellings: `müller` is `muller` and `mueller`. */
function spellingsOf(text: string): string[] {
  const plain = text
    .slice(0, MAX_LENGTH)
    .toWellFormed()
    .normalize('NFKC')
    .toLowerCase()
    // Both forms of a domain become one text.
    .replaceAll(/\bxn--[a-z0-9-]+/g, (label) => domainToUnicode(label) || label);
  const spelt = [plain, plain.replaceAll(/[äöüøå]/g, (letter) => twoLetters[letter] ?? letter)];
  return [...new Set(spelt.map(fold))].filter((words) => words !== '');
}

const twoLetters: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', ø: 'oe', å: 'aa' };

/** Letters that Unicode does not take apart. The sigma has another form at the end of a word. */
const letters: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ð: 'd', þ: 'th', ł: 'l', ı: 'i', ħ: 'h', ŧ: 't', ς: 'σ' },
};

/** Words of lower case without accents and apostrophes. Scripts without spaces have each character as a word. */
const fold = (text: string): string =>
  text
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f'’ʼ]/g, '')
    .replaceAll(/[ßæœøđðþłıħŧς]/g, (letter) => letters[letter] ?? letter)
    .replaceAll(/[\p{sc=Han}\p{scx=Hiragana}\p{scx=Katakana}]\p{M}*/gu, ' $& ')
    .split(/[^\p{L}\p{N}\p{M}]+/u)
    .filter(Boolean)
    .join(BETWEEN);
