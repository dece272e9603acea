import { argumentList, command, option } from '../../command.ts';
import type { CommandContext } from '../../context.ts';
import { UsageError } from '../../failure/errors.ts';
import { confirmByTyping } from '../../prompts/confirm.ts';
import { change, yes } from '../options.ts';

export const customersDelete = command({
  path: 'customers delete',
  about: 'Deletes customers for ever. Their keys stay valid, without a customer.',
  operation: 'customers.delete',
  arguments: { ids: argumentList('<ID...>', 'the customers to delete', { field: 'customerId' }) },
  options: {
    confirm: option('--confirm <ID>', 'the id once more, instead of typing it when asked'),
    yes,
    ...change,
  },
  fields: [{ name: 'id' }, { name: 'deleted' }, { name: 'idempotencyKey', shown: 'chosen' }],
  examples: [
    ['lkm customers delete cus_…', 'shows the customer and asks for its id'],
    ['lkm customers delete cus_… --confirm cus_…', 'in a script'],
  ],

  async run({ ids, confirm, yes, idempotencyKey }, context) {
    if (ids.length > 1 && idempotencyKey !== undefined) {
      throw new UsageError('one idempotency key stands for one request: give one ID with it');
    }
    if (confirm !== undefined && (ids.length > 1 || confirm !== ids[0])) {
      throw new UsageError(`--confirm ${confirm} is not the one customer to delete`, ['Nothing was sent.']);
    }
    if (!yes && confirm === undefined && !context.dryRun) await confirmEach(context, ids);
    const deleted = [];
    for (const customerId of ids) {
      const change = await context.change((client, call) => client.customers.delete({ customerId }, call));
      await context.say({ tone: 'done', text: `deleted ${customerId}` });
      deleted.push({ id: customerId, deleted: true, idempotencyKey: change.idempotencyKey });
    }
    return { kind: 'done', data: deleted, quiet: ids };
  },
});

/** All are confirmed before the first is deleted. */
async function confirmEach(context: CommandContext, ids: readonly string[]): Promise<void> {
  const customers = context.settings.interactive ? (await (await context.client()).customers.list()).items : [];
  for (const id of ids) {
    const customer = customers.find((one) => one.id === id);
    const who = customer ? `${customer.name}${customer.email ? ` <${customer.email}>` : ''}` : 'not in the list';
    await confirmByTyping(context, id, {
      about: ['this removes the customer for ever:', `  ${id}  ${who}`],
      action: `deleting ${id}`,
      flag: ids.length === 1 ? `--confirm ${id}` : '--yes',
    });
  }
}
