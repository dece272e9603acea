import {
  booleanCell,
  durationCell,
  featureCell,
  jsonCell,
  limitCell,
  listCell,
  secondsCell,
} from '../reading/cells.ts';
import type { Column, ColumnFamily, Columns } from '../reading/columns.ts';

/** The column of the product, the same in every file of keys. */
export const productColumn: Column = { name: 'productId', aliases: ['product'], path: ['productId'] };

/** Columns that mean the same for a key that is created, imported or updated. */
export const keyColumns: Columns['single'] = [
  { name: 'licenseType', aliases: ['type'], path: ['licenseType'] },
  {
    name: 'maxConcurrentSessions',
    aliases: ['maxSessions'],
    path: ['maxConcurrentSessions'],
    read: limitCell,
    nullWord: 'unlimited',
  },
  { name: 'heartbeatInterval', path: ['heartbeatInterval'], read: secondsCell },
  { name: 'sessionLeaseDuration', path: ['sessionLeaseDuration'], read: secondsCell },
  { name: 'allowedHosts', path: ['allowedHosts'], read: listCell, nullWord: 'any' },
  { name: 'customerCanSelfReset', aliases: ['selfReset'], path: ['customerCanSelfReset'], read: booleanCell },
  { name: 'trial', aliases: ['isTrial'], path: ['metadata', 'is_trial'], read: booleanCell },
  { name: 'features', path: ['metadata', 'features'], read: jsonCell },
  { name: 'metadata', path: ['metadata'], read: jsonCell },
];

/** Columns that mean the same for a key that is created or imported. */
export const newKeyColumns: Columns['single'] = [
  productColumn,
  { name: 'reference', path: ['reference'], unique: 'exact' },
  { name: 'expiresAfter', path: ['expiresAfter'], read: durationCell },
  { name: 'gracePeriod', path: ['gracePeriod'], read: durationCell },
  ...keyColumns,
];

/** Columns for entries of the metadata and features of a key. */
export const metadataFamilies: readonly ColumnFamily[] = [
  { prefix: 'metadata.', path: ['metadata'] },
  { prefix: 'feature.', path: ['metadata', 'features'], read: featureCell },
  { prefix: 'features.', path: ['metadata', 'features'], read: featureCell },
];
