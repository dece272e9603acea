import { command, option, required } from '../../command.ts';
import { customerFields } from '../../output/customer-fields.ts';
import { change } from '../options.ts';

export const customersCreate = command({
  path: 'customers create',
  about: 'Creates a customer.',
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
    ['ID=$(lkm customers create --name "Ada Ltd" -q)', 'its id alone'],
  ],

  async run({ name, email }, context) {
    const { answer, idempotencyKey } = await context.change((client, call) =>
      client.customers.create({ name, email }, call),
    );
    return {
      kind: 'record',
      row: answer,
      data: { ...answer, idempotencyKey },
      quiet: [answer.id],
      idempotencyKey,
      notes: [{ tone: 'done', text: `created ${answer.id}` }],
    };
  },
});
