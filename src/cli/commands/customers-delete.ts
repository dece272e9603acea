import type { Client } from '../../client/client.ts';
import { listAll } from '../../client/lists.ts';
import type { Customer } from '../../contract/customers.ts';
import { ApiError } from '../../contract/errors.ts';
import { argumentList, change, command, option, yes } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { NotFoundError, UsageError } from '../failure/errors.ts';
import { confirmByTyping } from '../prompts/questions.ts';
import type { NamedChange } from '../request/send-each.ts';

export const customersDelete = command({
  about:
    'Deletes customers for ever. Their keys stay valid, without a customer; those of an inactive customer are blocked. ' +
    'With several IDs, all are looked up before the first is deleted.',
  operation: 'customers.delete',
  arguments: { ids: argumentList('<ID...>', 'the customers to delete', { field: 'customerId' }) },
  options: {
    confirm: option('--confirm <ID>', 'the id once more, instead of typing it when asked'),
    yes,
    ...change,
  },
  fields: [{ name: 'id' }, { name: 'deleted' }, { name: 'error' }, { name: 'idempotencyKey', shown: 'chosen' }],
  examples: [
    ['lkm customers delete cus_…', 'shows the customer and asks for its id'],
    ['lkm customers delete cus_… --confirm cus_…', 'in a script'],
  ],

  async run({ ids, confirm, yes, idempotencyKey }, context) {
    checkArguments(ids, { confirm, idempotencyKey });
    const needsConfirmation = !yes && confirm === undefined && !context.dryRun;
    const needsLookup =
      (needsConfirmation && context.settings.interactive) || (ids.length > 1 && !needsConfirmation && !context.dryRun);
    const customers = needsLookup ? await lookUp(await context.client(), ids) : new Map();
    if (needsConfirmation) await confirmEach(context, ids, customers);
    const { prepareEach, sendEach, summaryOf } = await import('../request/send-each.ts');
    const changes = await prepareEach(
      context,
      ids.map((customerId) => ({
        name: customerId,
        send: (client, call) => client.customers.delete({ customerId }, call),
      })),
    );
    if (ids.length > 1) checkExist(changes, customers);
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
  const seen = new Set<string>();
  const twice = ids.find((id) => seen.size === seen.add(id).size);
  if (twice !== undefined) throw new UsageError(`${twice} is given twice`, ['Nothing was sent.']);
  if (ids.length > 1 && idempotencyKey !== undefined) {
    throw new UsageError('one idempotency key stands for one request: give one ID with it');
  }
  if (confirm !== undefined && (ids.length > 1 || confirm !== ids[0])) {
    throw new UsageError(`--confirm ${confirm} is not the one customer to delete`, ['Nothing was sent.']);
  }
}

type Customers = ReadonlyMap<string, Customer>;

/** Those of the customers that exist, by their ids: one is asked for, several are found in the list. */
async function lookUp(client: Client, ids: readonly string[]): Promise<Customers> {
  const [id] = ids;
  if (id !== undefined && ids.length === 1) return findOne(client, id);
  const wanted = new Set(ids);
  const found = new Map<string, Customer>();
  for await (const customer of listAll(client.customers.list, {})) {
    if (wanted.has(customer.id)) found.set(customer.id, customer);
    if (found.size === wanted.size) break;
  }
  return found;
}

async function findOne(client: Client, customerId: string): Promise<Customers> {
  try {
    return new Map([[customerId, await client.customers.get({ customerId })]]);
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'customerNotFound') return new Map();
    throw error;
  }
}

/** All are confirmed before the first is deleted. */
async function confirmEach(context: CommandContext, ids: readonly string[], customers: Customers): Promise<void> {
  for (const id of ids) {
    const customer = customers.get(id);
    const who = customer
      ? `${customer.name}${customer.email ? ` <${customer.email}>` : ''}`
      : 'no customer that the service knows';
    await confirmByTyping(context, id, {
      about: [
        'this removes the customer for ever:',
        `  ${id}  ${who}`,
        ...(customer ? await whatBecomesOfKeys(await context.client(), customer) : []),
      ],
      action: `deleting ${id}`,
      flag: ids.length === 1 ? `--confirm ${id}` : '--yes',
    });
  }
}

/** How many keys lose their customer, and whether they go on; nothing where there are none, or where the token sees none. */
async function whatBecomesOfKeys(client: Client, { id, active }: Customer): Promise<string[]> {
  try {
    const { meta } = await client.customers.keys({ customerId: id, limit: 1 });
    if (meta.total === 0) return [];
    return [
      active
        ? `keys that lose their customer: ${meta.total}`
        : `keys that are blocked, as it is inactive: ${meta.total}`,
    ];
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'scopeMissing') return [];
    throw error;
  }
}

/** Checks that all customers exist, except those that an earlier run of this command may have deleted. */
function checkExist(changes: readonly NamedChange[], customers: Customers): void {
  const missing = changes.filter(({ name, repeats }) => !customers.has(name) && !repeats);
  if (missing.length === 0) return;
  throw new NotFoundError(`there is no customer ${missing.map(({ name }) => name).join(', ')}`, [
    'Nothing was sent: none of the others was deleted.',
    ['See them:', 'lkm customers list'],
  ]);
}
