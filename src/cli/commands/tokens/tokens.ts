import { scopes, tokenKinds } from '../../../contract/scopes.ts';
import type { Token } from '../../../contract/tokens.ts';
import { argument, change, command, flag, many, option, required, yes } from '../../command.ts';
import { withoutPassword } from '../../config/location.ts';
import type { CommandContext } from '../../context.ts';
import { UsageError } from '../../failure/errors.ts';
import { type CommandResult, type Field, listOf } from '../../output/result.ts';
import { doneNote } from '../../output/terminal.ts';
import { moment, nothing, relative, usage } from '../../output/words.ts';
import { confirm } from '../../prompts/questions.ts';
import type { Changed } from '../../request/changes.ts';
import { chooseTarget } from '../../request/target.ts';
import { parseExpiry } from '../../values/instant.ts';
import { parseCount, parsePositive } from '../../values/scalars.ts';

export const tokenFields: readonly Field[] = [
  { name: 'id' },
  { name: 'name', cuts: true },
  { name: 'kind' },
  {
    name: 'expiresAt',
    label: 'expires',
    show: (value, now) => (value === null ? 'never' : relative(value, now)),
    drops: 2,
  },
  {
    name: 'revokedAt',
    label: 'revoked',
    show: (value, now) => (value === null ? 'no' : relative(value, now)),
    drops: 3,
  },
  { name: 'issued', show: (issued, _, { maxIssues }) => issuedOf(issued, maxIssues), drops: 1 },
  { name: 'scopes', show: listScopes, shown: 'chosen' },
  { name: 'productIds', shown: 'chosen' },
  { name: 'networks', shown: 'chosen' },
  { name: 'rateLimit', label: 'per minute', shown: 'chosen' },
  { name: 'lastUsedOn', label: 'last used', shown: 'chosen' },
  { name: 'maxIssues', shown: 'data' },
  { name: 'createdAt', shown: 'data' },
];

export const tokensList = command({
  about: 'Lists the tokens of the account, oldest first, revoked ones included; never their secrets.',
  operation: 'tokens.list',
  watchable: true,
  fields: tokenFields,
  examples: [
    ['lkm tokens list', 'all of them'],
    ['lkm tokens list --fields id,kind,scopes --json', 'what each may do'],
  ],

  async run(_, context) {
    const client = await context.client();
    const { items: tokens } = await client.tokens.list();
    return listOf(tokens, 'no tokens yet; lkm tokens create makes one');
  },
});

export const tokensCreate = command({
  about: 'Creates an API token and prints it, this once. It may do no more than the token that creates it.',
  operation: 'tokens.create',
  options: {
    name: required('--name <NAME>', 'what it is for', { field: 'name' }),
    kind: required('--kind <KIND>', 'what it is', { field: 'kind', choices: tokenKinds }),
    scope: many('--scope <SCOPE>', 'what a scoped token may do', { field: 'scopes', choices: scopes }),
    product: many('--product <ID>', 'a product it may touch; all unless given', {
      field: 'productIds',
      takesList: true,
    }),
    maxIssues: option('--max-issues <N>', 'how many keys it may create', { parse: parseCount, field: 'maxIssues' }),
    network: many('--network <CIDR>', 'a network it may be used from; any unless given', {
      field: 'networks',
      takesList: true,
    }),
    rateLimit: option('--rate-limit <N>', 'how many requests it may make per minute', {
      parse: parsePositive,
      field: 'rateLimit',
    }),
    expires: expiresOption('90 days, or with the token that creates it'),
    ...change,
  },
  fields: [{ name: 'token' }, ...tokenFields, { name: 'idempotencyKey', shown: 'chosen' }],
  examples: [
    ['TOKEN=$(lkm tokens create --db lkm.db --create --kind admin --name ci)', 'the first token of a database'],
    ['lkm tokens create --kind scoped --scope license:write --name shop', 'a token that only sells'],
    [
      'lkm tokens create --kind client --name app --product prod_… --expires never',
      'for an application that is shipped',
    ],
    ['lkm tokens create --kind admin --name ci --network 203.0.113.0/24', 'useless from anywhere else'],
  ],

  async run({ name, kind, scope, product, network, maxIssues, rateLimit, expires }, context) {
    if ((kind === 'scoped') !== (scope !== undefined)) {
      throw new UsageError('--kind scoped needs --scope, once or more; other kinds take none');
    }
    const input = { name, kind, scopes: scope, productIds: product, networks: network };
    const changed = await context.change((client, call) =>
      client.tokens.create({ ...input, maxIssues, rateLimit, expiresAt: expires }, call),
    );
    return createdToken(changed);
  },
});

/** When a new token expires; without it `otherwise`. */
export function expiresOption(otherwise: string) {
  return option(
    '--expires <WHEN>',
    `a day, or a time from now such as 90d, 6mo, 1y (to the end of that day, UTC), 12h; an instant; or never (${otherwise})`,
    { parse: parseExpiry, field: 'expiresAt' },
  );
}

export const tokensRevoke = command({
  about: 'Revokes a token for ever: its next request is refused. Shows the token and asks first.',
  operation: 'tokens.revoke',
  arguments: { id: argument('<ID>', 'the token, by its id', { field: 'tokenId', pick: 'token' }) },
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

/** A new token as the result of a command: the one time that it is shown. */
export function createdToken<
  T extends { readonly id: string; readonly token: string } & Pick<Token, 'kind' | 'expiresAt'>,
>(changed: Changed<T>, ...hints: readonly string[]): CommandResult {
  const { answer, idempotencyKey } = changed;
  const end = answer.expiresAt === null ? 'never expires' : `expires ${moment(answer.expiresAt)}`;
  return {
    kind: 'value',
    value: answer.token,
    data: { ...answer, idempotencyKey },
    quiet: [answer.token],
    secrets: [answer.token],
    secret: true,
    idempotencyKey,
    notes: [
      doneNote(changed, `created ${answer.id} · ${answer.kind} · ${end}`),
      ...[...hints, 'keep it now: it is not shown again'].map((text) => ({ tone: 'hint', text }) as const),
    ],
  };
}

/** The lines above the question: what the token is, and of which service. */
async function describeToken({ client, flags, io }: CommandContext, id: string): Promise<string[]> {
  const target = await chooseTarget(flags, io);
  const where = target.kind === 'database' ? withoutPassword(target.db) : target.baseUrl;
  const token = (await (await client()).tokens.list()).items.find((one) => one.id === id);
  if (!token) return [`  ${id}  not in the list of ${where}`];
  return [
    `  ${id}  ${token.name}`,
    `  ${token.kind}: ${token.scopes.join(', ')}`,
    token.issued == null
      ? `  at ${where}`
      : `  has issued ${issuedOf(token.issued, token.maxIssues)} keys, at ${where}`,
  ];
}

function issuedOf(issued: unknown, max: unknown): string {
  if (issued === null) return nothing;
  return max === null ? String(issued) : usage(issued, max);
}

function listScopes(scopes: unknown): string {
  return Array.isArray(scopes) ? scopes.join(', ') : nothing;
}
