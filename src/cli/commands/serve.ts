import { once } from 'node:events';
import { toInstant } from '../../domain/time.ts';
import { argument, command } from '../command.ts';
import { readConfig } from '../config/config-file.ts';
import { defaultDatabase } from '../config/files.ts';
import { isPostgres, locate, withoutPassword } from '../config/location.ts';
import type { Note } from '../output/terminal.ts';
import { storeAccess } from './serving/access.ts';
import { serveOptions } from './serving/options.ts';
import { start } from './serving/start.ts';
import { datesProblem, reloadOnHangup } from './serving/tls.ts';

const DEFAULT_PORT = 4747;

export const serve = command({
  about:
    'Runs the service on a database: a file, which is created if it does not exist, or PostgreSQL, which several servers ' +
    'may share. With a command behind -- it serves a temporary database, or that of --db, until the command ends. The ' +
    'command finds the service in LKM_BASE_URL and LKM_TOKEN, and its exit code is that of lkm.',
  arguments: { command: argument('[-- COMMAND...]', 'a command to run against the service, with its own options') },
  options: serveOptions,
  fields: ['event', 'url', 'port', 'pid', 'db', 'secrets', 'metrics'],
  examples: [
    ['lkm serve', 'on the database of this user, at http://127.0.0.1:4747'],
    ['lkm serve --db ./lkm.db --port 0 --json', 'for a script: the first line says where it listens'],
    ['lkm serve --seed --db demo.db', 'a shop with customers, keys and devices, to look around in'],
    ['lkm serve -- npm test', 'tests against a temporary service'],
    ['lkm serve --db postgres://lkm@db.example/lkm', 'on PostgreSQL; PGPASSWORD is read'],
    ['lkm serve --db postgres://lkm@db1.example,db2.example/lkm', 'on the primary of several servers'],
  ],

  async run({ command: words, ...values }, context) {
    const { io, flags } = context;
    if (words.length > 0) {
      const { serveCommand } = await import('./serving/child.ts');
      return serveCommand(words, values, context);
    }
    const location = locate(flags.db || io.env.LKM_DB || defaultDatabase(io), io);
    // Fails before a database is created, whose token could not be stored.
    await readConfig(io);
    const { server, tls, isNew, adminToken } = await start(values, location, values.port ?? DEFAULT_PORT, context);
    context.onClose(server.close);
    if (tls) reloadOnHangup(values, server, context);
    const { url, port, secrets, metricsUrl } = server;
    const db = withoutPassword(location);
    const access = await storeAccess({ url, db, adminToken, isShared: isPostgres(db) }, context);
    const details = [
      ['database', isNew ? `${db} (new)` : db],
      ...(metricsUrl === null ? [] : [['metrics', metricsUrl]]),
      ...access,
      ['secrets', secretsKept[secrets]],
      ...(io.stdin.isTTY ? [['stop', 'ctrl-c']] : []),
    ].map(([what = '', text = '']) => `  ${what.padEnd(10)}${text}`);
    const warnings = [tls && datesProblem(tls, io.now()), values.clock === undefined ? null : stoppedAt(values.clock)];
    return {
      kind: 'done',
      data: {
        ...{ event: 'ready', url, port, pid: io.pid, db, secrets },
        ...(metricsUrl !== null && { metrics: metricsUrl }),
      },
      quiet: [url],
      notes: [
        { tone: 'done', text: `ready at ${url}` },
        { tone: 'hint', text: details.join('\n') },
        ...warnings.flatMap((text): Note[] => (text ? [{ tone: 'warning', text }] : [])),
      ],
      afterwards: async () => {
        if (!io.stop.aborted) await once(io.stop, 'abort');
      },
    };
  },
});

const secretsKept = {
  sealed: 'sealed under the master key',
  plain: 'plain in the database; how to seal them: lkm db rekey --help',
} as const;

const stoppedAt = (epochMs: number): string =>
  `this is a test clock: it stands at ${toInstant(epochMs)} until an admin token moves it with POST /_test/clock. ` +
  'Without --clock the server keeps the time.';
