import { argument, command, flag } from '../../command.ts';
import { change } from '../options.ts';

export const tokensRevoke = command({
  path: 'tokens revoke',
  about: 'Revokes a token: its next request is refused.',
  operation: 'tokens.revoke',
  arguments: { id: argument('<ID>', 'the token, by its id', { field: 'tokenId' }) },
  options: {
    lastAdmin: flag('--last-admin', 'revoke it even if it is the last admin token of the account'),
    ...change,
  },
  fields: [{ name: 'id' }, { name: 'revoked' }, { name: 'idempotencyKey' }],
  examples: [['lkm tokens revoke tok_…', 'whoever uses it is shut out at once']],

  async run({ id, lastAdmin }, context) {
    const { idempotencyKey } = await context.change((client, call) =>
      client.tokens.revoke({ tokenId: id, ...(lastAdmin && { force: true }) }, call),
    );
    return {
      kind: 'done',
      data: { id, revoked: true, idempotencyKey },
      quiet: [id],
      idempotencyKey,
      notes: [{ tone: 'done', text: `revoked ${id}` }],
    };
  },
});
