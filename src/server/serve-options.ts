import type { MasterKey } from '../store/secret-box.ts';
import type { RequestLimits } from './http/concurrency-limit.ts';
import type { Address } from './http/transport/bind.ts';
import type { ConnectionLimits } from './http/transport/connections.ts';
import type { Tls } from './http/transport/listen.ts';
import type { BackupSchedule } from './jobs/backups.ts';
import type { JobHealth } from './jobs/job.ts';
import type { LogFormat, LogSink } from './log.ts';
import type { Clock } from './runtime.ts';
import type { SenderOptions } from './webhooks/send.ts';

/** How a server is to run. */
export interface ServeOptions extends Address {
  /** The path of a SQLite file, which is created when it does not exist, or `postgres://…`. */
  readonly db: string;
  readonly tls?: Tls;
  /** What the secrets of the database are sealed under; null is plain. */
  readonly masterKey?: MasterKey | null;
  /** Networks (CIDR) of proxies whose `X-Forwarded-For` is believed. */
  readonly behindProxy?: readonly string[];
  readonly logFormat: LogFormat;
  /** Lines that it does not take are counted and otherwise ignored. */
  readonly logTo: LogSink;
  /** With a test clock the server has `POST /_test/clock`. */
  readonly clock?: Clock;
  /** Requests per minute and token; null is without limit. */
  readonly rateLimit?: number | null;
  /** Look-ups per minute of keys that do not exist, by one token at one address; null is without limit. */
  readonly lookupLimit?: number | null;
  /** What connections may use of the server. */
  readonly connections?: Partial<ConnectionLimits>;
  /** How many requests may run, and wait, at one time. */
  readonly requests?: Partial<RequestLimits>;
  /** How webhooks are sent; by default to public addresses over HTTPS only. */
  readonly webhooks?: WebhookOptions;
  /** How long requests in flight may take when the server stops, in milliseconds (10 000). */
  readonly drainMs?: number;
  /** Backs the database up while it serves. */
  readonly backups?: BackupSchedule | undefined;
  /** Serves metrics there, apart from the API; without it there are none. */
  readonly metrics?: Address | undefined;
}

/** How webhooks are sent. */
export interface WebhookOptions extends Partial<SenderOptions> {
  /** The waits after failed attempts, in seconds; those of Standard Webhooks unless given. */
  readonly schedule?: readonly number[];
  /** How long the work of a server that has died waits for another, in seconds (60). */
  readonly leaseSeconds?: number;
}

/** A server that accepts requests. */
export interface RunningServer {
  readonly url: string;
  readonly port: number;
  readonly db: string;
  /** How private keys and other secrets are kept. */
  readonly secrets: 'plain' | 'sealed';
  /** Where the metrics are, or null. */
  readonly metricsUrl: string | null;
  /** Whether the database was made now. */
  readonly isNew: boolean;
  /** Set when the database had no token yet: its account, and an admin token that is shown nowhere else. */
  readonly created: { readonly accountId: string; readonly adminToken: string } | null;
  /** Takes another certificate and key for connections to come; those that are open go on. */
  reloadTls(tls: Tls): void;
  /** How the background work is doing. */
  jobHealth(): readonly JobHealth[];
  /** Finishes what is in flight, as long as `drainMs`; then closes all connections, the jobs and the database. */
  close(): Promise<void>;
}
