/** The words of texts as they are searched on both engines: without case, each after a space, texts apart. */
export function searchText(...texts: readonly string[]): string {
  return texts
    .map((text) =>
      wordsOf(text)
        .map((word) => ` ${word}`)
        .join(''),
    )
    .join(' ');
}

/** The LIKE pattern, with `!` as its escape character, for texts in whose {@link searchText} these words begin. */
export function wordsBeginning(words: string): string {
  const begun = wordsOf(words);
  // Nothing to look for finds nothing; each text of a search begins with a space.
  return begun.length === 0 ? '' : `% ${begun.join(' ')}%`;
}

/** The LIKE pattern, with `!` as its escape character, for texts without case that contain this one. */
export function containing(part: string): string {
  return `%${part.toLowerCase().replace(/[!%_]/g, '!$&')}%`;
}

/** Longer than what anybody types to find something. */
const MAX_PHRASE_LENGTH = 64;

/**
 * What an index of these texts holds: from each of their words to the end of its text, cut off, without case. A search
 * for the start of a word, or of words in a row, is then one range of that index: {@link phraseRange}.
 */
export function phrasesOf(...texts: readonly (string | null)[]): readonly string[] {
  const phrases = texts.flatMap((text) => {
    const words = wordsOf(text ?? '');
    return words.map((_, at) => words.slice(at).join(' ').slice(0, MAX_PHRASE_LENGTH));
  });
  return [...new Set(phrases.map(withoutHalves))];
}

/** The phrases that begin with these words: from the first on, and before the last. Null when there are no words. */
export function phraseRange(words: string): readonly [from: string, before: string] | null {
  const begun = withoutHalves(wordsOf(words).join(' ').slice(0, MAX_PHRASE_LENGTH));
  return begun === '' ? null : [begun, `${begun}\u{10ffff}`];
}

/** Without half of a character at its end, which databases do not keep. */
const withoutHalves = (text: string): string => text.replace(/[\ud800-\udbff]$/, '');

const wordsOf = (text: string): string[] =>
  text
    .normalize('NFKC')
    .toLowerCase()
    // At the end of a word a sigma has another form, which it has nowhere else: the beginning of a word would not match.
    .replaceAll('ς', 'σ')
    .split(/[^\p{L}\p{N}\p{M}]+/u)
    .filter(Boolean);
