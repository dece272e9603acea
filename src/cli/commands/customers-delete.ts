import type { Client } from '../../client/client.ts';
import { listAll } from '../../client/lists.ts';
import type { Customer } from '../../contract/customers.ts';
import { argumentList, change, command, option, yes } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { NotFoundError, UsageError } from '../failure/errors.ts';
import { confirmByTyping } from '../prompts/questions.ts';
import { unlessRefused } from './forms.ts';

export const customersDelete = command({
  about:
    'Deletes customers for ever. Their keys stay valid, without a customer; those of an inactive customer are blocked. ' +
    'With several IDs, all are looked up before the first is deleted.',
  operation: 'customers.delete',
  arguments: { ids: argumentList('<ID...>', 'the customers to delete', { field: 'customerId' }) },
  options: { confirm: option('--confirm <ID>', 'the id once more, instead of typing it when asked'), yes, ...change },
  fields: ['id', 'deleted', 'error', { name: 'idempotencyKey', shown: 'chosen' }],
  examples: [
    ['lkm customers delete cus_…', 'shows the customer and asks for its id'],
    ['lkm customers delete cus_… --confirm cus_…', 'in a script'],
  ],

  async run({ ids, confirm, yes, idempotencyKey }, context) {
    checkArguments(ids, { confirm, idempotencyKey });
    const asks = !yes && confirm === undefined && !context.dryRun;
    const needsLookup = asks ? context.settings.interactive : ids.length > 1 && !context.dryRun;
    const customers = needsLookup ? await lookUp(await context.client(), ids) : new Map<string, Customer>();
    // All are confirmed before the first is deleted.
    if (asks) for (const id of ids) await confirmOne(context, id, customers.get(id), ids.length === 1);
    const { prepareEach, sendEach, summaryOf } = await import('../request/send-each.ts');
    const changes = await prepareEach(
      context,
      ids.map((customerId) => ({
        name: customerId,
        send: (client, call) => client.customers.delete({ customerId }, call),
      })),
    );
    // An earlier run of this command may have deleted those that it repeats.
    const missing = changes.filter(({ name, repeats }) => !customers.has(name) && !repeats).map(({ name }) => name);
    if (ids.length > 1 && missing.length > 0) {
      throw new NotFoundError(`there is no customer ${missing.join(', ')}`, [
        'Nothing was sent: none of the others was deleted.',
        ['See them:', 'lkm customers list'],
      ]);
    }
    const words = { done: 'deleted', noun: 'customer' };
    const sent = await sendEach(context, changes, words);
    return {
      kind: 'done',
      data: sent.map(({ name: id, done: deleted, error, idempotencyKey }) => ({ id, deleted, error, idempotencyKey })),
      quiet: sent.filter(({ done }) => done).map(({ name }) => name),
      ...(changes[0] && { idempotencyKey: changes[0].idempotencyKey }),
      ...summaryOf(sent, words),
    };
  },
});

function checkArguments(
  ids: readonly string[],
  { confirm, idempotencyKey }: { confirm: string | undefined; idempotencyKey: string | undefined },
): void {
  const twice = ids.find((id, at) => ids.indexOf(id) < at);
  if (twice !== undefined) throw new UsageError(`${twice} is given twice`, ['Nothing was sent.']);
  if (ids.length > 1 && idempotencyKey !== undefined) {
    throw new UsageError('one idempotency key stands for one request: give one ID with it');
  }
  if (confirm !== undefined && (ids.length > 1 || confirm !== ids[0])) {
    throw new UsageError(`--confirm ${confirm} is not the one customer to delete`, ['Nothing was sent.']);
  }
}

/** Those of the customers that exist, by their ids: one is asked for, several are found in the list. */
async function lookUp(client: Client, ids: readonly string[]): Promise<ReadonlyMap<string, Customer>> {
  const [customerId = ''] = ids;
  const found = new Map<string, Customer>();
  if (ids.length === 1) {
    const customer = await unlessRefused('customerNotFound', client.customers.get({ customerId }));
    return customer === null ? found : found.set(customerId, customer);
  }
  for await (const customer of listAll(client.customers.list, {})) {
    if (ids.includes(customer.id)) found.set(customer.id, customer);
    if (found.size === ids.length) break;
  }
  return found;
}

async function confirmOne(
  context: CommandContext,
  id: string,
  customer: Customer | undefined,
  isOnly: boolean,
): Promise<void> {
  const email = customer?.email ? ` <${customer.email}>` : '';
  await confirmByTyping(context, id, {
    about: [
      'this removes the customer for ever:',
      `  ${id}  ${customer ? `${customer.name}${email}` : 'no customer that the service knows'}`,
      ...(customer ? await whatBecomesOfKeys(await context.client(), customer) : []),
    ],
    action: `deleting ${id}`,
    flag: isOnly ? `--confirm ${id}` : '--yes',
  });
}

/** How many keys lose their customer, and whether they go on; nothing where there are none, or where the token sees none. */
async function whatBecomesOfKeys(client: Client, { id, active }: Customer): Promise<string[]> {
  const found = await unlessRefused('scopeMissing', client.customers.keys({ customerId: id, limit: 1 }));
  const total = found?.meta.total ?? 0;
  if (total === 0) return [];
  return [active ? `keys that lose their customer: ${total}` : `keys that are blocked, as it is inactive: ${total}`];
}
