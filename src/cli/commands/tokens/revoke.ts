import { argument, command, flag } from '../../command.ts';
import { withoutPassword } from '../../config/location.ts';
import { chooseTarget } from '../../config/target.ts';
import type { CommandContext } from '../../context.ts';
import { usage } from '../../output/words.ts';
import { confirm } from '../../prompts/confirm.ts';
import { change, doneNote, yes } from '../options.ts';

export const tokensRevoke = command({
  path: 'tokens revoke',
  about: 'Revokes a token for ever: its next request is refused. Shows the token and asks first.',
  operation: 'tokens.revoke',
  arguments: { id: argument('<ID>', 'the token, by its id', { field: 'tokenId' }) },
  options: {
    lastAdmin: flag('--last-admin', 'revoke it even if it is the last admin token of the account'),
    yes,
    ...change,
  },
  fields: [{ name: 'id' }, { name: 'revoked' }, { name: 'idempotencyKey' }],
  examples: [
    ['lkm tokens revoke tok_…', 'shows the token and asks'],
    ['lkm tokens revoke tok_… --yes', 'in a script'],
  ],

  async run({ id, yes, lastAdmin }, context) {
    if (!yes && !context.dryRun) await confirmRevoking(context, id);
    const changed = await context.change((client, call) =>
      client.tokens.revoke({ tokenId: id, ...(lastAdmin && { force: true }) }, call),
    );
    const { idempotencyKey } = changed;
    return {
      kind: 'done',
      data: { id, revoked: true, idempotencyKey },
      quiet: [id],
      idempotencyKey,
      notes: [doneNote(changed, `revoked ${id}`)],
    };
  },
});

async function confirmRevoking(context: CommandContext, id: string): Promise<void> {
  await confirm(context, {
    about: context.settings.interactive ? await describeToken(context, id) : [],
    question: `revoke ${id} for ever?`,
    action: `revoking ${id}`,
    flag: '--yes',
  });
}

/** The service, and what the token is. */
async function describeToken({ client, flags, io }: CommandContext, id: string): Promise<string[]> {
  const target = await chooseTarget(flags, io);
  const where = target.kind === 'database' ? withoutPassword(target.db) : target.baseUrl;
  const token = (await (await client()).tokens.list()).items.find((one) => one.id === id);
  if (!token) return [`  ${id}  not in the list of ${where}`];
  const issued = token.maxIssues === null ? `${token.issued} keys` : `${usage(token.issued, token.maxIssues)} keys`;
  return [
    `  ${id}  ${token.name}`,
    `  ${token.kind}: ${token.scopes.join(', ')}`,
    `  has issued ${issued}, at ${where}`,
  ];
}
