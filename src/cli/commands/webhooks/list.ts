import type { Client } from '../../../client/client.ts';
import type { Delivery } from '../../../contract/webhooks/webhook.ts';
import { deliveryStates } from '../../../contract/webhooks/webhook.ts';
import { argument, command, option } from '../../command.ts';
import { type Field, listOf } from '../../output/result.ts';
import { nothing, relative, yesNo } from '../../output/words.ts';
import { parsePositive } from '../../values/scalars.ts';

export const webhookFields: readonly Field[] = [
  { name: 'id' },
  { name: 'url', cuts: true },
  { name: 'types', show: listTypes, cuts: true, drops: 1 },
  {
    name: 'active',
    of: (webhook) => webhook.active,
    show: (active, _, { disabledReason }) => stateOf(active, disabledReason),
  },
  { name: 'lastSeq', label: 'sent', isNumber: true, drops: 3 },
  {
    name: 'failingSince',
    label: 'failing',
    show: (since, now) => (since === null ? 'no' : relative(since, now)),
    drops: 4,
  },
  { name: 'ordered', show: yesNo, drops: 2 },
  { name: 'reveal', show: yesNo, shown: 'data' },
  { name: 'description', shown: 'data' },
  { name: 'apiVersion', shown: 'data' },
  { name: 'disabledAt', shown: 'data' },
  { name: 'disabledReason', shown: 'data' },
  { name: 'previousSecretUntil', shown: 'data' },
  { name: 'createdAt', label: 'created', show: relative, shown: 'data' },
  { name: 'updatedAt', shown: 'data' },
];

/** The argument that names a webhook. */
export const webhookId = argument('<ID>', 'the webhook', { field: 'webhookId' });

export const webhooksList = command({
  path: 'webhooks list',
  about: 'Lists the webhooks of the account, oldest first; never their secrets.',
  operation: 'webhooks.list',
  arguments: {},
  options: {},
  fields: webhookFields,
  examples: [
    ['lkm webhooks list', 'all of them'],
    ['lkm webhooks list --json', 'for a program'],
  ],

  async run(_, context) {
    const client = await context.client();
    const { items } = await client.webhooks.list();
    return listOf(items, 'no webhooks yet; lkm webhooks create makes one');
  },
});

export const webhooksGet = command({
  path: 'webhooks get',
  about: 'Shows one webhook and how it is doing.',
  operation: 'webhooks.get',
  arguments: { id: webhookId },
  options: {},
  fields: webhookFields,
  examples: [['lkm webhooks get whk_…', 'one webhook']],

  async run({ id }, context) {
    const client = await context.client();
    const webhook = await client.webhooks.get({ webhookId: id });
    return { kind: 'record', row: webhook, data: webhook, quiet: [webhook.id] };
  },
});

/** The fields of deliveries. */
export const deliveryFields: readonly Field[] = [
  { name: 'seq', isNumber: true },
  { name: 'type' },
  { name: 'state' },
  { name: 'status', isNumber: true, show: (status) => (status === null ? nothing : String(status)) },
  { name: 'attempts', isNumber: true, drops: 3 },
  { name: 'error', cuts: true },
  { name: 'attemptedAt', label: 'when', show: relative, drops: 2 },
  { name: 'nextAttemptAt', label: 'again', show: (at, now) => (at === null ? nothing : relative(at, now)), drops: 1 },
  { name: 'answer', shown: 'data' },
  { name: 'durationMs', shown: 'data' },
  { name: 'eventId', shown: 'data' },
];

const DEFAULT_LIMIT = 50;

export const webhooksDeliveries = command({
  path: 'webhooks deliveries',
  about:
    'Lists the events that were sent to a webhook, newest first, with the response to the last attempt. Accepted ones ' +
    'are kept for 7 days, dead ones for 30.',
  operation: 'webhooks.deliveries',
  arguments: { id: webhookId },
  options: {
    state: option('--state <STATE>', 'only those in this state', { field: 'state', choices: deliveryStates }),
    limit: option('--limit <N>', `at most N (${DEFAULT_LIMIT})`, { parse: parsePositive }),
  },
  fields: deliveryFields,
  examples: [
    ['lkm webhooks deliveries whk_…', 'the last ones'],
    ['lkm webhooks deliveries whk_… --state dead --json', 'those that were given up'],
  ],

  async run({ id, state, limit = DEFAULT_LIMIT }, context) {
    const found = await readDeliveries(await context.client(), { webhookId: id, state }, limit + 1);
    const items = found.slice(0, limit);
    return {
      kind: 'rows',
      rows: items,
      data: items,
      quiet: items.map(({ seq }) => String(seq)),
      empty: state === undefined ? 'nothing was sent to it yet' : `none is ${state}`,
      notes: found.length > limit ? [{ tone: 'hint', text: `there are more: --limit ${limit * 10}` }] : [],
    };
  },
});

/** The longest part that the service gives. */
const MAX_PART = 1_000;

async function readDeliveries(
  client: Client,
  filters: Omit<Parameters<Client['webhooks']['deliveries']>[0], 'limit' | 'cursor'>,
  limit: number,
): Promise<Delivery[]> {
  const found: Delivery[] = [];
  for (let cursor: string | null | undefined; cursor !== null && found.length < limit; ) {
    const part = {
      limit: Math.min(MAX_PART, limit - found.length),
      cursor: cursor === undefined ? cursor : Number(cursor),
    };
    const { items, meta } = await client.webhooks.deliveries({ ...filters, ...part });
    found.push(...items);
    cursor = meta.next;
  }
  return found;
}

function stateOf(active: unknown, reason: unknown): string {
  if (active) return 'yes';
  return typeof reason === 'string' ? `no (${reason})` : 'no';
}

function listTypes(types: unknown): string {
  return Array.isArray(types) ? types.join(', ') : 'all';
}
