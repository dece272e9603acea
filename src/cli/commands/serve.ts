import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { LogFormat } from '../../server/log.ts';
import { argumentList, command, flag, many, option, type ValuesOf } from '../command.ts';
import { readConfig } from '../config/config-file.ts';
import { defaultDatabase } from '../config/files.ts';
import { isPostgres, locate, withoutPassword } from '../config/location.ts';
import { readMasterKey } from '../config/master-key.ts';
import type { CommandContext } from '../context.ts';
import { UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import type { CommandResult } from '../output/result.ts';
import { parseInstantMs } from '../values/instant.ts';
import {
  parseListenAddress,
  parsePort,
  parsePositive,
  parseRateLimit,
  parseSeed,
  parseWaitSeconds,
} from '../values/scalars.ts';
import { readTls } from '../values/tls-files.ts';
import { readyNotes, recordRunningServer, stoppedClock, storeAccess } from './serving/access.ts';
import { backupOptions, backupSchedule } from './serving/backups.ts';
import type { SeedTarget } from './serving/seed.ts';
import { openSelfSigned, reloadOnHangup, selfSignedFiles } from './serving/tls.ts';

const options = {
  host: option('--host <HOST>', 'the address to listen on (127.0.0.1); others need TLS or --behind-proxy'),
  port: option('--port <N>', 'the port, 0 for a free one (4747)', { parse: parsePort }),
  tlsCert: option('--tls-cert <FILE>', 'serve HTTPS with this certificate (PEM); SIGHUP reads it again'),
  tlsKey: option('--tls-key <FILE>', 'and its key (PEM), which nobody else may read'),
  tlsSelfSigned: flag(
    '--tls-self-signed',
    'serve HTTPS, for local use, with a certificate that only its profile trusts',
  ),
  behindProxy: many('--behind-proxy <CIDR>', 'believe X-Forwarded-For from this network of proxies', {
    takesList: true,
  }),
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
    parse: parseWaitSeconds,
  }),
  ...backupOptions,
  metrics: option('--metrics <[HOST:]PORT>', 'serve /metrics for Prometheus there, and nothing else', {
    parse: parseListenAddress,
  }),
  clock: option('--clock <INSTANT>', 'for tests: a clock that stands still here until POST /_test/clock moves it', {
    parse: parseInstantMs,
  }),
  seed: option('--seed [N]', 'fill a new database with demonstration data, the same for the same number', {
    parse: parseSeed,
  }),
  checkConfig: flag(
    '--check-config',
    'only check all that it would need, as lkm doctor does; nothing is started or made',
  ),
};

type Values = ValuesOf<typeof options>;

export const serve = command({
  about:
    'Runs the service on a database: a file, which is made when it is not there, or PostgreSQL, which several servers ' +
    'may share. With a command behind -- it runs on a temporary database, or on that of --db, for as long as the command ' +
    'does, which finds it in LKM_BASE_URL and LKM_TOKEN; the exit code is that of the command.',
  arguments: { command: argumentList('[-- COMMAND...]', 'a command to run against the service, with its own options') },
  options,
  fields: ['event', 'url', 'port', 'pid', 'db', 'secrets', 'metrics', 'certificate'],
  examples: [
    ['lkm serve', 'on the database of this user, at http://127.0.0.1:4747'],
    ['lkm serve --db ./lkm.db --port 0 --json', 'for a script: the first line says where it listens'],
    ['lkm serve --seed --db demo.db', 'a shop with customers, keys and devices, to look around in'],
    ['lkm serve -- npm test', 'tests against a service of their own, which leaves nothing behind'],
    ['lkm serve --check-config --json', 'with the options of a service, before it is started again'],
    ['lkm serve --db postgres://lkm@db.example/lkm', 'on PostgreSQL; PGPASSWORD is read'],
  ],

  async run(values, context) {
    const { io, flags } = context;
    if (values.command.length > 0) return serveCommand(values, context);
    const db = locate(flags.db || io.env.LKM_DB || defaultDatabase(io), io);
    if (values.checkConfig) return checkOnly(values, db, context);
    // Before a database is made: its token will be stored there.
    await readConfig(io);
    const running = await optionsFor(values, db, context);
    const listening = { ...running, db, port: values.port ?? DEFAULT_PORT };
    const seeded = await seedFrom(values, listening, io);
    const { startServer } = await loadServer();
    const server = await startServer(listening);
    context.onClose(server.close);
    if (running.tls && !values.tlsSelfSigned) reloadOnHangup(values, server, context);
    const ca = values.tlsSelfSigned ? running.tls?.cert : undefined;
    const served = {
      ...server,
      isNew: server.isNew || seeded !== null,
      created: seeded === null ? server.created : { adminToken: seeded },
      db: withoutPassword(db),
      isShared: isPostgres(db),
      ca,
      tls: running.tls,
    };
    const { url, port, secrets } = served;
    const access = await storeAccess(served, io);
    await recordRunningServer(served, context);
    return {
      kind: 'done',
      data: {
        event: 'ready',
        url,
        port,
        pid: io.pid,
        db: served.db,
        secrets,
        ...(server.metricsUrl !== null && { metrics: server.metricsUrl }),
        ...(ca !== undefined && { certificate: selfSignedFiles(db).tlsCert }),
      },
      quiet: [url],
      notes: [...readyNotes(served, access, io), ...(values.clock === undefined ? [] : [stoppedClock(values.clock)])],
      afterwards: () => stopped(io.stop),
    };
  },
});

const DEFAULT_HOST = '127.0.0.1';
const DEFAULT_PORT = 4747;

/** What `serve` with these options would come to. */
async function checkOnly(values: Values, db: string, context: CommandContext): Promise<CommandResult> {
  const { checkConfig } = await import('./serving/check-config.ts');
  const { checkResult } = await import('./doctor/check.ts');
  const { host = DEFAULT_HOST, port = DEFAULT_PORT, seed, behindProxy = [] } = values;
  const given = { ...values, db, host, port, behindProxy, isSeeded: seed !== undefined };
  const backups = () => backupSchedule(values, db, context.io);
  const plan = { ...given, backups };
  return checkResult(await checkConfig(plan, context), context);
}

const loadServer = () => import('../../server/serve.ts');

/** How the server is to run, but for its database and port. */
async function optionsFor(values: Values, db: string, context: CommandContext) {
  const { io, settings } = context;
  const { createSelfSigned, createLogSink, createTestClock } = await loadServer();
  const host = values.host ?? DEFAULT_HOST;
  const tls = values.tlsSelfSigned
    ? await openSelfSigned({ ...values, db, host }, createSelfSigned, io)
    : await readTls(values, io);
  const masterKey = readMasterKey(io);
  return {
    host,
    ...(tls && { tls }),
    masterKey,
    behindProxy: values.behindProxy ?? [],
    logFormat: settings.quiet ? ('none' as const) : logFormatFor(values.logFormat, io),
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
  };
}

/** Serves for as long as a command runs; stdout is that of the command alone. */
async function serveCommand(
  values: Values & { readonly command: readonly string[] },
  context: CommandContext,
): Promise<CommandResult> {
  const { io, flags, settings, say } = context;
  const refused = values.checkConfig ? '--check-config' : values.tlsSelfSigned ? '--tls-self-signed' : '-o';
  if (values.checkConfig || values.tlsSelfSigned || settings.output !== null) {
    throw new UsageError(`${refused} does not go with a command behind --`);
  }
  const { endedWith, runAgainst, stillValid, temporaryDatabase, temporaryToken } = await import('./serving/child.ts');
  const db = flags.db ? locate(flags.db, io) : temporaryDatabase(context);
  const { logFormat = 'none', clock } = values;
  const running = await optionsFor({ ...values, logFormat }, db, context);
  const listening = { ...running, db, port: values.port ?? 0 };
  const seeded = await seedFrom(values, listening, io);
  const isThere = seeded === null && (isPostgres(db) || existsSync(db));
  const lent = isThere ? await temporaryToken(db, io, clock === undefined ? io.now : () => clock) : null;
  try {
    const { startServer } = await loadServer();
    const server = await startServer(listening);
    try {
      const token = lent?.token ?? seeded ?? server.created?.adminToken ?? '';
      return endedWith(await runAgainst(server.url, token, values.command, io));
    } finally {
      await server.close();
    }
  } finally {
    await lent?.revoke().catch((error: unknown) => say(stillValid(error)));
  }
}

async function seedFrom({ seed, clock }: Values, target: SeedTarget, io: Io): Promise<string | null> {
  if (seed === undefined) return null;
  const { seedDatabase } = await import('./serving/seed.ts');
  return seedDatabase(target, { seed, now: clock ?? io.now() }, io);
}

/** Making a log pretty costs a third of the requests per second: only people get it. */
function logFormatFor(given: 'auto' | LogFormat | undefined, { stderr }: Io): LogFormat {
  if (given !== undefined && given !== 'auto') return given;
  return stderr.isTTY ? 'pretty' : 'json';
}

async function stopped(stop: AbortSignal): Promise<void> {
  if (!stop.aborted) await once(stop, 'abort');
}
