import type { Client } from '../../../client/client.ts';
import { type Delivery, deliveryStates } from '../../../contract/webhooks/webhook.ts';
import { command, option } from '../../command.ts';
import { parsePositive } from '../../values/scalars.ts';
import { MAX_PART } from '../events-and-audit/feed.ts';
import { deliveryFields } from './webhook-fields.ts';
import { webhookId } from './webhook-options.ts';

const DEFAULT_LIMIT = 50;

export const webhooksDeliveries = command({
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
