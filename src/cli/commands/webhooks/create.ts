import { change, command, flag, required } from '../../command.ts';
import { issuedSecret } from './issued-secret.ts';
import { issuedFields } from './webhook-fields.ts';
import { description, typeOption } from './webhook-options.ts';

export const webhooksCreate = command({
  about:
    'Has events sent to a URL, from now on, and prints the secret that signs them, this once. The requests are those of ' +
    'Standard Webhooks.',
  operation: 'webhooks.create',
  options: {
    url: required('--url <URL>', 'where to send them: https, at a public address', { field: 'url' }),
    type: typeOption('all unless given'),
    description,
    ordered: flag('--ordered', 'send an event only once the one before it was accepted'),
    reveal: flag('--reveal', 'send licence keys in full, not masked'),
    ...change,
  },
  fields: issuedFields,
  examples: [
    ['SECRET=$(lkm webhooks create --url https://shop.example.com/hooks)', 'everything, and keep the secret'],
    ['lkm webhooks create --url https://shop.example.com/ --type license.created', 'one type only'],
  ],

  async run({ url, type, description, ordered, reveal }, context) {
    const changed = await context.change((client, call) =>
      client.webhooks.create(
        { url, types: type, description, ...(ordered && { ordered }), ...(reveal && { reveal }) },
        call,
      ),
    );
    return issuedSecret(changed, `created ${changed.answer.id} · from event ${changed.answer.lastSeq + 1} on`);
  },
});
