import type { Command, CommandEntry, Declaration } from './command.ts';

/** A group of commands that share their first word. */
export interface Group {
  readonly name: string;
  readonly alias?: string;
  /** Other names that are understood; no help shows them. */
  readonly synonyms?: readonly string[];
  readonly summary: string;
  /** Whether its commands open the database themselves, without the service. */
  readonly isForOperators?: boolean;
}

/** All groups, in the order of the help page. */
export const groups: readonly Group[] = [
  {
    name: 'keys',
    alias: 'key',
    synonyms: ['license', 'licenses', 'licence', 'licences'],
    summary: 'issue, inspect, sign and free licence keys',
  },
  { name: 'customers', alias: 'customer', summary: 'manage customers' },
  { name: 'devices', alias: 'device', summary: 'see which devices hold slots, and free those that nobody uses' },
  { name: 'sessions', alias: 'session', summary: 'see and end the sessions of floating keys' },
  { name: 'products', alias: 'product', summary: 'manage products' },
  { name: 'plans', alias: 'plan', summary: 'manage plans: limits, terms and features that keys are issued with' },
  { name: 'offline', summary: 'license devices without a network, by files that are carried there and back' },
  { name: 'tokens', alias: 'token', summary: 'manage API tokens' },
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
];

/** Aliases of the last word of a command. */
const aliases: Readonly<Record<string, string>> = { list: 'ls', delete: 'rm', revoke: 'rm', release: 'rm' };

/** Words of other tools for the last word of a command. */
const synonyms: Readonly<Record<string, readonly string[]>> = {
  get: ['show', 'info', 'describe', 'view'],
  show: ['get', 'info', 'describe', 'view'],
  create: ['add', 'new'],
  update: ['edit', 'change'],
  delete: ['remove'],
  block: ['disable', 'suspend'],
  unblock: ['enable'],
  renew: ['extend'],
};

/** One word for a whole command. */
const shortcuts: Readonly<Record<string, string>> = {
  'auth login': 'login',
  'auth status': 'whoami',
  'auth logout': 'logout',
};

const keysMove = () => import('./commands/keys/move.ts');
const keysRenew = () => import('./commands/keys/renew.ts');
const keysSlots = () => import('./commands/keys/slots.ts');
const keysSeats = () => import('./commands/keys/seats.ts');
const keysBlock = () => import('./commands/keys/block.ts');
const stats = () => import('./commands/stats.ts');
const devices = () => import('./commands/devices.ts');
const sessions = () => import('./commands/sessions.ts');
const customers = () => import('./commands/customers.ts');
const products = () => import('./commands/products.ts');
const plans = () => import('./commands/plans.ts');
const offline = () => import('./commands/offline.ts');
const tokens = () => import('./commands/tokens.ts');
const signingKeys = () => import('./commands/signing-keys.ts');
const events = () => import('./commands/events-and-audit/events.ts');
const audit = () => import('./commands/events-and-audit/audit.ts');
const auditExport = () => import('./commands/events-and-audit/export.ts');
const webhooks = () => import('./commands/webhooks/webhooks.ts');
const deliveries = () => import('./commands/webhooks/deliveries.ts');
const webhooksListen = () => import('./commands/webhooks/listen.ts');
const auth = () => import('./commands/auth.ts');
const config = () => import('./commands/config.ts');

/** All commands, in the order of the help page. */
export const commandEntries: readonly CommandEntry[] = [
  entry('quickstart', 'take the whole tour in a second, without a server', () => import('./commands/quickstart.ts')),
  entry('serve', 'run the service on a database', () => import('./commands/serve.ts')),
  entry('keys create', 'issue a licence key', () => import('./commands/keys/create.ts')),
  entry('keys get', 'show a key with its devices and its customer', () => import('./commands/keys/get.ts')),
  entry('keys list', 'list keys, newest first, by what they are or belong to', () => import('./commands/keys/list.ts')),
  entry(
    'find',
    'find customers, keys, devices and orders by any part of what you have',
    () => import('./commands/find.ts'),
  ),
  entry('keys import', 'take in keys of another system, with customers and devices', keysMove),
  entry('keys compare', 'compare the keys of files with those of the service', keysMove),
  entry('keys export', 'write keys as import reads them, with customers and devices', keysMove),
  entry('keys why', 'explain whether a device may use a key', () => import('./commands/keys/why.ts')),
  entry('keys update', 'change limits, expiry, customer and more of a key', () => import('./commands/keys/update.ts')),
  entry('keys renew', "extend a key's expiry", keysRenew),
  entry('keys reissue', 'replace a key by a new one', keysRenew),
  entry('keys transfer', 'give a key to another customer', keysRenew),
  entry('keys trial', 'start the trial of a device', keysSlots),
  entry('keys activate', 'make a host a device of a key', keysSlots),
  entry('keys deactivate', 'free one device of a key, or all', keysSlots),
  entry('keys rebind', 'move the slot of a device to another host', keysSlots),
  entry('keys sign', 'make an offline licence file for a device', () => import('./commands/keys/sign.ts')),
  entry('keys verify', 'check a licence file', () => import('./commands/keys/verify.ts')),
  entry('keys checkout', 'lease a session of a floating key', keysSeats),
  entry('keys heartbeat', 'prolong the lease of a session', keysSeats),
  entry('keys checkin', 'give the seat of a session back', keysSeats),
  entry('keys block', 'block keys', keysBlock),
  entry('keys unblock', 'make blocked keys usable again', keysBlock),
  entry('keys revoke', 'end keys for ever, and keep them', keysBlock),
  entry('keys delete', 'delete keys for ever', keysBlock),
  entry('devices list', 'list the devices of a key, or those that nobody uses', devices),
  entry('devices release', 'free the slots of devices that nobody uses', devices),
  entry('sessions list', 'list the sessions of floating keys', sessions),
  entry('sessions release', 'end a session', sessions),
  entry('keys history', 'show what happened to a key', () => import('./commands/keys/history.ts')),
  entry('customers list', 'list customers', customers),
  entry('customers get', 'show a customer, by id or e-mail address', customers),
  entry('customers create', 'create a customer', customers),
  entry('customers update', 'rename a customer, change its address, stop or resume its keys', customers),
  entry('customers keys', 'list the keys of a customer', customers),
  entry('customers link', 'make a link to the page on which a customer frees devices', customers),
  entry('customers unlink', 'end the links to the page of a customer', customers),
  entry('customers delete', 'delete customers for ever', customers),
  entry('products list', 'list products', products),
  entry('products get', 'show a product', products),
  entry('products create', 'create a product', products),
  entry('products update', 'rename a product, or stop or resume its keys', products),
  entry('products versions', 'list the versions of a product', products),
  entry('products add-version', 'add a version to a product', products),
  entry('products update-version', 'let a version be given to keys, or no more', products),
  entry('plans list', 'list plans', plans),
  entry('plans get', 'show a plan', plans),
  entry('plans create', 'create a plan', plans),
  entry('plans update', 'change a plan: the features of all its keys, the rest of new ones', plans),
  entry('offline request', 'on the device: ask for a licence file', offline),
  entry('offline answer', 'with the service: sign the licence file that was asked for', offline),
  entry('offline release', 'on the device: sign that it gives up its licence', offline),
  entry('offline accept', 'with the service: free the slot of a device that has signed so', offline),
  entry('tokens list', 'list tokens, without their secrets', tokens),
  entry('tokens show', 'show a token, without its secret', tokens),
  entry('tokens create', 'create a token; it is shown once', tokens),
  entry('tokens import', 'take in a token that applications have built in', tokens),
  entry('tokens rotate', 'replace a token by a new one; both work for a while', tokens),
  entry('tokens check', 'find tokens in a text, and typing errors in them', () => import('./commands/tokens-check.ts')),
  entry('tokens revoke', 'revoke a token', tokens),
  entry('stats', 'count keys by product and status, and what was issued each week', stats),
  entry('signing-keys list', 'list signing keys', signingKeys),
  entry('signing-keys rotate', 'make a new signing key, which signs from then on', signingKeys),
  entry('signing-keys export', 'write the public keys, for software that verifies', signingKeys),
  entry('revocations export', 'write the signed list of revoked licence files', signingKeys),
  entry('events list', 'list events, oldest first', events),
  entry('events tail', 'print events as they happen', events),
  entry('audit list', 'list the audit log, oldest first', audit),
  entry('audit verify', 'check that no row was changed or is missing', audit),
  entry('audit export', 'write it to files that others can verify', auditExport),
  entry('webhooks list', 'list webhooks, without their secrets', webhooks),
  entry('webhooks get', 'show a webhook', webhooks),
  entry('webhooks create', 'have events sent to a URL; the secret is shown once', webhooks),
  entry('webhooks update', 'change a webhook, stop it, or let it go on', webhooks),
  entry('webhooks delete', 'delete a webhook', webhooks),
  entry('webhooks test', 'send a ping, and show what came of it', deliveries),
  entry('webhooks rotate', 'make a new secret; it is shown once', webhooks),
  entry('webhooks deliveries', 'list what was sent, and what came of it', deliveries),
  entry('webhooks replay', 'send events once more', deliveries),
  entry('webhooks listen', 'forward events to a program on this machine', webhooksListen),
  entry('auth login', 'store a token for a service', () => import('./commands/auth-login.ts')),
  entry('auth status', 'show the service and the token in use', auth),
  entry('auth list', 'list the profiles', auth),
  entry('auth switch', 'make a profile the current one', auth),
  entry('auth logout', 'forget a profile and its token', auth),
  entry('config list', 'list the settings', config),
  entry('config get', 'print the value of a setting', config),
  entry('config set', 'store the value of a setting', config),
  entry('config unset', 'forget the value of a setting', config),
  entry('config path', 'print where they are stored', config),
  entry('db status', 'show how far the schema has come', () => import('./commands/db/schema.ts')),
  entry('db migrate', 'bring the schema up to date', () => import('./commands/db/schema.ts')),
  entry('db copy', 'copy everything into another, empty database', () => import('./commands/db/schema.ts')),
  entry('db backup', 'write a SQLite file into another, while it is served', () => import('./commands/db/backup.ts')),
  entry('db restore', 'put a backup in its place, or check one', () => import('./commands/db/backup.ts')),
  entry('db rekey', 'put the secrets under another master key', () => import('./commands/db/schema.ts')),
  entry('doctor', 'find out what is wrong here, and what to do', () => import('./commands/doctor/doctor.ts')),
  entry('api', 'send any request, and print the response', () => import('./commands/api/api.ts')),
  entry('completion', 'make TAB complete commands, options and values', () => import('./commands/about-lkm.ts')),
  entry('explain', 'explain an error or an exit code', () => import('./commands/explain.ts')),
  entry('commands', 'list every command, for programs', async () => {
    const { commandsIn } = await import('./commands/about-lkm.ts');
    return { commands: commandsIn(commandEntries) };
  }),
  entry('version', 'show the versions of lkm, Node.js and the contract', () => import('./commands/about-lkm.ts')),
  entry('help', 'explain a command or a topic', () => import('./commands/about-lkm.ts')),
];

/** Declares a command whose file is loaded when it is used: `signing-keys list` is the export `signingKeysList`. */
function entry<Path extends string>(
  path: Path,
  summary: string,
  load: () => Promise<{ readonly [Name in ExportName<Path>]: Declaration }>,
): CommandEntry {
  const alias = ['keys revoke', 'offline release'].includes(path) ? undefined : aliases[path.split(' ')[1] ?? ''];
  const shortcut = shortcuts[path];
  const name = path.replaceAll(/[ -](\w)/g, (_, letter: string) => letter.toUpperCase()) as ExportName<Path>;
  const shown = {
    path,
    summary,
    synonyms: synonyms[path.split(' ')[1] ?? ''] ?? [],
    ...(alias && { alias }),
    ...(shortcut && { shortcut }),
  };
  return { ...shown, load: async (): Promise<Command> => ({ path, ...(await load())[name] }) };
}

type ExportName<Path extends string> = Path extends `${infer Word} ${infer More}`
  ? `${ExportName<Word>}${Capitalize<ExportName<More>>}`
  : Path extends `${infer Part}-${infer More}`
    ? `${Part}${Capitalize<ExportName<More>>}`
    : Path;
