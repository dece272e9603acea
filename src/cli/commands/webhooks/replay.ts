import { change, command, flag, option } from '../../command.ts';
import { UsageError } from '../../failure/errors.ts';
import { doneNote } from '../../output/terminal.ts';
import { count } from '../../output/words.ts';
import { parseCount } from '../../values/scalars.ts';
import { webhookId } from './webhook-options.ts';

export const webhooksReplay = command({
  about:
    'Sends events to a webhook once more: all after a number, or those that it has not accepted. Each has the id and the ' +
    'number that it had, so that a receiver knows those that it has seen.',
  operation: 'webhooks.replay',
  arguments: { id: webhookId },
  options: {
    after: option('--after <SEQ>', 'all events after this number', { parse: parseCount, field: 'after' }),
    failed: flag('--failed', 'those that were given up or wait for another attempt'),
    ...change,
  },
  fields: [{ name: 'webhookId' }, { name: 'events' }, { name: 'idempotencyKey' }],
  examples: [
    ['lkm webhooks replay whk_… --after 4200', 'the receiver has lost what came since'],
    ['lkm webhooks replay whk_… --failed', 'the receiver works again'],
  ],

  async run({ id, after, failed }, context) {
    if ((after === undefined) === !failed) throw new UsageError('give one of --after and --failed');
    const what = after === undefined ? { failed: true as const } : { after };
    const changed = await context.change((client, call) => client.webhooks.replay({ webhookId: id, ...what }, call));
    const { answer, idempotencyKey } = changed;
    const { events } = answer;
    return {
      kind: 'done',
      data: { webhookId: id, events, idempotencyKey },
      quiet: [id],
      idempotencyKey,
      notes: [
        doneNote(changed, events === 0 ? 'there is nothing to send' : `sends ${count(events, 'event')} once more`),
      ],
    };
  },
});
