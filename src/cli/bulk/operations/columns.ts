import type { z } from 'zod';
import { writeDuration } from '../../../contract/fields.ts';
import { UsageError } from '../../failure/errors.ts';
import { parseCalendarDuration, parseDuration } from '../../values/duration.ts';
import { parseAnyEnd, parseExpiry, parseStart } from '../../values/instant.ts';
import { readKeyCell } from '../../values/license-key.ts';
import { parseBoolean, parseLimit, readValue } from '../../values/scalars.ts';
import type { Column, ColumnFamily, Columns } from '../reading/columns.ts';

/** Every column that files have; its path is its name unless given. */
const columns: readonly (Omit<Column, 'path'> & { readonly path?: Column['path'] })[] = [
  { name: 'productId', aliases: ['product'] },
  { name: 'reference', unique: 'exact' },
  { name: 'key', aliases: ['licenseKey'], path: ['licenseKey'], read: readKeyCell, unique: 'exact' },
  { name: 'key', aliases: ['licenseKey'], unique: 'exact' },
  { name: 'id', aliases: ['licenseId'], unique: 'exact' },
  { name: 'name', aliases: ['customerName'] },
  { name: 'email', aliases: ['customerEmail', 'e-mail', 'mail'], unique: 'anyCase' },
  { name: 'maxActivations', aliases: ['usesPerKey'], read: parseLimit, nullWord: 'unlimited' },
  {
    name: 'maxActivations',
    aliases: ['usesPerKey'],
    path: ['usesPerKey'],
    read: (text) => String(parseLimit(text)),
    nullWord: 'unlimited',
  },
  { name: 'expirationDate', aliases: ['expires', 'expiryDate'], read: parseAnyEnd, nullWord: 'never' },
  {
    name: 'expirationDate',
    aliases: ['expires', 'expiryDate'],
    path: ['expiryDate'],
    read: parseExpiry,
    nullWord: 'never',
  },
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
  { name: 'versionId', nullWord: 'none' },
  { name: 'version' },
  { name: 'customerId', aliases: ['customer'], nullWord: 'none' },
  { name: 'customerName', aliases: ['newCustomerName', 'newCustomer.name'], path: ['newCustomer', 'name'] },
  { name: 'customerEmail', aliases: ['newCustomerEmail', 'newCustomer.email'], path: ['newCustomer', 'email'] },
  { name: 'customerEmail', aliases: ['customer.email'], path: ['customer', 'email'] },
  { name: 'customerName', aliases: ['customer.name'], path: ['customer', 'name'] },
  { name: 'customerId', aliases: ['customer.id'], path: ['customer', 'id'] },
  { name: 'customerActive', aliases: ['customer.active'], path: ['customer', 'active'], read: booleanCell },
  { name: 'createdAt', aliases: ['created'], read: parseStart },
  { name: 'devices', read: devicesCell },
  { name: 'vendorDisabled', aliases: ['blocked'], read: booleanCell },
  { name: 'note' },
];

const families: readonly ColumnFamily[] = [
  { prefix: 'metadata.', path: ['metadata'] },
  { prefix: 'feature.', path: ['metadata', 'features'], read: readValue },
  { prefix: 'features.', path: ['metadata', 'features'], read: readValue },
];

/** The columns for the fields of a request. Only those of fields that may be null have a word for it. */
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

/*
 * How cells are read: into what stands in the body of a request, as JSON. A text cannot be empty here: an empty cell is
 * as good as none.
 */

/** Whole seconds, or a duration such as `5m`. */
function secondsCell(text: string): number {
  return /^\d{1,9}$/.test(text) ? Number(text) : parseDuration(text) / 1_000;
}

function durationCell(text: string): string {
  return writeDuration(parseCalendarDuration(text));
}

function booleanCell(text: string): boolean {
  const lower = text.toLowerCase();
  if (['yes', '1'].includes(lower)) return true;
  return ['no', '0'].includes(lower) ? false : parseBoolean(lower);
}

/** Names with a space, comma or semicolon between them, or a JSON array. */
function listCell(text: string): unknown {
  return text.startsWith('[') ? jsonCell(text) : text.split(/[\s,;]+/).filter((one) => one !== '');
}

function jsonCell(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UsageError(`'${text.slice(0, 40)}' is not JSON`, [], { cause });
  }
}

/** Devices as a JSON array, or the names of hosts alone. */
function devicesCell(text: string): unknown {
  const listed = listCell(text);
  return Array.isArray(listed) ? listed.map((one) => (typeof one === 'string' ? { hostId: one } : one)) : listed;
}
