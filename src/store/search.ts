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

const wordsOf = (text: string): string[] =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .split(/[^\p{L}\p{N}\p{M}]+/u)
    .filter(Boolean);
