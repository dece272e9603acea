import type { CommandEntry } from './command.ts';

/** The commands on profiles, settings and databases, and on lkm itself, in the order of the help page. */
export const localCommands: readonly CommandEntry[] = [
  {
    path: 'auth login',
    shortcut: 'login',
    summary: 'store a token for a service',
    load: async () => (await import('./commands/auth-login.ts')).authLogin,
  },
  {
    path: 'auth status',
    shortcut: 'whoami',
    summary: 'show the service and the token in use',
    load: async () => (await import('./commands/auth.ts')).authStatus,
  },
  {
    path: 'auth list',
    alias: 'ls',
    summary: 'list the profiles',
    load: async () => (await import('./commands/auth.ts')).authList,
  },
  {
    path: 'auth switch',
    summary: 'make a profile the current one',
    load: async () => (await import('./commands/auth.ts')).authSwitch,
  },
  {
    path: 'auth logout',
    shortcut: 'logout',
    summary: 'forget a profile and its token',
    load: async () => (await import('./commands/auth.ts')).authLogout,
  },
  {
    path: 'config list',
    alias: 'ls',
    summary: 'list the settings',
    load: async () => (await import('./commands/config.ts')).configList,
  },
  {
    path: 'config get',
    summary: 'print the value of a setting',
    load: async () => (await import('./commands/config.ts')).configGet,
  },
  {
    path: 'config set',
    summary: 'store the value of a setting',
    load: async () => (await import('./commands/config.ts')).configSet,
  },
  {
    path: 'config unset',
    summary: 'forget the value of a setting',
    load: async () => (await import('./commands/config.ts')).configUnset,
  },
  {
    path: 'config path',
    summary: 'print where they are stored',
    load: async () => (await import('./commands/config.ts')).configPath,
  },
  {
    path: 'jobs list',
    alias: 'ls',
    summary: 'list bulk runs',
    load: async () => (await import('./commands/jobs.ts')).jobsList,
  },
  {
    path: 'jobs show',
    summary: 'show the rows of a bulk run',
    load: async () => (await import('./commands/jobs.ts')).jobsShow,
  },
  {
    path: 'jobs resume',
    summary: 'send the rows of a bulk run that are open',
    load: async () => (await import('./commands/jobs.ts')).jobsResume,
  },
  {
    path: 'jobs retry',
    summary: 'send the failed rows of a bulk run once more',
    load: async () => (await import('./commands/jobs.ts')).jobsRetry,
  },
  {
    path: 'db status',
    summary: 'show how far the schema has come',
    load: async () => (await import('./commands/db/status.ts')).dbStatus,
  },
  {
    path: 'db migrate',
    summary: 'bring the schema up to date',
    load: async () => (await import('./commands/db/migrate.ts')).dbMigrate,
  },
  {
    path: 'db copy',
    summary: 'copy everything into another, empty database',
    load: async () => (await import('./commands/db/copy.ts')).dbCopy,
  },
  {
    path: 'db backup',
    summary: 'write it into one file, while it is served',
    load: async () => (await import('./commands/db/backup.ts')).dbBackup,
  },
  {
    path: 'db restore',
    summary: 'put a backup in its place, or try one',
    load: async () => (await import('./commands/db/restore.ts')).dbRestore,
  },
  {
    path: 'db rekey',
    summary: 'put the secrets under another master key',
    load: async () => (await import('./commands/db/rekey.ts')).dbRekey,
  },
  {
    path: 'idempotency list',
    alias: 'ls',
    summary: 'list requests that are in progress',
    load: async () => (await import('./commands/idempotency.ts')).idempotencyList,
  },
  {
    path: 'idempotency resolve',
    summary: 'say what became of one',
    load: async () => (await import('./commands/idempotency.ts')).idempotencyResolve,
  },
  {
    path: 'idempotency history',
    summary: 'list what was resolved, how and by whom',
    load: async () => (await import('./commands/idempotency.ts')).idempotencyHistory,
  },
  {
    path: 'doctor',
    summary: 'find out what is wrong here, and what to do',
    load: async () => (await import('./commands/doctor/doctor.ts')).doctor,
  },
  {
    path: 'api',
    summary: 'send any request, and print the response',
    load: async () => (await import('./commands/api/api.ts')).api,
  },
  {
    path: 'completion',
    summary: 'make TAB complete commands, options and values',
    load: async () => (await import('./commands/completion.ts')).completion,
  },
  {
    path: 'explain',
    summary: 'explain an error or an exit code',
    load: async () => (await import('./commands/explain.ts')).explain,
  },
  {
    path: 'version',
    summary: 'show the versions of lkm, Node.js and the contract',
    load: async () => (await import('./commands/version.ts')).versionCommand,
  },
  {
    path: 'help',
    summary: 'explain a command or a topic',
    load: async () => (await import('./commands/help.ts')).help,
  },
];
