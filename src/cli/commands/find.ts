import type { Found } from '../../contract/search.ts';
import { isTypo } from '../../domain/license-key.ts';
import { argument } from '../command.ts';
import type { Field, View } from '../output/result.ts';
import { sanitise } from '../output/terminal.ts';
import { quote } from '../output/words.ts';
import { normaliseWrittenKey } from '../values/license-key.ts';
import { limit, readCommand } from './forms.ts';

const fields: readonly Field[] = [
  { name: 'kind' },
  { name: 'by' },
  { name: 'matched', cuts: true },
  { name: 'key' },
  { name: 'productName', label: 'product', cuts: true },
  { name: 'customerName', label: 'customer', cuts: true },
  { name: 'customerEmail' },
  { name: 'command' },
  { name: 'licenseId' },
  { name: 'productId' },
  { name: 'customerId' },
];

export const find = readCommand({
  about:
    'Finds customers and keys by any part of what you have: a name, an e-mail address, a key or its last characters, an ' +
    'earlier key, a reference, an order in the metadata, the host id or the tag of a device. Accents and case make no ' +
    'difference. Below each stands the command that shows it.',
  operation: 'search.find',
  arguments: { text: argument('<TEXT>', 'what you have; several words are found one after the other') },
  options: { limit },
  fields,
  examples: [
    ['lkm find mül', 'customers called so, or with such an address'],
    ['lkm find 2BBF6', 'the key that ends so'],
    ['lkm find A-1042 -q', 'the key of an order'],
  ],

  async read(client, { text: typed, limit }) {
    const text = isTypo(typed) ? typed : normaliseWrittenKey(typed);
    const { items, meta } = await client.search.find({ text, limit });
    const rows = items.map((found) => ({ ...found, command: commandOf(found) }));
    return {
      kind: 'rows',
      rows,
      data: items,
      quiet: items.map(({ kind, key, customerId }) => (kind === 'key' ? key : customerId) ?? ''),
      secrets: items.flatMap(({ key }) => key ?? []),
      secret: true,
      empty: 'nothing fits: try a shorter part of it',
      notes: meta.more
        ? [{ tone: 'hint', text: `there are more: give more of it, or a --limit above ${meta.limit}` }]
        : [],
      draw: (view) => rows.map((row) => block(row, view)).join(''),
    };
  },
});

/** A masked key is named by its end. */
function commandOf({ kind, key, customerId }: Found): string {
  return kind === 'key'
    ? `lkm keys get ${quote(String(key).replace(/^.*\*-?/, ''))}`
    : `lkm customers get ${customerId}`;
}

/** Kind, match and command; for a key also its product and customer. */
function block({ command, ...found }: Found & { command: string }, { paint }: View): string {
  const { kind, by, matched, key, productName, customerName, customerEmail } = found;
  const shown = (...parts: readonly (string | null)[]) => sanitise(parts.filter((part) => part !== null).join(', '));
  const why = by === 'previousKey' ? 'found by an earlier key' : `${by} ${sanitise(matched)}`;
  const isShown = ['key', 'name', 'email'].includes(by);
  const lines =
    kind === 'key'
      ? [`${shown(key)}${isShown ? '' : paint.dim(`  ${why}`)}`, shown(productName, customerName, customerEmail)]
      : [shown(customerName, customerEmail)];
  const [first, ...others] = [...lines, command];
  return `${paint.bold(kind.padEnd(8))}  ${first}\n${others.map((line) => `${' '.repeat(10)}${line}\n`).join('')}`;
}
