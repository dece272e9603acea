import type { JsonValue } from '../contract/events.ts';

/** The one text of a JSON value, without spaces, the members of objects in the order of their names (RFC 8785). */
export function canonicalJson(value: JsonValue): string {
  if (typeof value === 'string') return textOf(value);
  if (typeof value !== 'object' || value === null) return primitive(value);
  if (isList(value)) return `[${value.map(canonicalJson).join()}]`;
  const members = Object.entries(value).sort(byName);
  return `{${members.map(([name, member]) => `${textOf(name)}:${canonicalJson(member)}`).join()}}`;
}

/** By UTF-16 code units, which is how JavaScript compares texts. */
const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);

function textOf(text: string): string {
  if (!text.isWellFormed()) throw new TypeError('half of a surrogate pair has no canonical JSON');
  return JSON.stringify(text);
}

function primitive(value: number | boolean | null): string {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${value} is not JSON`);
  return JSON.stringify(value);
}

const isList = (value: object): value is readonly JsonValue[] => Array.isArray(value);
