import { toInstant } from '../../domain/time.ts';
import type { LogFormat } from '../../server/log.ts';
import type { RunningServer } from '../../server/serve.ts';
import { command, flag, many, option } from '../command.ts';
import { defaultDatabase } from '../config/files.ts';
import { isPostgres, locate, withoutPassword } from '../config/location.ts';
import { readMasterKey } from '../config/master-key.ts';
import { addProfile, moveProfile, profileOf, readConfig } from '../config/profiles.ts';
import { forgetServer, recordServer, serversFolder } from '../config/running-servers.ts';
import type { CommandContext } from '../context.ts';
import { codeOf, LocalError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import type { Note } from '../output/terminal.ts';
import { quote } from '../output/words.ts';
import { readTls, type TlsOptions } from '../values/files.ts';
import { parseCount, parseListenAddress, parsePort, parsePositive, parseRateLimit } from '../values/scalars.ts';
import { parseClock } from '../values/time.ts';
import { backupOptions, backupSchedule } from './serve-backups.ts';

export const serve = command({
  path: 'serve',
  about:
    'Runs the service on a database: a file, which is made when it is not there, or PostgreSQL, which several servers ' +
    'may share.',
  arguments: {},
  options: {
    host: option('--host <HOST>', 'the address to listen on (127.0.0.1); others need TLS or --behind-proxy'),
    port: option('--port <N>', 'the port, 0 for a free one (4747)', { parse: parsePort }),
    tlsCert: option('--tls-cert <FILE>', 'serve HTTPS with this certificate (PEM); SIGHUP reads it again'),
    tlsKey: option('--tls-key <FILE>', 'and its key (PEM), which nobody else may read'),
    behindProxy: many('--behind-proxy <CIDR>', 'believe X-Forwarded-For from this network'),
    rateLimit: option('--rate-limit <N|off>', 'requests per minute and token', { parse: parseRateLimit }),
    logFormat: option('--log-format <FMT>', 'of the log on stderr; auto is pretty on a terminal, else json', {
      choices: ['auto', 'pretty', 'json', 'none'],
    }),
    lookupLimit: option('--lookup-limit <N|off>', 'look-ups of unknown keys per minute and token', {
      parse: parseRateLimit,
    }),
    maxConnections: option('--max-connections <N>', 'connections that are open at one time', { parse: parsePositive }),
    maxPerAddress: option('--max-connections-per-address <N>', 'the same for one address', { parse: parsePositive }),
    allowPrivateWebhooks: flag(
      '--allow-private-webhooks',
      'send webhooks over plain HTTP and to private addresses too: for programs on this machine',
    ),
    drain: option('--drain <SECONDS>', 'how long requests in flight may take when it stops (10)', {
      parse: parseCount,
    }),
    ...backupOptions,
    metrics: option('--metrics <[HOST:]PORT>', 'serve /metrics for Prometheus there, and nothing else', {
      parse: parseListenAddress,
    }),
    clock: option('--clock <INSTANT>', 'for tests: a clock that stands still here until POST /_test/clock moves it', {
      parse: parseClock,
    }),
  },
  fields: [
    { name: 'event' },
    { name: 'url' },
    { name: 'port' },
    { name: 'pid' },
    { name: 'db' },
    { name: 'secrets' },
    { name: 'metrics' },
  ],
  examples: [
    ['lkm serve', 'on the database of this user, at http://127.0.0.1:4747'],
    ['lkm serve --db ./lkm.db --port 0 --json', 'for a script: the first line says where it listens'],
    ['lkm serve --db postgres://lkm@db.example/lkm', 'on PostgreSQL; PGPASSWORD is read'],
  ],

  async run(values, context) {
    const { io, flags, settings } = context;
    const db = locate(flags.db || io.env.LKM_DB || defaultDatabase(io), io);
    const tls = await readTls(values, io);
    const masterKey = readMasterKey(io);
    // Before a database is made: its token will be stored there.
    readConfig(io);
    const { createLogSink, createTestClock, startServer } = await import('../../server/serve.ts');
    const server = await startServer({
      db,
      host: values.host ?? '127.0.0.1',
      port: values.port ?? 4747,
      ...(tls && { tls }),
      masterKey,
      behindProxy: values.behindProxy ?? [],
      logFormat: settings.quiet ? 'none' : logFormatFor(values.logFormat, io),
      logTo: io.stderr.fd === undefined ? io.stderr : createLogSink(io.stderr.fd),
      clock: values.clock === undefined ? io.now : createTestClock(values.clock),
      ...(values.rateLimit !== undefined && { rateLimit: values.rateLimit }),
      ...(values.lookupLimit !== undefined && { lookupLimit: values.lookupLimit }),
      webhooks: { allowPrivate: values.allowPrivateWebhooks },
      ...(values.drain !== undefined && { drainMs: values.drain * 1_000 }),
      metrics: values.metrics,
      backups: backupSchedule(values, db, io),
      connections: {
        ...(values.maxConnections !== undefined && { maxConnections: values.maxConnections }),
        ...(values.maxPerAddress !== undefined && { maxConnectionsPerAddress: values.maxPerAddress }),
      },
    });
    context.onClose(server.close);
    if (tls) reloadOnHangup(values, server, context);
    const served = { ...server, db: withoutPassword(db), isShared: isPostgres(db) };
    const access = storeAccess(served, io);
    await record(served, context);
    return {
      kind: 'done',
      data: {
        ...{ event: 'ready', url: server.url, port: server.port, pid: io.pid, db: served.db, secrets: server.secrets },
        ...(server.metricsUrl !== null && { metrics: server.metricsUrl }),
      },
      quiet: [server.url],
      notes: [...readyNotes(served, access, io), ...(values.clock === undefined ? [] : [stoppedClock(values.clock)])],
      afterwards: () => stopped(io.stop),
    };
  },
});

/** Reads certificate and key anew at each SIGHUP; connections that are open keep the old ones. */
function reloadOnHangup(values: TlsOptions, server: RunningServer, { io, say, onClose }: CommandContext): void {
  const stop = io.onHangup(() => {
    void (async () => {
      try {
        const tls = await readTls(values, io);
        if (tls !== undefined) server.reloadTls(tls);
        await say({ tone: 'done', text: 'certificate and key read again' });
      } catch (error) {
        const text = `certificate and key stay as they were: ${error instanceof Error ? error.message : error}`;
        await say({ tone: 'warning', text });
      }
    })();
  });
  onClose(async () => stop());
}

/** Making a log pretty costs a third of the requests per second: only people get it. */
function logFormatFor(given: 'auto' | LogFormat | undefined, { stderr }: Io): LogFormat {
  if (given !== undefined && given !== 'auto') return given;
  return stderr.isTTY ? 'pretty' : 'json';
}

/** A server as it is shown: its database without a password. */
interface Served extends RunningServer {
  /** Whether other servers may run on the same database: then one address does not stand for them all. */
  readonly isShared: boolean;
}

/** How the server is reached with a token, as lines to show. */
type Access = readonly string[];

/** Stores the token of a new database as a profile of its own; a known database may have moved to another port. */
function storeAccess({ url, db, created, isShared }: Served, io: Io): Access {
  const makeOne = makeToken(isShared ? 'with LKM_DB' : `--db ${quote(db)}, while this is stopped`);
  if (created) {
    const isShown = io.stdout.isTTY && io.stderr.isTTY;
    const token = isShown ? [`  token     ${created.adminToken} (shown once)`] : [];
    try {
      return [...token, ...useOf(addProfile(io, 'local', { baseUrl: url, token: created.adminToken, db }))];
    } catch (error) {
      if (!(error instanceof LocalError)) throw error;
      // The server runs all the same, as in a container whose home is read-only; more tokens can be made.
      return [`  profile   none: ${error.message}`, ...(isShown ? token : makeOne)];
    }
  }
  const profile = profileOf(db, readConfig(io));
  if (profile === undefined) return makeOne;
  if (profile.baseUrl === url) return useOf(profile.name);
  if (isShared) return useOf('local');
  moveProfile(io, profile.name, url);
  return useOf(profile.name);
}

const makeToken = (how: string): Access => [
  `  token     lkm tokens create --kind admin --name NAME ${how}`,
  '  try it    lkm -p local products list, with the token in LKM_TOKEN',
];

const useOf = (profile: string): Access => [`  profile   ${profile}`, `  try it    lkm -p ${profile} products list`];

/** Lets `-p local` find the server. */
async function record(served: Served, { io, say, onClose }: CommandContext): Promise<void> {
  try {
    recordServer(served, io);
    onClose(async () => forgetServer(io));
  } catch (error) {
    const text = `cannot write to ${serversFolder(io)} (${codeOf(error)}): -p local does not find this server`;
    await say({ tone: 'warning', text });
  }
}

function readyNotes({ url, db, created, secrets, metricsUrl }: Served, access: Access, io: Io): Note[] {
  const details = [
    `  database  ${db}${created ? ' (new)' : ''}`,
    ...(metricsUrl === null ? [] : [`  metrics   ${metricsUrl}`]),
    ...access,
    `  secrets   ${secrets === 'sealed' ? 'sealed under the master key' : 'plain in the database; lkm db rekey seals them'}`,
    ...(io.stdin.isTTY ? ['  stop      ctrl-c'] : []),
  ];
  return [
    { tone: 'done', text: `ready at ${url}` },
    { tone: 'hint', text: details.join('\n') },
  ];
}

const stoppedClock = (epochMs: number): Note => ({
  tone: 'warning',
  text:
    `this is a test clock: it stands at ${toInstant(epochMs)} until an admin token moves it with POST /_test/clock. ` +
    'Without --clock the server keeps the time.',
});

function stopped(stop: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (stop.aborted) return done();
    stop.addEventListener('abort', () => done(), { once: true });
  });
}
