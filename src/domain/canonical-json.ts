/**
 * The one text of a JSON value, without spaces, the members of objects in the order of their names (RFC 8785). Throws
 * `TypeError` for what is not JSON.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return textOf(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (typeof value !== 'object' || value === null) return primitive(value);
  let text = '';
  for (const name of namesOf(value)) {
    text += `${text === '' ? '' : ','}${textOf(name)}:${canonicalJson(Reflect.get(value, name))}`;
  }
  return `{${text}}`;
}

/** By UTF-16 code units, which is how JavaScript compares texts. What is in order already is not sorted: that is slow. */
function namesOf(value: object): string[] {
  const names = Object.keys(value);
  return names.every((name, at) => at === 0 || (names[at - 1] ?? '') < name) ? names : names.sort();
}

function textOf(text: string): string {
  if (!text.isWellFormed()) throw new TypeError('half of a surrogate pair has no canonical JSON');
  return JSON.stringify(text);
}

function primitive(value: unknown): string {
  if (value === null || typeof value === 'boolean' || Number.isFinite(value)) return JSON.stringify(value);
  throw new TypeError(`${String(value)} is not JSON`);
}
