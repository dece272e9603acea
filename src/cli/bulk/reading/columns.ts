import type { z } from 'zod';
import { writeDuration } from '../../../contract/fields.ts';
import { UsageError } from '../../failure/errors.ts';
import type { Io } from '../../io.ts';
import { parseCalendarDuration, parseDuration } from '../../values/duration.ts';
import { parseAnyEnd, parseExpiry, parsePast } from '../../values/instant.ts';
import { parseJson } from '../../values/json.ts';
import { readKeyCell } from '../../values/license-key.ts';
import { parseBoolean, parseLimit, readValue } from '../../values/scalars.ts';
import { headerWords } from './header-words.ts';

export interface Column {
  /** The name in a header; case, accents, spaces and signs do not matter. */
  readonly name: string;
  readonly aliases?: readonly string[];
  /** The place of its value in the body of a request, from the outside inwards. */
  readonly path: readonly string[];
  /** Converts the text of a cell, trimmed and not empty. Without it, the text is kept untrimmed. Throws `UsageError`. */
  readonly read?: (text: string, io: Pick<Io, 'now'>) => unknown;
  /** Whether it holds days or instants; the format of a file's dates is then found out. */
  readonly isDate?: boolean;
  /** The word for null in a cell. Without such a word, a null of JSON counts as no value. */
  readonly nullWord?: string;
  /** If set, no two rows of a file may have the same value, compared exactly or as e-mail addresses. */
  readonly unique?: 'exact' | 'email';
}

/** The columns that a file may have. Columns of a family share the start of their names: `metadata.plan`. */
export interface Columns {
  readonly single: readonly Column[];
  readonly families: readonly (Pick<Column, 'path' | 'read'> & { readonly prefix: string })[];
}

/** All columns; the default path is the name. For a repeated name, {@link columnsOf} keeps the column whose field the operation has. */
const columns: readonly (Omit<Column, 'path'> & { readonly path?: Column['path'] })[] = [
  { name: 'productId', aliases: ['product'], read: trimmedText },
  { name: 'reference', unique: 'exact' },
  { name: 'key', aliases: ['licenseKey'], path: ['licenseKey'], read: readKeyCell, unique: 'exact' },
  { name: 'key', aliases: ['licenseKey'], unique: 'exact', read: trimmedText },
  { name: 'id', aliases: ['licenseId'], unique: 'exact', read: trimmedText },
  { name: 'name', aliases: ['customerName'] },
  { name: 'email', aliases: ['customerEmail', 'e-mail', 'mail'], unique: 'email', read: trimmedText },
  { name: 'maxActivations', aliases: ['usesPerKey', 'seats'], read: parseLimit, nullWord: 'unlimited' },
  {
    name: 'maxActivations',
    aliases: ['usesPerKey', 'seats'],
    path: ['usesPerKey'],
    read: (text) => String(parseLimit(text)),
    nullWord: 'unlimited',
  },
  { name: 'expirationDate', aliases: ['expires', 'expiryDate'], read: parseAnyEnd, isDate: true, nullWord: 'never' },
  {
    name: 'expirationDate',
    aliases: ['expires', 'expiryDate'],
    path: ['expiryDate'],
    read: parseExpiry,
    isDate: true,
    nullWord: 'never',
  },
  { name: 'renewalDay', read: parseLimit, nullWord: 'none' },
  { name: 'expiresAfter', read: durationCell },
  { name: 'gracePeriod', read: durationCell, nullWord: 'none' },
  { name: 'duration', aliases: ['for'], read: durationCell },
  { name: 'from' },
  { name: 'licenseType', aliases: ['type'] },
  { name: 'maxConcurrentSessions', aliases: ['maxSessions'], read: parseLimit, nullWord: 'unlimited' },
  { name: 'heartbeatInterval', read: secondsCell },
  { name: 'sessionLeaseDuration', read: secondsCell },
  { name: 'allowedHosts', read: listCell, nullWord: 'any' },
  { name: 'customerCanSelfReset', aliases: ['selfReset'], read: booleanCell },
  { name: 'trial', aliases: ['isTrial'], path: ['metadata', 'is_trial'], read: booleanCell },
  { name: 'features', path: ['metadata', 'features'], read: jsonCell },
  { name: 'metadata', read: jsonCell },
  { name: 'versionId', nullWord: 'none', read: trimmedText },
  { name: 'planId', nullWord: 'none', read: trimmedText },
  { name: 'plan' },
  { name: 'fingerprintMatch', read: parseLimit, nullWord: 'off' },
  { name: 'version' },
  { name: 'customerId', aliases: ['customer'], nullWord: 'none', read: trimmedText },
  { name: 'customerName', aliases: ['newCustomerName', 'newCustomer.name'], path: ['newCustomer', 'name'] },
  {
    name: 'customerEmail',
    aliases: ['newCustomerEmail', 'newCustomer.email'],
    path: ['newCustomer', 'email'],
    read: trimmedText,
  },
  {
    name: 'customerEmail',
    aliases: ['customer.email', 'email', 'mail'],
    path: ['customer', 'email'],
    read: trimmedText,
  },
  { name: 'customerName', aliases: ['customer.name'], path: ['customer', 'name'] },
  { name: 'customerId', aliases: ['customer.id'], path: ['customer', 'id'], read: trimmedText },
  { name: 'customerActive', aliases: ['customer.active'], path: ['customer', 'active'], read: booleanCell },
  { name: 'createdAt', aliases: ['created'], read: parsePast, isDate: true },
  { name: 'devices', aliases: ['machines', 'hosts'], read: devicesCell },
  { name: 'vendorDisabled', aliases: ['blocked'], read: booleanCell },
  { name: 'revokedAt', read: parsePast, isDate: true },
  { name: 'revocationReason' },
  { name: 'note' },
];

const families: Columns['families'] = [
  { prefix: 'metadata.', path: ['metadata'] },
  { prefix: 'feature.', path: ['metadata', 'features'], read: readValue },
  { prefix: 'features.', path: ['metadata', 'features'], read: readValue },
];

/** The columns for the fields of a request. Only columns of nullable fields keep their word for null. */
export function columnsOf({ shape }: z.ZodObject): Columns {
  const isField = ({ path: [field = ''] }: Pick<Column, 'path'>) => field in shape;
  const takesNull = ({ path: [field = ''] }: Column) => shape[field]?.safeParse(null).success;
  return {
    single: columns
      .map((column): Column => ({ path: [column.name], ...column }))
      .filter(isField)
      .map(({ nullWord, ...column }) => (nullWord && takesNull(column) ? { ...column, nullWord } : column)),
    families: families.filter(isField),
  };
}

/** A name without case, accents, spaces, `-`, `_` and other signs but dots; `ä` may be written `ae`. */
const plain = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[äöü]/g, (letter) => ({ ä: 'ae', ö: 'oe', ü: 'ue' })[letter] ?? letter)
    .normalize('NFKD')
    .replaceAll(/[^\p{L}\p{N}.]/gu, '')
    .replace(/\.$/, '');

/** The column for a name in a header; null for an unknown name. */
export function findColumn({ single, families }: Columns, name: string): Column | null {
  const wanted = plain(name);
  const isCalled = (names: readonly string[] = []) => names.some((one) => plain(one) === wanted);
  const found =
    single.find(({ name, aliases = [] }) => isCalled([name, ...aliases])) ??
    single.find(({ name }) => isCalled(headerWords[name]));
  if (found !== undefined) return found;
  const family = families.find(({ prefix }) => name.toLowerCase().startsWith(prefix) && name.length > prefix.length);
  if (family === undefined) return null;
  const { prefix, path, ...more } = family;
  return { name, path: [...path, name.slice(prefix.length)], ...more };
}

export function setAt(body: Record<string, unknown>, [name = '', ...inner]: readonly string[], value: unknown): void {
  const found = Object.hasOwn(body, name) ? body[name] : undefined;
  const next: Record<string, unknown> = isObject(found) ? { ...found } : {};
  if (inner.length > 0) setAt(next, inner, value);
  // An assignment to `__proto__` would change the prototype.
  const set = inner.length === 0 ? value : next;
  Object.defineProperty(body, name, { value: set, enumerable: true, writable: true, configurable: true });
}

export const valueAt = (body: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((outer, key) => (isObject(outer) ? outer[String(key)] : undefined), body);

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The trimmed text, for ids and addresses. */
function trimmedText(text: string): string {
  return text;
}

function secondsCell(text: string): number {
  return /^\d{1,9}$/.test(text) ? Number(text) : parseDuration(text) / 1_000;
}

function durationCell(text: string): string {
  return writeDuration(parseCalendarDuration(text));
}

function booleanCell(text: string): boolean {
  const lower = text.toLowerCase();
  if (['yes', '1', 'ja', 'wahr', 'oui', 'vrai', 'sí', 'si', 'verdadero'].includes(lower)) return true;
  return ['no', '0', 'nein', 'falsch', 'non', 'faux', 'falso'].includes(lower) ? false : parseBoolean(lower);
}

/** Names separated by spaces, commas or semicolons, or a JSON array. */
function listCell(text: string): unknown {
  return text.startsWith('[') ? jsonCell(text) : text.split(/[\s,;]+/).filter((one) => one !== '');
}

function jsonCell(text: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    throw new UsageError(`'${text.slice(0, 40)}' is not JSON`, [], { cause });
  }
}

/** Devices as a JSON array, or only their host ids. */
function devicesCell(text: string): unknown {
  const listed = listCell(text);
  return Array.isArray(listed) ? listed.map((one) => (typeof one === 'string' ? { hostId: one } : one)) : listed;
}
