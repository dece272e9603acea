import type { Client } from '../client/client.ts';
import type { CallOptions } from '../client/options.ts';
import type { Settings } from './config/settings.ts';
import { chooseTarget, type Target } from './config/target.ts';
import { InterruptedError } from './failure/errors.ts';
import type { GlobalFlags } from './global-options.ts';
import type { Io } from './io.ts';
import type { Note } from './output/result.ts';
import { talk } from './output/talk.ts';
import type { Written } from './program.ts';
import type { Entry, Journal } from './request/journal.ts';
import { type Observation, observe } from './request/observe.ts';
import { type Connection, openClient, openConnection } from './request/server.ts';

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
  change<T>(send: Send<T>): Promise<Changed<T>>;
  /** Writes changes down before the first of them is sent, so that a later run repeats those without an answer. */
  prepare<T>(sends: readonly Send<T>[]): Promise<readonly PreparedChange<T>[]>;
  /** Says something on stderr while the command still works. */
  say(note: Note): Promise<void>;
  /** Has something closed when the command ends, however it ends. */
  onClose(close: () => Promise<void>): void;
}

/** Makes one request of the client. */
type Send<T> = (client: Client, call: CallOptions) => Promise<T>;

/** What a change answered, and the key that repeats it. */
export interface Changed<T> {
  readonly answer: T;
  readonly idempotencyKey: string;
  /** Whether an earlier request had made it: nothing was done twice. */
  readonly replayed: boolean;
}

/** A change that can be sent. */
export interface PreparedChange<T> {
  /** Whether an earlier process may have sent it. */
  readonly repeats: boolean;
  readonly idempotencyKey: string;
  send(): Promise<Changed<T>>;
}

/** A context with what only the runner needs. */
export interface CommandSession extends CommandContext {
  /** The connection, once there is one. */
  readonly connection: Connection | null;
  /** The key of a change that was sent and not answered. */
  readonly pendingKey: string | null;
  /** To be called when the reader has the answers, or the error instead: then the changes need not be repeated. */
  delivered(): void;
  close(): Promise<void>;
}

interface SessionOptions {
  readonly written: Written;
  readonly flags: GlobalFlags;
  readonly settings: Settings;
  readonly io: Io;
}

export function openSession({ written, flags, settings, io }: SessionOptions): CommandSession {
  const dryRun = written.options.dryRun === true;
  const { idempotencyKey: given } = written.options;
  const givenKey = typeof given === 'string' ? given : undefined;
  const closers: (() => Promise<void>)[] = [];
  const entries = new Set<Entry>();
  let target: Target | undefined;
  let connection: Connection | null = null;
  let opened: Client | undefined;
  let journal: Journal | undefined;
  let pendingKey: string | null = null;
  const observation: Observation = observe(settings, io);
  /** Entries that may have been sent, and are not known to be answered. */
  const open = new Set<Entry>();
  /** Whether a later run has to finish: then it needs the keys of all entries, also of those that were answered. */
  let isUnfinished = false;
  let isDelivered = false;

  const chosenTarget = async (): Promise<Target> => {
    target ??= await chooseTarget(flags, io);
    return target;
  };

  async function client({ needsToken } = { needsToken: true }): Promise<Client> {
    connection ??= await openConnection(await chosenTarget(), { flags, io, needsToken });
    opened ??= await openClient(connection, observation, settings, io);
    return opened;
  }

  async function change<T>(send: Send<T>): Promise<Changed<T>> {
    const [prepared] = await prepare([send]);
    if (prepared === undefined) throw new Error('a change was not prepared');
    return prepared.send();
  }

  async function prepare<T>(sends: readonly Send<T>[]): Promise<readonly PreparedChange<T>[]> {
    const { captureRequest, identityOf } = await import('./request/capture-request.ts');
    const chosen = await chosenTarget();
    const requests = await Promise.all(sends.map((send) => captureRequest(chosen, (recorder) => send(recorder, {}))));
    if (dryRun) {
      const { DryRun } = await import('./request/dry-run.ts');
      throw new DryRun(requests, givenKey ?? io.uuid());
    }
    const ready = await client();
    if (io.stop.aborted) throw new InterruptedError(io.stop.reason);
    const { beginChanges } = await import('./request/begin-changes.ts');
    const { openJournal } = await import('./request/journal.ts');
    const begun = await beginChanges(requests.map(identityOf), givenKey, {
      io,
      say,
      journal: () => {
        journal ??= openJournal(io);
        return journal;
      },
    });
    return begun.flatMap((entry, at) => {
      const send = sends[at];
      entries.add(entry);
      if (entry.repeats) open.add(entry);
      return send ? [{ ...entry, send: () => sendEntry(entry, (call) => send(ready, call)) }] : [];
    });
  }

  async function sendEntry<T>(entry: Entry, send: (call: CallOptions) => Promise<T>): Promise<Changed<T>> {
    if (io.stop.aborted) throw new InterruptedError(io.stop.reason);
    const { idempotencyKey } = entry;
    pendingKey = idempotencyKey;
    open.add(entry);
    try {
      const answer = await send({ idempotencyKey, signal: io.stop });
      pendingKey = null;
      open.delete(entry);
      return { answer, idempotencyKey, replayed: observation.replayed };
    } catch (error) {
      const { isSettledBy, isRefusal } = await import('./request/begin-changes.ts');
      const isSettled = !io.stop.aborted && isSettledBy(error, entry);
      if (isSettled) pendingKey = null;
      if (isSettled) open.delete(entry);
      if (!isSettled || (entries.size > 1 && !isRefusal(error))) isUnfinished = true;
      throw error;
    }
  }

  async function complete(): Promise<void> {
    try {
      journal?.complete([...entries].filter((entry) => !open.has(entry)));
    } catch (error) {
      const { stillWritten } = await import('./request/begin-changes.ts');
      await say(stillWritten(error, io));
    }
  }

  const say = async (note: Note): Promise<void> => {
    await talk([note], settings, io);
  };

  return {
    io,
    settings,
    flags,
    dryRun,
    client,
    change,
    prepare,
    say,
    onClose: (close) => void closers.push(close),
    get connection() {
      return connection;
    },
    get pendingKey() {
      return pendingKey;
    },
    delivered: () => {
      isDelivered = true;
    },
    // The journal comes last: a process that is killed before it gets the same answers again.
    close: async () => {
      observation.end();
      for (const close of closers) await close();
      await connection?.close();
      if (isDelivered && !isUnfinished) await complete();
    },
  };
}
