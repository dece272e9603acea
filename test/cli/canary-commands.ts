import type { Command } from '../../src/cli/command.ts';

/** What the commands of a canary run work with: one of everything, with files in the folder that they run in. */
export interface Shop {
  readonly product: string;
  readonly version: string;
  readonly customer: string;
  /** A second one, to be deleted. */
  readonly former: string;
  readonly token: string;
  readonly webhook: string;
  readonly session: string;
  readonly email: string;
  readonly url: string;
  readonly account: string;
}

/** Commands of an operator, on a database that nobody serves. */
export const isOffline = (path: string): boolean => /^(db|idempotency) /.test(path);

/** Commands that go on until they are stopped. */
export const follows = (path: string): boolean => ['events tail', 'webhooks listen'].includes(path);

/** A program that writes down the command lines of all processes, and the token that it was lent. */
export const LISTS_PROCESSES = `
  const { readdirSync, readFileSync, writeFileSync } = require('node:fs');
  const read = (pid) => { try { return readFileSync('/proc/' + pid + '/cmdline', 'utf8'); } catch { return ''; } };
  writeFileSync('processes.txt', readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name)).map(read).join('\\n'));
  writeFileSync('lent.txt', process.env.LKM_TOKEN);
`;

/** The words behind a command in its first example, on what the shop has. */
export function fromExample(path: string, { examples: [first] }: Pick<Command, 'examples'>, shop: Shop): string {
  const values: Readonly<Record<string, string>> = {
    $KEY: '@key.txt',
    $ID: shop.product,
    'cus_…': shop.customer,
    'prod_…': shop.product,
    'ver_…': shop.version,
    'tok_…': shop.token,
    'ses_…': shop.session,
    'whk_…': shop.webhook,
  };
  const words = first?.[0].replace(`lkm ${path}`, '').match(/"[^"]*"|\S+/g) ?? [];
  return words
    .map((word) => word.replaceAll('"', ''))
    .map((word) => values[word] ?? word)
    .join(' ');
}

/**
 * The words behind the commands that are tried with others than those of their first example. A licence key is given in a
 * file, and never on the command line, where other users of the machine would read it.
 */
export const canaryCommands: Readonly<Record<string, (shop: Shop) => readonly string[]>> = {
  quickstart: () => ['--db tour.db'],
  serve: () => [`--db other.db -- ${process.execPath} lists-processes.cjs`],
  'keys create': ({ product, customer, email }) => [
    `-P ${product} --customer ${customer}`,
    `-P ${product} --new-customer-name Zoë --new-customer-email new-${email} --max-activations 3`,
    `-P ${product} --new-customer-name Zoë --new-customer-email ${email}`,
    `-P ${product} --count 3`,
    `-P ${product} -f orders.csv`,
    `-P ${product} --dry-run`,
  ],
  'keys get': ({ product }) => [`@key.txt -P ${product}`, `@wrong-key.txt -P ${product}`, '@key.txt'],
  'keys list': ({ product, email }) => ['', `-P ${product} --json`, `--text ${email}`],
  'keys compare': () => ['import.csv'],
  'keys import': () => ['-f import.csv -y', '-f import.csv -y', '-f import.csv --dry-run'],
  'keys export': ({ product }) => [`-P ${product} -o exported.csv --format csv`],
  'keys update': ({ product }) => [`@key.txt -P ${product} --max-activations 10`, `-P ${product} -f changes.csv`],
  'keys activate': ({ product, email }) => [`@key.txt -P ${product} --host-id h --tag ${email}`],
  'keys rebind': ({ product }) => [`@key.txt -P ${product} --host-id h --new-host-id h1`],
  'keys sign': ({ product }) => [
    `@key.txt -P ${product} --host-id h2 -o -`,
    `@key.txt -P ${product} --host-id h2 -o signed.lic`,
    `@full-key.txt -P ${product} --host-id h2 -o -`,
  ],
  'keys deactivate': ({ product }) => [
    `@key.txt -P ${product} --host-id h1`,
    `@key.txt -P ${product} --host-id nobody`,
  ],
  'keys verify': () => ['a.lic --host-id h', 'a.lic --host-id another', 'broken.lic'],
  'keys checkout': ({ product, email }) => [
    `@floating-key.txt -P ${product} --user ${email} --json`,
    `@floating-key.txt -P ${product} --user ${email} --json`,
  ],
  'keys heartbeat': () => ['session.json', 'broken.json'],
  'keys checkin': () => ['session.json', 'session.json'],
  'keys block': ({ product }) => [`@key.txt -P ${product}`, `-P ${product} -f stolen.csv`],
  'keys delete': ({ product }) => [`@doomed-key.txt -P ${product} --yes`],
  'sessions list': () => ['', '--key @floating-key.txt'],
  'customers list': ({ email }) => ['', `--email ${email}`],
  'customers get': ({ email, customer }) => [customer, email],
  'customers create': ({ email }) => [
    `--name Zoë --email third-${email}`,
    `--name Zoë --email ${email}`,
    `--name Zoë --email ${email}@`,
    '-f customers.csv',
  ],
  'customers update': ({ customer, email }) => [`${customer} --email other-${email}`],
  'customers delete': ({ former }) => [`${former} --yes`],
  'tokens create': () => ['--kind read-only --name reader', '--kind scoped --name none'],
  'tokens import': () => ['imported.txt --kind client --name old', 'stolen.txt --kind client --name old'],
  'tokens check': () => ['stolen.txt', '--none stolen.txt'],
  'tokens revoke': ({ token }) => [`${token} --yes`],
  'signing-keys rotate': () => ['--yes'],
  'revocations export': ({ account }) => [`--account ${account} -o -`],
  'events list': () => ['--json'],
  'events tail': () => ['--after 0 --json'],
  'audit list': () => ['--json --limit 1000'],
  'audit export': () => ['audit'],
  'webhooks create': ({ url }) => [`--url ${url}/health --reveal`, '--url http://127.0.0.1:9/'],
  'webhooks update': ({ webhook }) => [`${webhook} --inactive`, `${webhook} --active`],
  'webhooks test': ({ webhook }) => [`${webhook} --wait 1s`],
  'webhooks rotate': ({ webhook }) => [webhook],
  'webhooks deliveries': ({ webhook }) => [`${webhook} --json`],
  'webhooks replay': ({ webhook }) => [`${webhook} --after 0`],
  'webhooks delete': ({ webhook }) => [`${webhook} --yes`],
  'webhooks listen': ({ url }) => [`--forward-to ${url}/health --after 0`],
  'auth login': ({ url }) => [`--with-token --yes -p stored --base-url ${url}`],
  'auth status': () => ['', '--json'],
  'auth switch': () => ['local', 'nobody'],
  'auth logout': () => ['stored'],
  'config set': ({ product }) => [`product ${product}`],
  'config unset': () => ['product'],
  'db copy': () => ['lkm.db copy.db'],
  'db backup': () => ['backup.db --db lkm.db', 'nowhere/backup.db --db lkm.db'],
  'db restore': () => ['backup.db --db restored.db --yes', 'backup.db --dry-run'],
  'db rekey': () => ['--db restored.db --new-key-file next.key'],
  api: ({ product, email }) => [
    '/customer',
    `POST /customer -f name=Zoë -f email=${email}`,
    `POST /create-key -f productId=${product}`,
    '/nothing',
  ],
  doctor: () => ['', '--json'],
  completion: () => ['bash'],
};
