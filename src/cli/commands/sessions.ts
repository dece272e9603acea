import { argument, option, productFilter } from '../command.ts';
import type { Field } from '../output/result.ts';
import { EMPTY_CELL, keyEnd, relative } from '../output/words.ts';
import { checkFiltersExist } from '../request/look-ups.ts';
import { keyCheck, parseLicenseKey } from '../values/license-key.ts';
import { changeCommand, readCommand } from './forms.ts';
import { doneTo, fieldsShown, listOf } from './results.ts';

export const sessionFields: readonly Field[] = [
  { name: 'id' },
  { name: 'hostId', label: 'host id', cuts: true },
  { name: 'deviceTag', label: 'tag', cuts: true, drops: 1 },
  { name: 'userIdentifier', label: 'user', cuts: true },
  { name: 'createdAt', label: 'since', show: relative, drops: 2 },
  { name: 'expiresAt', label: 'expires', show: relative, drops: 4 },
];

const named: readonly Field[] = [
  ...sessionFields,
  { name: 'licenseKey', label: 'key', brief: keyEnd, drops: 3 },
  {
    name: 'customerId',
    label: 'customer',
    show: (id, _, { customerName }) => String(customerName ?? id ?? EMPTY_CELL),
    cuts: true,
  },
  ...fieldsShown('chosen', 'licenseId', 'productId', 'productName', 'customerName', 'customerEmail'),
];

export const sessionsList = readCommand({
  about: 'Lists the sessions of floating keys whose lease runs, oldest first.',
  operation: 'sessions.list',
  options: {
    product: productFilter,
    key: option('--key <KEY>', 'only those of this key; - for stdin, or @FILE', {
      field: 'licenseKey',
      pick: 'key',
      parse: parseLicenseKey,
    }),
    keyCheck,
  },
  fields: named,
  examples: [
    ['lkm sessions list', 'all of them'],
    ['lkm sessions list --key "$KEY"', 'who has the seats of a key'],
  ],

  async read(client, { product: productId, key }) {
    const { items } = await client.sessions.list({ productId, licenseKey: key });
    if (items.length === 0) await checkFiltersExist(client, { productId });
    const keys = items.map(({ licenseKey }) => licenseKey);
    return { ...listOf(items, 'no sessions; lkm keys checkout leases one'), secrets: keys, secret: true };
  },
});

export const sessionsRelease = changeCommand({
  about: 'Ends a session, whoever holds it: its seat is free at once, and its next heartbeat is refused.',
  operation: 'sessions.delete',
  arguments: {
    id: argument('<ID|HOST|USER>', 'the session, by its id, or by its device or user', {
      field: 'sessionId',
      pick: 'session',
      takesName: true,
    }),
  },
  options: {
    product: option('-P, --product <ID>', 'the product of its key; needed by tokens for some products', {
      field: 'productId',
    }),
  },
  fields: ['sessionId', 'idempotencyKey'],
  examples: [['lkm sessions release ses_…', 'free an unused session']],
  outcome: (_, { id }) => doneTo(id, { sessionId: id }, `released ${id}`),
});
