import { scopes, tokenKinds } from '../../../contract/scopes.ts';
import { command, many, option, required } from '../../command.ts';
import { UsageError } from '../../failure/errors.ts';
import { tokenFields } from '../../output/resource-fields.ts';
import { moment } from '../../output/words.ts';
import { parseCount } from '../../values/numbers.ts';
import { parseEnd } from '../../values/time.ts';
import { change, doneNote } from '../options.ts';

export const tokensCreate = command({
  path: 'tokens create',
  about: 'Creates an API token and prints it, this once. It may do no more than the token that creates it.',
  operation: 'tokens.create',
  arguments: {},
  options: {
    name: required('--name <NAME>', 'what it is for', { field: 'name' }),
    kind: required('--kind <KIND>', 'what it is', { field: 'kind', choices: tokenKinds }),
    scope: many('--scope <SCOPE>', 'what a scoped token may do', { field: 'scopes', choices: scopes }),
    product: many('--product <ID>', 'the only product it may touch', { field: 'productIds' }),
    maxIssues: option('--max-issues <N>', 'how many keys it may create', { parse: parseCount, field: 'maxIssues' }),
    expires: option(
      '--expires <WHEN>',
      'a day, or a time from now such as 90d, 6mo, 1y (to the end of that day, UTC), 12h; or an instant',
      {
        parse: parseEnd,
        field: 'expiresAt',
      },
    ),
    ...change,
  },
  fields: [{ name: 'token' }, ...tokenFields, { name: 'idempotencyKey', shown: 'chosen' }],
  examples: [
    ['TOKEN=$(lkm tokens create --db lkm.db --create --kind admin --name ci)', 'the first token of a database'],
    ['lkm tokens create --kind scoped --scope license:write --name shop', 'a token that only sells'],
  ],

  async run({ name, kind, scope, product, maxIssues, expires }, context) {
    if ((kind === 'scoped') !== (scope !== undefined)) {
      throw new UsageError('--scope goes with --kind scoped, and only with it');
    }
    const input = { name, kind, scopes: scope, productIds: product };
    const changed = await context.change((client, call) =>
      client.tokens.create({ ...input, maxIssues, expiresAt: expires }, call),
    );
    const { answer, idempotencyKey } = changed;
    const end = expires === undefined ? 'never expires' : `expires ${moment(expires)}`;
    return {
      kind: 'value',
      value: answer.token,
      data: { ...answer, idempotencyKey },
      quiet: [answer.token],
      secret: true,
      idempotencyKey,
      notes: [
        doneNote(changed, `created ${answer.id} · ${answer.kind} · ${end}`),
        { tone: 'hint', text: 'keep it now: it is not shown again' },
      ],
    };
  },
});
