import type { CommandEntry } from './command.ts';

/** The commands on what happened and who did it. */
export const eventAndAuditCommands: readonly CommandEntry[] = [
  {
    path: 'events list',
    alias: 'ls',
    summary: 'list events, oldest first',
    load: async () => (await import('./commands/events-and-audit/events.ts')).eventsList,
  },
  {
    path: 'events tail',
    summary: 'print events as they happen',
    load: async () => (await import('./commands/events-and-audit/events.ts')).eventsTail,
  },
  {
    path: 'events diff',
    summary: 'list what a program has missed',
    load: async () => (await import('./commands/events-and-audit/events.ts')).eventsDiff,
  },
  {
    path: 'audit list',
    alias: 'ls',
    summary: 'list the audit log, oldest first',
    load: async () => (await import('./commands/events-and-audit/audit.ts')).auditList,
  },
  {
    path: 'audit verify',
    summary: 'check that no row was changed or is missing',
    load: async () => (await import('./commands/events-and-audit/verify.ts')).auditVerify,
  },
  {
    path: 'audit export',
    summary: 'write it to files that others can verify',
    load: async () => (await import('./commands/events-and-audit/export.ts')).auditExport,
  },
];
