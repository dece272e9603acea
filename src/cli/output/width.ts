import { stripVTControlCharacters } from 'node:util';

const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]/u;

/** How many columns of a terminal a text takes: by grapheme, CJK and emoji count twice. */
export function displayWidth(text: string): number {
  const graphemes = new Intl.Segmenter('en').segment(stripVTControlCharacters(text));
  return [...graphemes].reduce((width, { segment }) => width + (wide.test(segment) ? 2 : 1), 0);
}

/** Pads a text to a width, as the terminal counts it. */
export const padTo = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - displayWidth(text)));
