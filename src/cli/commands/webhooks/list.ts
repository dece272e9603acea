import { command } from '../../command.ts';
import { listOf } from '../../output/result.ts';
import { webhookFields } from './webhook-fields.ts';

export const webhooksList = command({
  about: 'Lists the webhooks of the account, oldest first; never their secrets.',
  operation: 'webhooks.list',
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
