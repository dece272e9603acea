import type { CallOptions, Client } from '../client/index.ts';
import type { Connection } from './connection.ts';
import { InterruptedError } from './errors.ts';
import type { GlobalFlags } from './global-options.ts';
import type { Io } from './io.ts';
import type { Note } from './output/outcome.ts';
import { talk } from './output/talk.ts';
import type { Settings } from './settings.ts';
import { chooseTarget, type Target } from './target.ts';
import { version } from './version.ts';

/** What a command works with, besides its own values. */
export interface Context {
  readonly io: Io;
  readonly settings: Settings;
  readonly flags: GlobalFlags;
  /** Whether the command only shows what it would send. */
  readonly dryRun: boolean;
  /** The service, opened at the first call. */
  client(access?: { readonly needsToken: boolean }): Promise<Client>;
  /** Makes one change under one idempotency key; with `--dry-run` shows the request instead of sending it. */
  change<T>(send: (client: Client, call: CallOptions) => Promise<T>): Promise<Changed<T>>;
  /** Says on stderr what is done already, where more is to come. */
  say(note: Note): Promise<void>;
}

/** What a change answered, and the key that repeats it. */
export interface Changed<T> {
  readonly answer: T;
  readonly idempotencyKey: string;
}

/** A context with what only the runner needs. */
export interface Session extends Context {
  /** The connection, once there is one. */
  readonly connection: Connection | null;
  /** The key of a change that was begun and not answered. */
  readonly pendingKey: string | null;
  close(): Promise<void>;
}

interface SessionOptions {
  readonly values: Readonly<Record<string, unknown>>;
  readonly flags: GlobalFlags;
  readonly settings: Settings;
  readonly io: Io;
}

export function openSession({ values, flags, settings, io }: SessionOptions): Session {
  const dryRun = values.dryRun === true;
  const givenKey = typeof values.idempotencyKey === 'string' ? values.idempotencyKey : undefined;
  let connection: Connection | null = null;
  let pendingKey: string | null = null;

  async function client({ needsToken } = { needsToken: true }): Promise<Client> {
    connection ??= await connect(chooseTarget(flags, io), needsToken);
    return createClientOf(connection);
  }

  async function connect(target: Target, needsToken: boolean): Promise<Connection> {
    const { openConnection } = await import('./connection.ts');
    return openConnection(target, flags, io, needsToken);
  }

  async function createClientOf({ baseUrl, token, fetch }: Connection): Promise<Client> {
    const [{ createClient }, { observe }] = await Promise.all([import('../client/index.ts'), import('./observe.ts')]);
    const { timeoutMs, maxRetries, maxWaitMs } = settings;
    const limits = { timeoutMs, maxRetries, maxWaitMs };
    const userAgent = `lkm/${version}`;
    const surroundings = { fetch, timing: io.timing, ...observe(settings, io) };
    return createClient({ baseUrl, token: token?.token, userAgent, ...limits, ...surroundings });
  }

  async function change<T>(send: (client: Client, call: CallOptions) => Promise<T>): Promise<Changed<T>> {
    const idempotencyKey = givenKey ?? io.uuid();
    if (dryRun) {
      const { preview } = await import('./dry-run.ts');
      throw await preview(chooseTarget(flags, io), (client) => send(client, { idempotencyKey }));
    }
    const ready = await client();
    if (io.stop.aborted) throw new InterruptedError(io.stop.reason);
    pendingKey = idempotencyKey;
    const answer = await send(ready, { idempotencyKey, signal: io.stop });
    pendingKey = null;
    return { answer, idempotencyKey };
  }

  return {
    io,
    settings,
    flags,
    dryRun,
    client,
    change,
    say: (note) => talk([note], settings, io),
    get connection() {
      return connection;
    },
    get pendingKey() {
      return pendingKey;
    },
    close: async () => connection?.close(),
  };
}
