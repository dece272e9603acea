import type { RunningServer } from '../../server/serve.ts';
import { command, many, option } from '../command.ts';
import { readConfig, storeProfile } from '../config/config.ts';
import { isPostgres, locate, withoutPassword } from '../config/location.ts';
import { defaultDatabase } from '../config/paths.ts';
import type { CommandContext } from '../context.ts';
import { UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import type { Note } from '../output/result.ts';
import { parseCount } from '../values/count.ts';
import { parseClock, parseLogFormat, parsePort, parsePositive, parseRateLimit } from '../values/serve.ts';
import { readSource } from '../values/text-source.ts';

export const serve = command({
  path: 'serve',
  about:
    'Runs the service on a database: a file, which is made when it is not there, or PostgreSQL, which several servers ' +
    'may share.',
  arguments: {},
  options: {
    host: option('--host <HOST>', 'the address to listen on (127.0.0.1)'),
    port: option('--port <N>', 'the port, 0 for a free one (4747)', { parse: parsePort }),
    tlsCert: option('--tls-cert <FILE>', 'serve HTTPS with this certificate (PEM)'),
    tlsKey: option('--tls-key <FILE>', 'and its key (PEM)'),
    behindProxy: many('--behind-proxy <CIDR>', 'believe X-Forwarded-For from this network'),
    rateLimit: option('--rate-limit <N|off>', 'requests per minute and token', { parse: parseRateLimit }),
    logFormat: option('--log-format <FMT>', 'pretty (default), json or none; logs go to stderr', {
      parse: parseLogFormat,
    }),
    lookupLimit: option('--lookup-limit <N|off>', 'look-ups of unknown keys per minute and token', {
      parse: parseRateLimit,
    }),
    maxConnections: option('--max-connections <N>', 'connections that are open at one time', { parse: parsePositive }),
    maxPerAddress: option('--max-connections-per-address <N>', 'the same for one address', { parse: parsePositive }),
    drain: option('--drain <SECONDS>', 'how long requests in flight may take when it stops (10)', {
      parse: parseCount,
    }),
    clock: option('--clock <INSTANT>', 'pretend it is this instant, and go on from there', { parse: parseClock }),
  },
  fields: [{ name: 'event' }, { name: 'url' }, { name: 'port' }, { name: 'pid' }, { name: 'db' }],
  examples: [
    ['lkm serve', 'on the database of this user, at http://127.0.0.1:4747'],
    ['lkm serve --db ./lkm.db --port 0 --json', 'for a script: the first line says where it listens'],
    ['lkm serve --db postgres://lkm@db.example/lkm', 'on PostgreSQL; PGPASSWORD is read'],
  ],

  async run(values, context) {
    const { io, flags, settings } = context;
    const db = locate(flags.db || io.env.LKM_DB || defaultDatabase(io), io);
    const tls = await readTls(values, io);
    // Before a database is made: its token will be stored there.
    readConfig(io);
    const { createLogSink, startServer } = await import('../../server/serve.ts');
    const server = await startServer({
      db,
      host: values.host ?? '127.0.0.1',
      port: values.port ?? 4747,
      ...(tls && { tls }),
      behindProxy: values.behindProxy ?? [],
      logFormat: settings.quiet ? 'none' : (values.logFormat ?? 'pretty'),
      logTo: io.stderr.fd === undefined ? io.stderr : createLogSink(io.stderr.fd),
      clock: clockFrom(values.clock, io),
      ...(values.rateLimit !== undefined && { rateLimit: values.rateLimit }),
      ...(values.lookupLimit !== undefined && { lookupLimit: values.lookupLimit }),
      ...(values.drain !== undefined && { drainMs: values.drain * 1_000 }),
      connections: {
        ...(values.maxConnections !== undefined && { maxConnections: values.maxConnections }),
        ...(values.maxPerAddress !== undefined && { maxConnectionsPerAddress: values.maxPerAddress }),
      },
    });
    const served = { ...server, db: withoutPassword(db), isShared: isPostgres(db) };
    const notes = readyNotes(served, await storeAsLocal(served, context), io);
    return {
      kind: 'done',
      data: { event: 'ready', url: server.url, port: server.port, pid: io.pid, db: served.db },
      quiet: [server.url],
      notes,
      afterwards: async () => {
        await stopped(io.stop);
        await server.close();
      },
    };
  },
});

async function readTls({ tlsCert, tlsKey }: { tlsCert?: string | undefined; tlsKey?: string | undefined }, io: Io) {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) throw new UsageError('--tls-cert and --tls-key go together');
  return { cert: await readSource(tlsCert, io), key: await readSource(tlsKey, io) };
}

function clockFrom(start: number | undefined, io: Io): () => number {
  if (start === undefined) return io.now;
  const offset = start - io.now();
  return () => io.now() + offset;
}

/** What is known of the token once the server runs, in words. */
type TokenNews = readonly string[];

/** A server as it is shown: its database without a password. */
interface Served extends RunningServer {
  /** Whether other servers may run on the same database: then no profile can stand for them all. */
  readonly isShared: boolean;
}

/** A new database gives its token to the profile `local`; a known file may have moved to another port. */
async function storeAsLocal({ url, db, created, isShared }: Served, { io }: CommandContext): Promise<TokenNews> {
  const { local } = readConfig(io).profiles;
  if (created) {
    await storeProfile(io, 'local', { baseUrl: url, token: created.adminToken, db });
    const before = local?.db === undefined ? '' : `, which was that of ${local.db}`;
    const secret = io.stdout.isTTY && io.stderr.isTTY ? [`  token     ${created.adminToken} (shown once)`] : [];
    return [...secret, `  profile   local${before}`, '  try it    lkm -p local products list'];
  }
  if (isShared && local?.db !== db) return ['  token     lkm tokens create --kind admin --name NAME, with LKM_DB'];
  if (isShared && local?.baseUrl !== url) return [`  profile   local is for ${local?.baseUrl}`];
  if (local?.db !== db) return [`  token     before serving: lkm tokens create --kind admin --name NAME --db ${db}`];
  if (local.baseUrl !== url) await storeProfile(io, 'local', { ...local, baseUrl: url });
  return ['  profile   local', '  try it    lkm -p local products list'];
}

function readyNotes({ url, db, created }: Served, token: TokenNews, io: Io): Note[] {
  const isOpen = !url.startsWith('https:') && !/\/\/(127\.|localhost|\[::1\])/.test(url);
  const details = [
    `  database  ${db}${created ? ' (new)' : ''}`,
    ...token,
    ...(io.stdin.isTTY ? ['  stop      ctrl-c'] : []),
  ];
  return [
    { tone: 'done', text: `ready at ${url}` },
    { tone: 'hint', text: details.join('\n') },
    ...(isOpen ? [plainHttp] : []),
  ];
}

const plainHttp: Note = {
  tone: 'warning',
  text: 'this is plain HTTP beyond this machine: tokens can be overheard. Put TLS before it, or use --tls-cert.',
};

function stopped(stop: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (stop.aborted) return done();
    stop.addEventListener('abort', () => done(), { once: true });
  });
}
