import { flag, many, option, type ValuesOf } from '../../command.ts';
import { parseDuration } from '../../values/duration.ts';
import { parseInstantMs } from '../../values/instant.ts';
import {
  parseListenAddress,
  parsePort,
  parsePositive,
  parseRateLimit,
  parseSeed,
  parseWaitSeconds,
} from '../../values/scalars.ts';
import { signatureHeader } from '../webhooks/signature-header.ts';

export const serveOptions = {
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

export type ServeValues = ValuesOf<typeof serveOptions>;
