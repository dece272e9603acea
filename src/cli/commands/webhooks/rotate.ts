import { change, command, option } from '../../command.ts';
import { moment } from '../../output/words.ts';
import { parseSeconds } from '../../values/duration.ts';
import { issuedSecret } from './issued-secret.ts';
import { issuedFields } from './webhook-fields.ts';
import { webhookId } from './webhook-options.ts';

export const webhooksRotate = command({
  about:
    'Gives a webhook a new secret and prints it, this once. For a day, or as long as is said, the old one signs as well, ' +
    'so that the receiver can change over.',
  operation: 'webhooks.rotate',
  arguments: { id: webhookId },
  options: {
    overlap: option('--overlap <DUR>', 'how long the old one signs as well, at most 7d (1d)', {
      parse: parseSeconds,
      field: 'overlap',
    }),
    ...change,
  },
  fields: issuedFields,
  examples: [
    ['SECRET=$(lkm webhooks rotate whk_…)', 'a new secret'],
    ['lkm webhooks rotate whk_… --overlap 1h', 'with an hour to change over'],
  ],

  async run({ id, overlap }, context) {
    const changed = await context.change((client, call) => client.webhooks.rotate({ webhookId: id, overlap }, call));
    const { previousSecretUntil } = changed.answer;
    const end = previousSecretUntil === null ? 'no longer signs' : `signs until ${moment(previousSecretUntil)}`;
    return issuedSecret(changed, `rotated ${id} · the old secret ${end}`);
  },
});
