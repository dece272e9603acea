import type { CallOptions, Client } from '../client/index.ts';
import type { Settings } from './config/settings.ts';
import { chooseTarget } from './config/target.ts';
import { InterruptedError } from './failure/errors.ts';
import type { GlobalFlags } from './global-options.ts';
import type { Io } from './io.ts';
import type { Note } from './output/result.ts';
import { talk } from './output/talk.ts';
import { type Connection, openConnection } from './request/connection.ts';
import type { Claim } from './request/intents.ts';
import { type Observation, observe } from './request/observe.ts';
import { version } from './version.ts';

/** What a command works with, besides its own values. */
export interface CommandContext {
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
  /** Whether an earlier request had made it: nothing was done twice. */
  readonly replayed: boolean;
}

/** A context with what only the runner needs. */
export interface CommandSession extends CommandContext {
  /** The connection, once there is one. */
  readonly connection: Connection | null;
  /** The key of a change that was begun and not answered. */
  readonly pendingKey: string | null;
  /** To be called once whoever asked has the answers: the changes need not be repeated then. */
  delivered(): void;
  close(): Promise<void>;
}

interface SessionOptions {
  readonly values: Readonly<Record<string, unknown>>;
  readonly flags: GlobalFlags;
  readonly settings: Settings;
  readonly io: Io;
}

export function openSession({ values, flags, settings, io }: SessionOptions): CommandSession {
  const dryRun = values.dryRun === true;
  const givenKey = typeof values.idempotencyKey === 'string' ? values.idempotencyKey : undefined;
  let connection: Connection | null = null;
  let pendingKey: string | null = null;
  const answered: Claim[] = [];
  const observation: Observation = observe(settings, io);
  let isDelivered = false;

  async function client({ needsToken } = { needsToken: true }): Promise<Client> {
    connection ??= await openConnection(chooseTarget(flags, io), flags, io, needsToken);
    return createClientOf(connection);
  }

  async function createClientOf({ baseUrl, token, fetch }: Connection): Promise<Client> {
    const { createClient } = await import('../client/index.ts');
    const { timeoutMs, maxRetries, maxWaitMs } = settings;
    const limits = { timeoutMs, maxRetries, maxWaitMs };
    const userAgent = `lkm/${version}`;
    const { onAttempt, onNotice } = observation;
    const surroundings = { fetch, timing: io.timing, onAttempt, onNotice };
    return createClient({ baseUrl, token: token?.token, userAgent, ...limits, ...surroundings });
  }

  async function change<T>(send: (client: Client, call: CallOptions) => Promise<T>): Promise<Changed<T>> {
    const { captureRequest } = await import('./request/capture-request.ts');
    const request = await captureRequest(chooseTarget(flags, io), (recorder) => send(recorder, {}));
    if (dryRun) {
      const { DryRun } = await import('./request/dry-run.ts');
      throw new DryRun(request, givenKey ?? io.uuid());
    }
    const ready = await client();
    if (io.stop.aborted) throw new InterruptedError(io.stop.reason);
    const { claimKey, isSettledBy } = await import('./request/intents.ts');
    const claim = await claimKey(request, givenKey, { io, say });
    const { idempotencyKey } = claim;
    pendingKey = idempotencyKey;
    try {
      const answer = await send(ready, { idempotencyKey, signal: io.stop });
      pendingKey = null;
      answered.push(claim);
      return { answer, idempotencyKey, replayed: observation.replayed };
    } catch (error) {
      if (!io.stop.aborted && isSettledBy(error, claim)) await forget([...answered, claim]);
      throw error;
    }
  }

  async function forget(claims: readonly Claim[]): Promise<void> {
    const { removeIntents } = await import('./request/intent-files.ts');
    removeIntents(claims.flatMap(({ files }) => files));
  }

  const say = (note: Note): Promise<void> => talk([note], settings, io);

  return {
    io,
    settings,
    flags,
    dryRun,
    client,
    change,
    say,
    get connection() {
      return connection;
    },
    get pendingKey() {
      return pendingKey;
    },
    delivered: () => {
      isDelivered = true;
    },
    // Forgetting comes last: whoever is killed before it gets the same answer again.
    close: async () => {
      observation.end();
      await connection?.close();
      if (isDelivered && answered.length > 0) await forget(answered);
    },
  };
}
