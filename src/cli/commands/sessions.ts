import { argument, change, command, option, productFilter } from '../command.ts';
import { type Field, listOf } from '../output/result.ts';
import { doneNote } from '../output/terminal.ts';
import { relative } from '../output/words.ts';
import { checkFiltersExist } from '../request/check-filters.ts';
import { keyCheck, parseLicenseKey } from '../values/license-key.ts';

export const sessionFields: readonly Field[] = [
  { name: 'id' },
  { name: 'hostId', label: 'host id', drops: 3 },
  { name: 'deviceTag', label: 'tag', cuts: true, drops: 1 },
  { name: 'userIdentifier', label: 'user', cuts: true, drops: 4 },
  { name: 'createdAt', label: 'since', show: relative, drops: 2 },
  { name: 'expiresAt', label: 'expires', show: relative },
];

export const sessionsList = command({
  about: 'Lists the sessions of floating keys whose lease runs, oldest first.',
  operation: 'sessions.list',
  watchable: true,
  options: {
    product: productFilter,
    key: option('--key <KEY>', 'only those of this key; - for stdin, or @FILE', {
      field: 'licenseKey',
      parse: parseLicenseKey,
    }),
    keyCheck,
  },
  fields: sessionFields,
  examples: [
    ['lkm sessions list', 'all of them'],
    ['lkm sessions list --key "$KEY"', 'who has the seats of a key'],
  ],

  async run({ product, key }, context) {
    const client = await context.client();
    const { items } = await client.sessions.list({ productId: product, licenseKey: key });
    if (items.length === 0) await checkFiltersExist(client, { productId: product });
    return listOf(items, 'no sessions; lkm keys checkout leases one');
  },
});

export const sessionsRelease = command({
  about: 'Ends a session, whoever holds it: its seat is free at once, and its next heartbeat is refused.',
  operation: 'sessions.delete',
  arguments: { id: argument('<ID>', 'the session', { field: 'sessionId', pick: 'session' }) },
  options: {
    product: option('-P, --product <ID>', 'the product of its key; needed by tokens for some products', {
      field: 'productId',
    }),
    ...change,
  },
  fields: [{ name: 'sessionId' }, { name: 'idempotencyKey' }],
  examples: [['lkm sessions release ses_…', 'free a seat that nobody uses any more']],

  async run({ id, product }, context) {
    const changed = await context.change((client, call) =>
      client.sessions.delete({ sessionId: id, productId: product }, call),
    );
    const { idempotencyKey } = changed;
    return {
      kind: 'done',
      data: { sessionId: id, idempotencyKey },
      quiet: [id],
      notes: [doneNote(changed, `released ${id}`)],
      idempotencyKey,
    };
  },
});
