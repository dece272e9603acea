import { dirname, join, resolve } from 'node:path';
import type { LogFormat } from '../../../server/log.ts';
import { isPostgres } from '../../config/location.ts';
import { readMasterKey } from '../../config/master-key.ts';
import type { CommandContext } from '../../context.ts';
import { UsageError } from '../../failure/errors.ts';
import type { Io } from '../../io.ts';
import { readWholeText } from '../../values/files.ts';
import { defined } from '../results.ts';
import type { ServeValues } from './options.ts';
import { readTls } from './tls.ts';

const DEFAULT_HOST = '127.0.0.1';

/** Starts the server, with `--seed` on a filled database. `adminToken` is the first token of a new database, else null. */
export async function start(values: ServeValues, db: string, port: number, context: CommandContext) {
  const { io, flags, settings } = context;
  const { createLogSink, createTestClock, startServer, tryAddress } = await import('../../../server/serve.ts');
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
    const { seedDatabase } = await import('./seed.ts');
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
