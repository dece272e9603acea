import { change, command, yes } from '../../command.ts';
import type { CommandContext } from '../../context.ts';
import { doneNote } from '../../output/terminal.ts';
import { confirm } from '../../prompts/questions.ts';
import { webhookId } from './webhook-options.ts';

export const webhooksDelete = command({
  about: 'Deletes a webhook with the list of its deliveries. Shows it and asks first.',
  operation: 'webhooks.delete',
  arguments: { id: webhookId },
  options: { yes, ...change },
  fields: [{ name: 'id' }, { name: 'deleted' }, { name: 'idempotencyKey' }],
  examples: [
    ['lkm webhooks delete whk_…', 'shows it and asks'],
    ['lkm webhooks delete whk_… --yes', 'in a script'],
  ],

  async run({ id, yes }, context) {
    if (!yes && !context.dryRun) await confirmDeleting(context, id);
    const changed = await context.change((client, call) => client.webhooks.delete({ webhookId: id }, call));
    const { idempotencyKey } = changed;
    return {
      kind: 'done',
      data: { id, deleted: true, idempotencyKey },
      quiet: [id],
      idempotencyKey,
      notes: [doneNote(changed, `deleted ${id}`)],
    };
  },
});

async function confirmDeleting(context: CommandContext, id: string): Promise<void> {
  await confirm(context, {
    about: context.settings.interactive ? await describeWebhook(context, id) : [],
    question: `delete ${id} for ever?`,
    action: `deleting ${id}`,
    flag: '--yes',
  });
}

async function describeWebhook({ client }: CommandContext, id: string): Promise<string[]> {
  const { url, types, lastSeq } = await (await client()).webhooks.get({ webhookId: id });
  return [`  ${id}  ${url}`, `  ${types === null ? 'all events' : types.join(', ')}; the last one sent is ${lastSeq}`];
}
