import { command } from '../../command.ts';
import { webhookFields } from './webhook-fields.ts';
import { webhookId } from './webhook-options.ts';

export const webhooksGet = command({
  about: 'Shows one webhook and how it is doing.',
  operation: 'webhooks.get',
  arguments: { id: webhookId },
  fields: webhookFields,
  examples: [['lkm webhooks get whk_…', 'one webhook']],

  async run({ id }, context) {
    const client = await context.client();
    const webhook = await client.webhooks.get({ webhookId: id });
    return { kind: 'record', row: webhook, data: webhook, quiet: [webhook.id] };
  },
});
