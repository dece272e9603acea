import type { Scope, TokenKind } from '../../../contract/scopes.ts';
import { command, many, option, required } from '../../command.ts';
import { UsageError } from '../../failure/errors.ts';
import { tokenFields } from '../../output/token-fields.ts';
import { moment } from '../../output/words.ts';
import { parseCount } from '../../values/count.ts';
import { parseEnd } from '../../values/expiry.ts';
import { change } from '../options.ts';

export const tokensCreate = command({
  path: 'tokens create',
  about: 'Creates an API token and prints it, this once. It may do no more than the token that creates it.',
  operation: 'tokens.create',
  arguments: {},
  options: {
    name: required('--name <NAME>', 'what it is for', { field: 'name' }),
    kind: required('--kind <KIND>', 'admin, read-only, client or scoped', { field: 'kind' }),
    scope: many('--scope <SCOPE>', 'what a scoped token may do, such as license:read', { field: 'scopes' }),
    product: many('--product <ID>', 'the only product it may touch', { field: 'productIds' }),
    maxIssues: option('--max-issues <N>', 'how many keys it may create', { parse: parseCount, field: 'maxIssues' }),
    expires: option(
      '--expires <WHEN>',
      'a day, or days or years from now such as 90d (to the end of that day, UTC); an instant; or 12h',
      {
        parse: parseEnd,
        field: 'expiresAt',
      },
    ),
    ...change,
  },
  fields: [{ name: 'token' }, ...tokenFields, { name: 'idempotencyKey', shown: 'chosen' }],
  examples: [
    ['TOKEN=$(lkm tokens create --db lkm.db --create --kind admin --name ci -q)', 'the first token of a database'],
    ['lkm tokens create --kind scoped --scope license:write --name shop', 'a token that only sells'],
  ],

  async run({ name, kind, scope, product, maxIssues, expires }, context) {
    if ((kind === 'scoped') !== (scope !== undefined)) {
      throw new UsageError('--scope goes with --kind scoped, and only with it');
    }
    const input = { name, kind: kind as TokenKind, scopes: scope as Scope[] | undefined, productIds: product };
    const { answer, idempotencyKey } = await context.change((client, call) =>
      client.tokens.create({ ...input, maxIssues, expiresAt: expires }, call),
    );
    const end = expires === undefined ? 'never expires' : `expires ${moment(expires)}`;
    return {
      kind: 'value',
      value: answer.token,
      data: { ...answer, idempotencyKey },
      quiet: [answer.token],
      secret: true,
      idempotencyKey,
      notes: [
        { tone: 'done', text: `created ${answer.id} · ${answer.kind} · ${end}` },
        { tone: 'hint', text: 'keep it now: it is not shown again' },
      ],
    };
  },
});
