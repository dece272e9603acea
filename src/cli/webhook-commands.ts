import type { CommandEntry } from './command.ts';

/** The commands on the addresses that events are sent to. */
export const webhookCommands: readonly CommandEntry[] = [
  {
    path: 'webhooks list',
    alias: 'ls',
    summary: 'list webhooks, without their secrets',
    load: async () => (await import('./commands/webhooks/list.ts')).webhooksList,
  },
  {
    path: 'webhooks get',
    summary: 'show a webhook',
    load: async () => (await import('./commands/webhooks/get.ts')).webhooksGet,
  },
  {
    path: 'webhooks create',
    summary: 'have events sent to a URL; the secret is shown once',
    load: async () => (await import('./commands/webhooks/create.ts')).webhooksCreate,
  },
  {
    path: 'webhooks update',
    summary: 'change a webhook, stop it, or let it go on',
    load: async () => (await import('./commands/webhooks/update.ts')).webhooksUpdate,
  },
  {
    path: 'webhooks delete',
    alias: 'rm',
    summary: 'delete a webhook',
    load: async () => (await import('./commands/webhooks/delete.ts')).webhooksDelete,
  },
  {
    path: 'webhooks test',
    summary: 'send a ping, and show what came of it',
    load: async () => (await import('./commands/webhooks/test.ts')).webhooksTest,
  },
  {
    path: 'webhooks rotate',
    summary: 'make a new secret; it is shown once',
    load: async () => (await import('./commands/webhooks/rotate.ts')).webhooksRotate,
  },
  {
    path: 'webhooks deliveries',
    summary: 'list what was sent, and what came of it',
    load: async () => (await import('./commands/webhooks/deliveries.ts')).webhooksDeliveries,
  },
  {
    path: 'webhooks replay',
    summary: 'send events once more',
    load: async () => (await import('./commands/webhooks/replay.ts')).webhooksReplay,
  },
  {
    path: 'webhooks listen',
    summary: 'forward events to a program on this machine',
    load: async () => (await import('./commands/webhooks/listen.ts')).webhooksListen,
  },
];
