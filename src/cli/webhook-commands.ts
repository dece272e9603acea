import type { CommandEntry } from './command.ts';

const list = () => import('./commands/webhooks/list.ts');
const change = () => import('./commands/webhooks/change.ts');
const send = () => import('./commands/webhooks/send.ts');

/** The commands on the addresses that events are sent to. */
export const webhookCommands: readonly CommandEntry[] = [
  {
    path: 'webhooks list',
    alias: 'ls',
    summary: 'list webhooks, without their secrets',
    load: async () => (await list()).webhooksList,
  },
  { path: 'webhooks get', summary: 'show a webhook', load: async () => (await list()).webhooksGet },
  {
    path: 'webhooks create',
    summary: 'have events sent to a URL; the secret is shown once',
    load: async () => (await change()).webhooksCreate,
  },
  {
    path: 'webhooks update',
    summary: 'change a webhook, stop it, or let it go on',
    load: async () => (await change()).webhooksUpdate,
  },
  {
    path: 'webhooks delete',
    alias: 'rm',
    summary: 'delete a webhook',
    load: async () => (await change()).webhooksDelete,
  },
  {
    path: 'webhooks test',
    summary: 'send a ping, and show what came of it',
    load: async () => (await send()).webhooksTest,
  },
  {
    path: 'webhooks rotate',
    summary: 'make a new secret; it is shown once',
    load: async () => (await change()).webhooksRotate,
  },
  {
    path: 'webhooks deliveries',
    summary: 'list what was sent, and what came of it',
    load: async () => (await list()).webhooksDeliveries,
  },
  {
    path: 'webhooks replay',
    summary: 'send events once more',
    load: async () => (await send()).webhooksReplay,
  },
  {
    path: 'webhooks listen',
    summary: 'forward events to a program on this machine',
    load: async () => (await import('./commands/webhooks/listen.ts')).webhooksListen,
  },
];
