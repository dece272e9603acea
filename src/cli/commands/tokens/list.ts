import { command } from '../../command.ts';
import { tokenFields } from '../../output/resource-fields.ts';

export const tokensList = command({
  path: 'tokens list',
  about: 'Lists the tokens of the account, oldest first, revoked ones included; never their secrets.',
  operation: 'tokens.list',
  arguments: {},
  options: {},
  fields: tokenFields,
  examples: [
    ['lkm tokens list', 'all of them'],
    ['lkm tokens list --fields id,kind,scopes --json', 'what each may do'],
  ],

  async run(_, context) {
    const client = await context.client();
    const { items: tokens } = await client.tokens.list();
    return {
      kind: 'rows',
      rows: tokens,
      data: tokens,
      quiet: tokens.map(({ id }) => id),
      empty: 'no tokens yet; lkm tokens create makes one',
    };
  },
});
