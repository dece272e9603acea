import type { CommandEntry } from './command.ts';

/** The commands on keys, their devices and their sessions, in the order of the help page. */
export const keyCommands: readonly CommandEntry[] = [
  {
    path: 'keys create',
    summary: 'issue a licence key',
    load: async () => (await import('./commands/keys/create.ts')).keysCreate,
  },
  {
    path: 'keys get',
    summary: 'show a key with its devices and its customer',
    load: async () => (await import('./commands/keys/get.ts')).keysGet,
  },
  {
    path: 'keys list',
    alias: 'ls',
    summary: 'list keys, newest first, by what they are or belong to',
    load: async () => (await import('./commands/keys/list.ts')).keysList,
  },
  {
    path: 'keys import',
    summary: 'take in keys of another system, with customers and devices',
    load: async () => (await import('./commands/keys/import.ts')).keysImport,
  },
  {
    path: 'keys export',
    summary: 'write keys as import reads them, with customers and devices',
    load: async () => (await import('./commands/keys/export.ts')).keysExport,
  },
  {
    path: 'keys why',
    summary: 'explain whether a device may use a key',
    load: async () => (await import('./commands/keys/why.ts')).keysWhy,
  },
  {
    path: 'keys update',
    summary: 'change limits, expiry, customer and more of a key',
    load: async () => (await import('./commands/keys/update.ts')).keysUpdate,
  },
  {
    path: 'keys renew',
    summary: "extend a key's expiry",
    load: async () => (await import('./commands/keys/renew.ts')).keysRenew,
  },
  {
    path: 'keys transfer',
    summary: 'give a key to another customer',
    load: async () => (await import('./commands/keys/transfer.ts')).keysTransfer,
  },
  {
    path: 'keys activate',
    summary: 'make a host a device of a key',
    load: async () => (await import('./commands/keys/activate.ts')).keysActivate,
  },
  {
    path: 'keys deactivate',
    summary: 'free one device of a key, or all',
    load: async () => (await import('./commands/keys/deactivate.ts')).keysDeactivate,
  },
  {
    path: 'keys rebind',
    summary: 'move the slot of a device to another host',
    load: async () => (await import('./commands/keys/rebind.ts')).keysRebind,
  },
  {
    path: 'keys sign',
    summary: 'make an offline licence file for a device',
    load: async () => (await import('./commands/keys/sign.ts')).keysSign,
  },
  {
    path: 'keys verify',
    summary: 'check a licence file',
    load: async () => (await import('./commands/keys/verify.ts')).keysVerify,
  },
  {
    path: 'keys checkout',
    summary: 'lease a session of a floating key',
    load: async () => (await import('./commands/keys/checkout.ts')).keysCheckout,
  },
  {
    path: 'keys heartbeat',
    summary: 'prolong the lease of a session',
    load: async () => (await import('./commands/keys/heartbeat.ts')).keysHeartbeat,
  },
  {
    path: 'keys checkin',
    summary: 'give the seat of a session back',
    load: async () => (await import('./commands/keys/checkin.ts')).keysCheckin,
  },
  {
    path: 'keys block',
    summary: 'block keys',
    load: async () => (await import('./commands/keys/block.ts')).keysBlock,
  },
  {
    path: 'keys unblock',
    summary: 'make blocked keys usable again',
    load: async () => (await import('./commands/keys/block.ts')).keysUnblock,
  },
  {
    path: 'keys delete',
    alias: 'rm',
    summary: 'delete keys for ever',
    load: async () => (await import('./commands/keys/delete.ts')).keysDelete,
  },
  {
    path: 'devices list',
    alias: 'ls',
    summary: 'list the devices of a key',
    load: async () => (await import('./commands/devices.ts')).devicesList,
  },
  {
    path: 'sessions list',
    alias: 'ls',
    summary: 'list the sessions of floating keys',
    load: async () => (await import('./commands/sessions.ts')).sessionsList,
  },
  {
    path: 'sessions release',
    alias: 'rm',
    summary: 'end a session',
    load: async () => (await import('./commands/sessions.ts')).sessionsRelease,
  },
  {
    path: 'keys history',
    summary: 'show what happened to a key',
    load: async () => (await import('./commands/keys/history.ts')).keysHistory,
  },
];
