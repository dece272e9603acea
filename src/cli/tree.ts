import type { Command, CommandEntry, Declaration } from './command.ts';

/** A group of commands on one resource, named by their first word. */
export interface Group {
  readonly name: string;
  readonly alias?: string;
  readonly summary: string;
  /** Whether its commands open the database themselves, without the service. */
  readonly isForOperators?: boolean;
}

/** All groups, in the order of the help page. */
export const groups: readonly Group[] = [
  { name: 'keys', alias: 'key', summary: 'issue, inspect, sign and free licence keys' },
  { name: 'devices', alias: 'device', summary: 'see which devices hold the slots of a key' },
  { name: 'sessions', alias: 'session', summary: 'see and end the sessions of floating keys' },
  { name: 'customers', alias: 'customer', summary: 'manage customers' },
  { name: 'products', alias: 'product', summary: 'manage products' },
  { name: 'tokens', alias: 'token', summary: 'manage API tokens' },
  { name: 'jobs', alias: 'job', summary: 'see, resume and retry bulk runs' },
  { name: 'auth', summary: 'log in to services, and choose between them' },
  { name: 'config', summary: 'store values of options' },
  { name: 'signing-keys', alias: 'signing-key', summary: 'manage the keys that sign licence files' },
  { name: 'revocations', alias: 'revocation', summary: 'export the list of revoked licence files' },
  { name: 'events', alias: 'event', summary: 'see what happened' },
  { name: 'webhooks', alias: 'webhook', summary: 'have events sent to other programs' },
  { name: 'audit', summary: 'see who did what, and check that nothing is missing' },
  {
    name: 'db',
    alias: 'database',
    summary: 'inspect, migrate, copy, back up and restore a database',
    isForOperators: true,
  },
  { name: 'idempotency', summary: 'settle requests that never ended', isForOperators: true },
];

/** What stands for the last word of a command. */
const aliases: Readonly<Record<string, string>> = { list: 'ls', delete: 'rm', revoke: 'rm', release: 'rm' };

/** One word that stands for all words of a command. */
const shortcuts: Readonly<Record<string, string>> = {
  'auth login': 'login',
  'auth status': 'whoami',
  'auth logout': 'logout',
};

/** All commands, in the order of the help page. */
export const commandEntries: readonly CommandEntry[] = [
  entry('quickstart', 'take the whole tour in a second, without a server', () => import('./commands/quickstart.ts')),
  entry('serve', 'run the service on a database', () => import('./commands/serve.ts')),
  entry('keys create', 'issue a licence key', () => import('./commands/keys/create.ts')),
  entry('keys get', 'show a key with its devices and its customer', () => import('./commands/keys/get.ts')),
  entry('keys list', 'list keys, newest first, by what they are or belong to', () => import('./commands/keys/list.ts')),
  entry(
    'keys import',
    'take in keys of another system, with customers and devices',
    () => import('./commands/keys/move.ts'),
  ),
  entry(
    'keys export',
    'write keys as import reads them, with customers and devices',
    () => import('./commands/keys/move.ts'),
  ),
  entry('keys why', 'explain whether a device may use a key', () => import('./commands/keys/why.ts')),
  entry('keys update', 'change limits, expiry, customer and more of a key', () => import('./commands/keys/update.ts')),
  entry('keys renew', "extend a key's expiry", () => import('./commands/keys/renew.ts')),
  entry('keys transfer', 'give a key to another customer', () => import('./commands/keys/renew.ts')),
  entry('keys activate', 'make a host a device of a key', () => import('./commands/keys/slots.ts')),
  entry('keys deactivate', 'free one device of a key, or all', () => import('./commands/keys/slots.ts')),
  entry('keys rebind', 'move the slot of a device to another host', () => import('./commands/keys/slots.ts')),
  entry('keys sign', 'make an offline licence file for a device', () => import('./commands/keys/sign.ts')),
  entry('keys verify', 'check a licence file', () => import('./commands/keys/verify.ts')),
  entry('keys checkout', 'lease a session of a floating key', () => import('./commands/keys/seats.ts')),
  entry('keys heartbeat', 'prolong the lease of a session', () => import('./commands/keys/seats.ts')),
  entry('keys checkin', 'give the seat of a session back', () => import('./commands/keys/seats.ts')),
  entry('keys block', 'block keys', () => import('./commands/keys/several.ts')),
  entry('keys unblock', 'make blocked keys usable again', () => import('./commands/keys/several.ts')),
  entry('keys delete', 'delete keys for ever', () => import('./commands/keys/several.ts')),
  entry('devices list', 'list the devices of a key', () => import('./commands/devices-and-sessions.ts')),
  entry('sessions list', 'list the sessions of floating keys', () => import('./commands/devices-and-sessions.ts')),
  entry('sessions release', 'end a session', () => import('./commands/devices-and-sessions.ts')),
  entry('keys history', 'show what happened to a key', () => import('./commands/keys/history.ts')),
  entry('customers list', 'list customers', () => import('./commands/customers.ts')),
  entry('customers get', 'show a customer, by id or e-mail address', () => import('./commands/customers.ts')),
  entry('customers create', 'create a customer', () => import('./commands/customers.ts')),
  entry('customers import', 'create a customer for each row of a file', () => import('./commands/customers.ts')),
  entry(
    'customers update',
    'rename a customer, change its address, stop or resume its keys',
    () => import('./commands/customers.ts'),
  ),
  entry('customers keys', 'list the keys of a customer', () => import('./commands/customers.ts')),
  entry('customers delete', 'delete customers for ever', () => import('./commands/customers-delete.ts')),
  entry('products list', 'list products', () => import('./commands/products.ts')),
  entry('products get', 'show a product', () => import('./commands/products.ts')),
  entry('products create', 'create a product', () => import('./commands/products.ts')),
  entry('products update', 'rename a product, or stop or resume its keys', () => import('./commands/products.ts')),
  entry('products versions', 'list the versions of a product', () => import('./commands/products.ts')),
  entry('products add-version', 'add a version to a product', () => import('./commands/products.ts')),
  entry(
    'products update-version',
    'let a version be given to keys, or no more',
    () => import('./commands/products.ts'),
  ),
  entry('tokens list', 'list tokens, without their secrets', () => import('./commands/tokens.ts')),
  entry('tokens show', 'show a token, without its secret', () => import('./commands/tokens.ts')),
  entry('tokens create', 'create a token; it is shown once', () => import('./commands/tokens.ts')),
  entry('tokens rotate', 'replace a token by a new one; both work for a while', () => import('./commands/tokens.ts')),
  entry('tokens check', 'find tokens in a text, and typing errors in them', () => import('./commands/tokens-check.ts')),
  entry('tokens revoke', 'revoke a token', () => import('./commands/tokens.ts')),
  entry(
    'stats',
    'count keys by product and status, and what was issued each week',
    () => import('./commands/stats.ts'),
  ),
  entry('forecast', 'show which keys expire', () => import('./commands/forecast.ts')),
  entry('signing-keys list', 'list signing keys', () => import('./commands/signing-keys.ts')),
  entry(
    'signing-keys rotate',
    'make a new signing key, which signs from then on',
    () => import('./commands/signing-keys.ts'),
  ),
  entry(
    'signing-keys export',
    'write the public keys, for software that verifies',
    () => import('./commands/signing-keys.ts'),
  ),
  entry(
    'revocations export',
    'write the signed list of revoked licence files',
    () => import('./commands/signing-keys.ts'),
  ),
  entry('events list', 'list events, oldest first', () => import('./commands/events-and-audit/events.ts')),
  entry('events tail', 'print events as they happen', () => import('./commands/events-and-audit/events.ts')),
  entry('events diff', 'list what a program has missed', () => import('./commands/events-and-audit/events.ts')),
  entry('audit list', 'list the audit log, oldest first', () => import('./commands/events-and-audit/audit.ts')),
  entry(
    'audit verify',
    'check that no row was changed or is missing',
    () => import('./commands/events-and-audit/verify.ts'),
  ),
  entry(
    'audit export',
    'write it to files that others can verify',
    () => import('./commands/events-and-audit/export.ts'),
  ),
  entry('webhooks list', 'list webhooks, without their secrets', () => import('./commands/webhooks/webhooks.ts')),
  entry('webhooks get', 'show a webhook', () => import('./commands/webhooks/webhooks.ts')),
  entry(
    'webhooks create',
    'have events sent to a URL; the secret is shown once',
    () => import('./commands/webhooks/webhooks.ts'),
  ),
  entry(
    'webhooks update',
    'change a webhook, stop it, or let it go on',
    () => import('./commands/webhooks/webhooks.ts'),
  ),
  entry('webhooks delete', 'delete a webhook', () => import('./commands/webhooks/webhooks.ts')),
  entry('webhooks test', 'send a ping, and show what came of it', () => import('./commands/webhooks/deliveries.ts')),
  entry('webhooks rotate', 'make a new secret; it is shown once', () => import('./commands/webhooks/webhooks.ts')),
  entry(
    'webhooks deliveries',
    'list what was sent, and what came of it',
    () => import('./commands/webhooks/deliveries.ts'),
  ),
  entry('webhooks replay', 'send events once more', () => import('./commands/webhooks/deliveries.ts')),
  entry(
    'webhooks listen',
    'forward events to a program on this machine',
    () => import('./commands/webhooks/listen.ts'),
  ),
  entry('auth login', 'store a token for a service', () => import('./commands/auth-login.ts')),
  entry('auth status', 'show the service and the token in use', () => import('./commands/auth.ts')),
  entry('auth list', 'list the profiles', () => import('./commands/auth.ts')),
  entry('auth switch', 'make a profile the current one', () => import('./commands/auth.ts')),
  entry('auth logout', 'forget a profile and its token', () => import('./commands/auth.ts')),
  entry('config list', 'list the settings', () => import('./commands/config.ts')),
  entry('config get', 'print the value of a setting', () => import('./commands/config.ts')),
  entry('config set', 'store the value of a setting', () => import('./commands/config.ts')),
  entry('config unset', 'forget the value of a setting', () => import('./commands/config.ts')),
  entry('config path', 'print where they are stored', () => import('./commands/config.ts')),
  entry('jobs list', 'list bulk runs', () => import('./commands/jobs.ts')),
  entry('jobs show', 'show the rows of a bulk run', () => import('./commands/jobs.ts')),
  entry('jobs resume', 'send the rows of a bulk run that are open', () => import('./commands/jobs.ts')),
  entry('jobs retry', 'send the failed rows of a bulk run once more', () => import('./commands/jobs.ts')),
  entry('db status', 'show how far the schema has come', () => import('./commands/db/status.ts')),
  entry('db migrate', 'bring the schema up to date', () => import('./commands/db/migrate.ts')),
  entry('db copy', 'copy everything into another, empty database', () => import('./commands/db/copy.ts')),
  entry('db backup', 'write it into one file, while it is served', () => import('./commands/db/backup.ts')),
  entry('db restore', 'put a backup in its place, or try one', () => import('./commands/db/restore.ts')),
  entry('db rekey', 'put the secrets under another master key', () => import('./commands/db/rekey.ts')),
  entry('idempotency list', 'list requests that are in progress', () => import('./commands/idempotency.ts')),
  entry('idempotency resolve', 'say what became of one', () => import('./commands/idempotency.ts')),
  entry('idempotency history', 'list what was resolved, how and by whom', () => import('./commands/idempotency.ts')),
  entry('doctor', 'find out what is wrong here, and what to do', () => import('./commands/doctor/doctor.ts')),
  entry('api', 'send any request, and print the response', () => import('./commands/api/api.ts')),
  entry('completion', 'make TAB complete commands, options and values', () => import('./commands/completion.ts')),
  entry('explain', 'explain an error or an exit code', () => import('./commands/explain.ts')),
  entry('version', 'show the versions of lkm, Node.js and the contract', () => import('./commands/version.ts')),
  entry('help', 'explain a command or a topic', () => import('./commands/help.ts')),
];

/** A command by its words, whose file is loaded when it is typed: `signing-keys list` is its export `signingKeysList`. */
function entry<Path extends string>(
  path: Path,
  summary: string,
  load: () => Promise<{ readonly [Name in ExportName<Path>]: Declaration }>,
): CommandEntry {
  const [verb = '', group] = path.split(' ').reverse();
  const alias = group === undefined ? undefined : aliases[verb];
  const shortcut = shortcuts[path];
  const name = path.replaceAll(/[ -](\w)/g, (_, letter: string) => letter.toUpperCase()) as ExportName<Path>;
  return {
    path,
    summary,
    ...(alias !== undefined && { alias }),
    ...(shortcut !== undefined && { shortcut }),
    load: async (): Promise<Command> => ({ path, ...(await load())[name] }),
  };
}

type ExportName<Path extends string> = Path extends `${infer Word} ${infer More}`
  ? `${ExportName<Word>}${Capitalize<ExportName<More>>}`
  : Path extends `${infer Part}-${infer More}`
    ? `${Part}${Capitalize<ExportName<More>>}`
    : Path;
