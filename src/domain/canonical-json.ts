/**
 * The one text of a JSON value, without spaces, the members of objects in the order of their names (RFC 8785). Throws
 * `TypeError` for what is not JSON.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (typeof value !== 'object' || value === null) return scalar(value);
  // By UTF-16 code units, which is how JavaScript compares texts.
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${scalar(name)}:${canonicalJson(member)}`).join()}}`;
}

function scalar(value: unknown): string {
  const isPrimitive = value === null || typeof value === 'boolean' || Number.isFinite(value);
  if (typeof value === 'string' ? !value.isWellFormed() : !isPrimitive)
    throw new TypeError(`${String(value)} is not JSON`);
  return JSON.stringify(value);
}
