import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { toInstant } from '../../domain/time.ts';
import type { LogFormat } from '../../server/log.ts';
import { argument, command, flag, many, option, type ValuesOf } from '../command.ts';
import { readConfig } from '../config/config-file.ts';
import { defaultDatabase } from '../config/files.ts';
import { isPostgres, locate, withoutPassword } from '../config/location.ts';
import { readMasterKey } from '../config/master-key.ts';
import type { CommandContext } from '../context.ts';
import { UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import type { CommandResult } from '../output/result.ts';
import type { Note } from '../output/terminal.ts';
import { parseDuration } from '../values/duration.ts';
import { readWholeText } from '../values/files.ts';
import { parseInstantMs } from '../values/instant.ts';
import {
  parseListenAddress,
  parsePort,
  parsePositive,
  parseRateLimit,
  parseSeed,
  parseWaitSeconds,
} from '../values/scalars.ts';
import { defined } from './results.ts';
import { storeAccess } from './serving/access.ts';
import { datesProblem, readTls, reloadOnHangup } from './serving/tls.ts';
import { signatureHeader } from './webhooks/signature-header.ts';

const options = {
  host: option('--host <HOST>', 'the address to listen on (127.0.0.1); others need TLS or --behind-proxy'),
  port: option('--port <N>', 'the port, 0 for a free one (4747)', parsePort),
  tlsCert: option('--tls-cert <FILE>', 'serve HTTPS with this certificate (PEM); SIGHUP reads it again'),
  tlsKey: option('--tls-key <FILE>', 'the key of the certificate (PEM), which nobody else may read'),
  behindProxy: many('--behind-proxy <CIDR>', 'believe X-Forwarded-For from this network of proxies', {
    takesList: true,
  }),
  rateLimit: option('--rate-limit <N|off>', 'requests per minute and token (6000)', parseRateLimit),
  logFormat: option('--log-format <FMT>', 'the format of the log on stderr; auto is pretty on a terminal, else json', {
    choices: ['auto', 'pretty', 'json', 'none'],
  }),
  lookupLimit: option(
    '--lookup-limit <N|off>',
    'look-ups of unknown keys per minute, token and address (100)',
    parseRateLimit,
  ),
  maxConnections: option('--max-connections <N>', 'connections that are open at one time (1024)', parsePositive),
  maxPerAddress: option(
    '--max-connections-per-address <N>',
    'connections of one address that are open at one time (256)',
    parsePositive,
  ),
  dbConnections: option('--db-connections <N>', 'connections to PostgreSQL, at least 3 (17)', parsePositive),
  allowPrivateWebhooks: flag(
    '--allow-private-webhooks',
    'send webhooks over plain HTTP and to private addresses too: for programs on this machine',
  ),
  webhookSignatureHeader: signatureHeader,
  publicUrl: option(
    '--public-url <URL>',
    'where customers find this server, for links to their page (its own address)',
  ),
  pageName: option('--page-name <NAME>', 'the name of the vendor on that page'),
  pageColor: option('--page-color <#RRGGBB>', 'the colour of buttons on that page (#1a5fb4)'),
  pageTexts: option('--page-texts <FILE>', 'texts of that page in other languages or words (JSON): docs/operating.md'),
  drain: option('--drain <SECONDS>', 'how long requests in flight may take when it stops (10)', parseWaitSeconds),
  backupEvery: option(
    '--backup-every <DUR>',
    'the time between two backups of a SQLite file, such as 1h',
    parseDuration,
  ),
  backupKeep: option('--backup-keep <N>', 'how many backups are kept (48)', parsePositive),
  backupDir: option('--backup-dir <DIR>', 'the folder of backups (backups, beside the database)'),
  metrics: option(
    '--metrics <[HOST:]PORT>',
    'serve /metrics for Prometheus there, and nothing else',
    parseListenAddress,
  ),
  clock: option(
    '--clock <INSTANT>',
    'for tests: a clock that stands still here until POST /_test/clock moves it',
    parseInstantMs,
  ),
  seed: option(
    '--seed [N]',
    'fill a new database with demonstration sales; the same number gives the same sales, with new ids and keys',
    parseSeed,
  ),
};

export type ServeValues = ValuesOf<typeof options>;

const DEFAULT_HOST = '127.0.0.1';
const DEFAULT_PORT = 4747;

export const serve = command({
  about:
    'Runs the service on a database: a file, which is created if it does not exist, or PostgreSQL, which several servers ' +
    'may share. With a command behind -- it serves a temporary database, or that of --db, until the command ends. The ' +
    'command finds the service in LKM_BASE_URL and LKM_TOKEN, and its exit code is that of lkm.',
  arguments: { command: argument('[-- COMMAND...]', 'a command to run against the service, with its own options') },
  options,
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
    if (words.length > 0) return serveCommand(words, values, context);
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
      `  database  ${db}${isNew ? ' (new)' : ''}`,
      ...(metricsUrl === null ? [] : [`  metrics   ${metricsUrl}`]),
      ...access,
      `  secrets   ${secrets === 'sealed' ? 'sealed under the master key' : 'plain in the database; how to seal them: lkm db rekey --help'}`,
      ...(io.stdin.isTTY ? ['  stop      ctrl-c'] : []),
    ];
    const problem = tls && datesProblem(tls, io.now());
    const warnings = [...(problem ? [problem] : []), ...(values.clock === undefined ? [] : [stoppedAt(values.clock)])];
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
        ...warnings.map((text): Note => ({ tone: 'warning', text })),
      ],
      afterwards: async () => {
        if (!io.stop.aborted) await once(io.stop, 'abort');
      },
    };
  },
});

const stoppedAt = (epochMs: number): string =>
  `this is a test clock: it stands at ${toInstant(epochMs)} until an admin token moves it with POST /_test/clock. ` +
  'Without --clock the server keeps the time.';

/** Serves while a command runs, which has stdout for itself. */
async function serveCommand(
  words: readonly string[],
  values: ServeValues,
  context: CommandContext,
): Promise<CommandResult> {
  const { io, flags, settings } = context;
  if (settings.output !== null) throw new UsageError('-o does not go with a command behind --');
  const { runAgainst, temporaryDatabase, withTemporaryToken } = await import('./serving/child.ts');
  const db = flags.db ? locate(flags.db, io) : temporaryDatabase(context);
  const { logFormat = 'none', clock, seed } = values;
  const serveWith = async (lent: string | null): Promise<number> => {
    const { server, adminToken } = await start({ ...values, logFormat }, db, values.port ?? 0, context);
    try {
      return await runAgainst(server.url, lent ?? adminToken ?? '', words, io);
    } finally {
      await server.close();
    }
  };
  const isThere = seed === undefined && (isPostgres(db) || existsSync(db));
  const exitCode = isThere ? await withTemporaryToken(db, clock, context, serveWith) : await serveWith(null);
  return { kind: 'chunks', chunks: nothing(), data: null, quiet: [], exitCode };
}

async function* nothing(): AsyncGenerator<never> {}

/** Starts the server, after seeding the database if asked to. `adminToken` is that of a new database, else null. */
async function start(values: ServeValues, db: string, port: number, context: CommandContext) {
  const { io, flags, settings } = context;
  const { createLogSink, createTestClock, startServer, tryAddress } = await import('../../server/serve.ts');
  const { host = DEFAULT_HOST, behindProxy = [], rateLimit, lookupLimit, metrics, drain, clock, seed } = values;
  const { maxConnections, maxPerAddress, dbConnections } = values;
  if (dbConnections !== undefined && dbConnections < 3) throw new UsageError('--db-connections is at least 3');
  const tls = await readTls(values, context);
  const page = await pageOf(values, io);
  const options = {
    ...{ db, host, port, behindProxy, metrics, page },
    masterKey: readMasterKey(io, flags),
    backups: backupSchedule(values, db, io),
    logFormat: settings.quiet ? ('none' as const) : logFormatFor(values.logFormat, io),
    logTo: io.stderr.fd === undefined ? io.stderr : createLogSink(io.stderr.fd),
    clock: clock === undefined ? io.now : createTestClock(clock),
    webhooks: { allowPrivate: values.allowPrivateWebhooks, signatureHeader: values.webhookSignatureHeader },
    ...defined({ tls, rateLimit, lookupLimit, dbConnections, drainMs: drain && drain * 1_000 }),
    connections: defined({ maxConnections, maxConnectionsPerAddress: maxPerAddress }),
  };
  let seeded: string | null = null;
  if (seed !== undefined) {
    // Checked first: a seeded database that cannot be served would stay, and its token be lost.
    await tryAddress(host, port);
    const { seedDatabase } = await import('./serving/seed.ts');
    seeded = await seedDatabase(db, { seed, now: clock ?? io.now() }, context);
  }
  const server = await startServer(options);
  const isNew = server.isNew || seeded !== null;
  return { server, tls, isNew, adminToken: seeded ?? server.created?.adminToken ?? null };
}

/** Throws `UsageError` for texts that are no JSON. */
async function pageOf({ publicUrl, pageName: name, pageColor: color, pageTexts }: ServeValues, io: Io) {
  if (pageTexts === undefined) return { publicUrl, name, color };
  const written = await readWholeText(pageTexts, io);
  try {
    return { publicUrl, name, color, texts: JSON.parse(written) as unknown };
  } catch (cause) {
    throw new UsageError(`${pageTexts} is not JSON: ${cause instanceof Error ? cause.message : cause}`);
  }
}

/** Two days of hourly backups. */
const DEFAULT_KEEP = 48;

/** Throws `UsageError` for incomplete options. */
function backupSchedule({ backupEvery: everyMs, backupKeep, backupDir }: ServeValues, db: string, { cwd }: Io) {
  if (everyMs === undefined) {
    if (backupKeep === undefined && backupDir === undefined) return undefined;
    throw new UsageError('--backup-keep and --backup-dir go with --backup-every');
  }
  if (everyMs < 1_000) throw new UsageError('--backup-every is at least 1s');
  if (isPostgres(db)) throw new UsageError('--backup-every is for SQLite files: back PostgreSQL up with pg_dump');
  const folder = backupDir === undefined ? join(dirname(db), 'backups') : resolve(cwd, backupDir);
  return { everyMs, keep: backupKeep ?? DEFAULT_KEEP, folder };
}

/** Pretty logs cost a third of the throughput: only for people. */
function logFormatFor(given: 'auto' | LogFormat | undefined, { stderr }: Io): LogFormat {
  if (given !== undefined && given !== 'auto') return given;
  return stderr.isTTY ? 'pretty' : 'json';
}
