import { command, option, required } from '../../command.ts';
import { customerFields } from '../../output/resource-fields.ts';
import { change, doneNote } from '../options.ts';

export const customersCreate = command({
  path: 'customers create',
  about: 'Creates a customer and prints its id.',
  operation: 'customers.create',
  arguments: {},
  options: {
    name: required('--name <NAME>', 'its name', { field: 'name' }),
    email: option('--email <EMAIL>', 'its e-mail address, unique in the account', { field: 'email' }),
    ...change,
  },
  fields: [...customerFields, { name: 'idempotencyKey', shown: 'chosen' }],
  examples: [
    ['lkm customers create --name "Ada Ltd" --email it@ada.example', 'a customer with an address'],
    ['ID=$(lkm customers create --name "Ada Ltd")', 'keep its id'],
  ],

  async run({ name, email }, context) {
    const changed = await context.change((client, call) => client.customers.create({ name, email }, call));
    const { answer, idempotencyKey } = changed;
    return {
      kind: 'value',
      value: answer.id,
      data: { ...answer, idempotencyKey },
      quiet: [answer.id],
      idempotencyKey,
      notes: [doneNote(changed, `created ${answer.name}`)],
    };
  },
});
