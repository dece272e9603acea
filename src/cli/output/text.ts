/** Controls, and the characters that reorder or hide what stands beside them. */
const unsafe = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

/** Makes what could move the cursor, colour or reorder text visible: `\u{1b}`. For one line of text. */
export function sanitise(text: string): string {
  return text.replaceAll(unsafe, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** The same inside JSON text, as JSON's own escapes: the data stays what it was. */
export function sanitiseJson(json: string): string {
  return json.replaceAll(unsafe, (character) =>
    character === '\n' ? character : [...units(character)].map((unit) => `\\u${unit}`).join(''),
  );
}

function* units(text: string): Generator<string> {
  for (let at = 0; at < text.length; at++) yield text.charCodeAt(at).toString(16).padStart(4, '0');
}
