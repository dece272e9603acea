import { scopes, tokenKinds } from '../../contract/scopes.ts';
import type { Token } from '../../contract/tokens.ts';
import { hashToken, mayBeForeignToken } from '../../domain/token.ts';
import { argument, flag, many, option, required } from '../command.ts';
import { readToken } from '../config/token.ts';
import { UsageError } from '../failure/errors.ts';
import type { Field } from '../output/result.ts';
import { EMPTY_CELL, expiry, moment, relative, usage } from '../output/words.ts';
import { unlessRefused } from '../request/look-ups.ts';
import { parseCalendarDuration } from '../values/duration.ts';
import { readWholeText } from '../values/files.ts';
import { readExpiry } from '../values/instant.ts';
import { parseCount, parsePositive } from '../values/scalars.ts';
import { changeCommand, readCommand, showCommand } from './forms.ts';
import { created, doneTo, fieldsShown, issued, listOf, recordOf } from './results.ts';
import { roleNames, type TokenRole, tokenRoles } from './token-roles.ts';

const tokenFields: readonly Field[] = [
  { name: 'id' },
  { name: 'name', cuts: true },
  { name: 'kind' },
  { name: 'expiresAt', label: 'expires', show: (at, now) => (at === null ? 'never' : relative(at, now)), drops: 2 },
  { name: 'revokedAt', label: 'revoked', show: (at, now) => (at === null ? 'no' : relative(at, now)), drops: 3 },
  { name: 'issued', show: (issued, _, { maxIssues }) => issuedOf(issued, maxIssues), drops: 1 },
  { name: 'scopes', show: listOrAny, shown: 'chosen' },
  { name: 'productIds', show: listOrAny, shown: 'chosen' },
  { name: 'networks', show: listOrAny, shown: 'chosen' },
  { name: 'rateLimit', label: 'per minute', show: listOrAny, shown: 'chosen' },
  { name: 'lastUsedOn', label: 'last used', show: (day) => (day === null ? 'never' : String(day)), shown: 'chosen' },
  ...fieldsShown('data', 'maxIssues', 'createdAt'),
];

export const tokensList = readCommand({
  about: 'Lists the tokens of the account, oldest first, revoked ones included; never their secrets.',
  operation: 'tokens.list',
  fields: tokenFields,
  options: { last: option('--last <N>', 'only the last N', parsePositive) },
  examples: [['lkm tokens list --fields id,kind,scopes --json', 'the scopes of each token']],

  async read(client, { last = 0 }) {
    const { items } = await client.tokens.list();
    return listOf(items.slice(-last), 'no tokens yet; lkm tokens create makes one');
  },
});

const tokenArgument = argument('<ID|NAME>', 'the token, by its id or name', {
  field: 'tokenId',
  pick: 'token',
  takesName: true,
});

export const tokensShow = showCommand({
  about: 'Shows one token: what it may do, from where and for how long, and when it was used last. Never its secret.',
  operation: 'tokens.get',
  arguments: { id: tokenArgument },
  fields: tokenFields.map(({ drops: _, shown, ...field }) => {
    if (shown === 'data') return { ...field, shown };
    return field.name === 'expiresAt' ? { ...field, show: expiry } : field;
  }),
  examples: [
    ['lkm tokens show tok_…', 'everything about it'],
    ['lkm tokens show tok_… --json --fields lastUsedOn', 'is it still in use?'],
  ],
  show: recordOf,
});

/** `otherwise` describes the default. */
const expiresOption = (otherwise: string) =>
  option(
    '--expires <WHEN>',
    `when it expires: a day, an instant, a time from now such as 12h, 90d or 1y (days and longer: to the end of that day, UTC), or never (${otherwise})`,
    readExpiry,
  );

const kind = { choices: tokenKinds } as const;

const name = required('--name <NAME>', 'its name, such as the program that uses it');

const tokenOptions = {
  scopes: many('--scope <SCOPE>', 'what a scoped token may do', { choices: scopes }),
  productIds: many('-P, --product <ID>', 'a product it may touch, by its id or name; all unless given', {
    field: 'productIds',
    takesList: true,
  }),
  maxIssues: option('--max-issues <N>', 'how many keys it may create', parseCount),
  networks: many('--network <CIDR>', 'a network it may be used from; any unless given', { takesList: true }),
  rateLimit: option('--rate-limit <N>', 'how many requests it may make per minute', parsePositive),
  expiresAt: expiresOption('90 days, or with the token that creates it'),
};

export const tokensCreate = changeCommand({
  about:
    'Creates an API token and prints it, this once. It may do no more than the token that creates it. --role gives it the ' +
    'scopes that the commands of lkm need for some work.',
  operation: 'tokens.create',
  options: {
    name,
    role: option('--role <ROLE>', 'the scopes for a kind of work, as listed below', {
      choices: roleNames,
      conflicts: 'kind',
    }),
    kind: required('--kind <KIND>', 'the kind of token; not with --role', { ...kind, neededUnless: 'role' }),
    ...tokenOptions,
  },
  terms: { title: 'Roles', rows: roleNames.map((name) => [name, tokenRoles[name].about]) },
  fields: ['token', ...tokenFields],
  examples: [
    ['TOKEN=$(lkm tokens create --db lkm.db --create --kind admin --name ci)', 'the first token of a database'],
    ['lkm tokens create --role support --name "Ada, support"', 'for a colleague'],
    ['lkm tokens create --kind scoped --scope license:write --name shop', 'a token that only issues and changes keys'],
    ['lkm tokens create --kind client --name app --product prod_… --expires never', 'for an application'],
    ['lkm tokens create --kind admin --name ci --network 203.0.113.0/24', 'useless from anywhere else'],
  ],
  prepare({ role, scopes: given = [] }) {
    if (role === undefined) return undefined;
    const { kind, scopes = [] }: TokenRole = tokenRoles[role];
    const all = [...new Set([...scopes, ...given])];
    return { kind, ...(all.length > 0 && { scopes: all }) };
  },
  outcome: (token, { role }) => {
    const rights = role === undefined ? [] : [`it ${tokenRoles[role].about}: ${token.scopes.join(', ')}`];
    return issued(token.token, token, describeNew(token), ...rights);
  },
});

/** Shorter secrets can be guessed: 128 bits are 32 hexadecimal digits. */
const SHORT_SECRET = 32;

export const tokensImport = changeCommand({
  about:
    'Takes in a token that another system has made and that applications have built in, with what it may do here. ' +
    'The service gets its hash only. Prints the id of the token.',
  operation: 'tokens.import',
  arguments: { source: argument('<FILE>', 'a file with the secret, - for stdin') },
  options: { name, kind: required('--kind <KIND>', 'the kind of token', kind), ...tokenOptions },
  fields: tokenFields,
  examples: [
    ['lkm tokens import old.txt --kind client --name app4 --expires never', 'a secret that applications contain'],
  ],
  async prepare({ source }, { io, say }) {
    const { token } = readToken(await readWholeText(source, io), source);
    if (!mayBeForeignToken(token)) {
      throw new UsageError('this is no secret of another system', [
        'It has 16 to 512 characters, does not begin with lkm_, and is no word such as undefined or password.',
      ]);
    }
    if (token.length < SHORT_SECRET) {
      const text = `the secret has ${token.length} characters: whoever tries many finds it; let it do little, and replace it soon`;
      await say({ tone: 'warning', text });
    }
    return { hash: hashToken(token) };
  },
  outcome: (token) => ({ ...created(token, token.name), done: describeNew(token, 'imported') }),
});

export const tokensRotate = changeCommand({
  about:
    'Makes a new token with the name and the rights of another one, and prints it, this once. The replaced one stays ' +
    'valid for a day, or as long as --overlap says. Both spend one budget of keys.',
  operation: 'tokens.rotate',
  arguments: { id: tokenArgument },
  options: {
    overlap: option(
      '--overlap <DUR>',
      'how long the replaced one stays valid, as 12h or 7d; 0s for no time (1d)',
      parseCalendarDuration,
    ),
    expiresAt: expiresOption('as long as the replaced one was valid'),
  },
  fields: ['token', ...tokenFields, ...fieldsShown('data', 'replaces')],
  examples: [
    ['lkm tokens rotate tok_…', 'the old token works for another day'],
    ['lkm tokens rotate tok_… --overlap 0s', 'it has leaked'],
  ],
  outcome: (token, { id }) =>
    issued(token.token, token, describeNew(token), `${id} works until ${moment(token.replaces.expiresAt)}`),
});

export const tokensRevoke = changeCommand({
  about: 'Revokes a token for ever: its next request is refused. Shows the token and asks first.',
  operation: 'tokens.revoke',
  arguments: { id: tokenArgument },
  options: {
    lastAdmin: flag('--last-admin', 'revoke it even if it is the last admin token of the account', { field: 'force' }),
  },
  fields: ['id', 'revoked', 'idempotencyKey'],
  examples: [
    ['lkm tokens revoke tok_…', 'shows the token and asks'],
    ['lkm tokens revoke tok_… --yes', 'in a script'],
  ],

  asks: ({ id }) => ({
    about: async (client) =>
      describeToken(id, await unlessRefused('tokenNotFound', client.tokens.get({ tokenId: id }))),
    question: `revoke ${id} for ever?`,
    action: `revoking ${id}`,
  }),
  outcome: (_, { id }) => doneTo(id, { id, revoked: true }, `revoked ${id}`),
});

const describeNew = ({ id, kind, expiresAt }: Pick<Token, 'id' | 'kind' | 'expiresAt'>, done = 'created'): string =>
  `${done} ${id} · ${kind} · ${expiresAt === null ? 'never expires' : `expires ${moment(expiresAt)}`}`;

function describeToken(id: string, token: Token | null): string[] {
  if (token === null) return [`  ${id}  no token that the service knows`];
  const has = token.issued == null ? [] : [`  has issued ${issuedOf(token.issued, token.maxIssues)} keys`];
  return [`  ${id}  ${token.name}`, `  ${token.kind}: ${token.scopes.join(', ')}`, ...has];
}

function issuedOf(issued: unknown, max: unknown): string {
  if (issued === null) return EMPTY_CELL;
  return max === null ? String(issued) : usage(issued, max);
}

function listOrAny(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ');
  return value === null ? 'any' : String(value);
}
