import type { CommandEntry } from './command.ts';
import { eventAndAuditCommands } from './event-and-audit-commands.ts';
import { keyCommands } from './key-commands.ts';
import { localCommands } from './local-commands.ts';
import { webhookCommands } from './webhook-commands.ts';

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

/** All commands, in the order of the help page. */
export const commandEntries: readonly CommandEntry[] = [
  {
    path: 'quickstart',
    summary: 'take the whole tour in a second, without a server',
    load: async () => (await import('./commands/quickstart.ts')).quickstart,
  },
  {
    path: 'serve',
    summary: 'run the service on a database',
    compilesChecks: true,
    load: async () => (await import('./commands/serve.ts')).serve,
  },
  ...keyCommands,
  {
    path: 'customers list',
    alias: 'ls',
    summary: 'list customers',
    load: async () => (await import('./commands/customers.ts')).customersList,
  },
  {
    path: 'customers get',
    summary: 'show a customer, by id or e-mail address',
    load: async () => (await import('./commands/customers-get.ts')).customersGet,
  },
  {
    path: 'customers create',
    summary: 'create a customer',
    load: async () => (await import('./commands/customers.ts')).customersCreate,
  },
  {
    path: 'customers import',
    summary: 'create a customer for each row of a file',
    load: async () => (await import('./commands/customers.ts')).customersImport,
  },
  {
    path: 'customers update',
    summary: 'rename a customer, change its address, stop or resume its keys',
    load: async () => (await import('./commands/customers-get.ts')).customersUpdate,
  },
  {
    path: 'customers keys',
    summary: 'list the keys of a customer',
    load: async () => (await import('./commands/customers-get.ts')).customersKeys,
  },
  {
    path: 'customers delete',
    alias: 'rm',
    summary: 'delete customers for ever',
    load: async () => (await import('./commands/customers-delete.ts')).customersDelete,
  },
  {
    path: 'products list',
    alias: 'ls',
    summary: 'list products',
    load: async () => (await import('./commands/products.ts')).productsList,
  },
  {
    path: 'products get',
    summary: 'show a product',
    load: async () => (await import('./commands/products.ts')).productsGet,
  },
  {
    path: 'products create',
    summary: 'create a product',
    load: async () => (await import('./commands/products.ts')).productsCreate,
  },
  {
    path: 'products update',
    summary: 'rename a product, or stop or resume its keys',
    load: async () => (await import('./commands/products.ts')).productsUpdate,
  },
  {
    path: 'products versions',
    summary: 'list the versions of a product',
    load: async () => (await import('./commands/product-versions.ts')).productsVersions,
  },
  {
    path: 'products add-version',
    summary: 'add a version to a product',
    load: async () => (await import('./commands/product-versions.ts')).productsAddVersion,
  },
  {
    path: 'products update-version',
    summary: 'let a version be given to keys, or no more',
    load: async () => (await import('./commands/product-versions.ts')).productsUpdateVersion,
  },
  {
    path: 'tokens list',
    alias: 'ls',
    summary: 'list tokens, without their secrets',
    load: async () => (await import('./commands/tokens/tokens.ts')).tokensList,
  },
  {
    path: 'tokens show',
    summary: 'show a token, without its secret',
    load: async () => (await import('./commands/tokens/show.ts')).tokensShow,
  },
  {
    path: 'tokens create',
    summary: 'create a token; it is shown once',
    load: async () => (await import('./commands/tokens/tokens.ts')).tokensCreate,
  },
  {
    path: 'tokens rotate',
    summary: 'replace a token by a new one; both work for a while',
    load: async () => (await import('./commands/tokens/rotate.ts')).tokensRotate,
  },
  {
    path: 'tokens check',
    summary: 'find tokens in a text, and typing errors in them',
    load: async () => (await import('./commands/tokens/check.ts')).tokensCheck,
  },
  {
    path: 'tokens revoke',
    alias: 'rm',
    summary: 'revoke a token',
    load: async () => (await import('./commands/tokens/tokens.ts')).tokensRevoke,
  },
  {
    path: 'stats',
    summary: 'count keys by product and status, and what was issued each week',
    load: async () => (await import('./commands/stats.ts')).stats,
  },
  {
    path: 'forecast',
    summary: 'show which keys expire',
    load: async () => (await import('./commands/forecast.ts')).forecast,
  },
  {
    path: 'signing-keys list',
    alias: 'ls',
    summary: 'list signing keys',
    load: async () => (await import('./commands/signing-keys.ts')).signingKeysList,
  },
  {
    path: 'signing-keys rotate',
    summary: 'make a new signing key, which signs from then on',
    load: async () => (await import('./commands/signing-keys.ts')).signingKeysRotate,
  },
  {
    path: 'signing-keys export',
    summary: 'write the public keys, for software that verifies',
    load: async () => (await import('./commands/signing-keys.ts')).signingKeysExport,
  },
  {
    path: 'revocations export',
    summary: 'write the signed list of revoked licence files',
    load: async () => (await import('./commands/revocations.ts')).revocationsExport,
  },
  ...eventAndAuditCommands,
  ...webhookCommands,
  ...localCommands,
];
