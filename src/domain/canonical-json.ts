/**
 * The one text of a JSON value, without spaces, the members of objects in the order of their names (RFC 8785). Throws
 * `TypeError` for what is not JSON.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return textOf(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (typeof value !== 'object' || value === null) return primitive(value);
  let text = '';
  for (const [name, member] of Object.entries(value).sort(byName)) {
    text += `${text === '' ? '' : ','}${textOf(name)}:${canonicalJson(member)}`;
  }
  return `{${text}}`;
}

/** By UTF-16 code units, which is how JavaScript compares texts. */
const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);

function textOf(text: string): string {
  if (!text.isWellFormed()) throw new TypeError('half of a surrogate pair has no canonical JSON');
  return JSON.stringify(text);
}

function primitive(value: unknown): string {
  if (value === null || typeof value === 'boolean' || Number.isFinite(value)) return JSON.stringify(value);
  throw new TypeError(`${String(value)} is not JSON`);
}
