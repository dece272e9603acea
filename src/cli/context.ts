import type { CallEndpoint, Client } from '../client/client.ts';
import type { FollowOptions } from '../client/follow-events.ts';
import type { AnyEndpoint } from '../contract/endpoint.ts';
import type { Event } from '../contract/events.ts';
import type { Settings } from './config/settings.ts';
import type { GlobalFlags } from './global-options.ts';
import type { Io } from './io.ts';
import { type Note, talk } from './output/terminal.ts';
import type { Change, ChangeAnswer, Changed, Changes, PreparedChange } from './request/changes.ts';
import { type ClientNeeds, type Connection, clientOptions, openCaller, openConnection } from './request/connection.ts';
import { observe } from './request/observe.ts';
import { chooseTarget, type Target } from './request/target.ts';
import type { PendingChanges } from './state/pending.ts';

interface ContextOptions {
  readonly flags: GlobalFlags;
  readonly settings: Settings;
  readonly options: Readonly<Record<string, unknown>>;
  readonly io: Io;
}

/** What a command works with. */
export type CommandContext = Omit<OpenedContext, 'connection' | 'pendingKey' | 'foundWords' | 'delivered' | 'close'>;

/** The same for what runs a command, and closes what it has opened. */
export type OpenedContext = Readonly<ReturnType<typeof openContext>>;

/** What a command has opened so far, each part at its first use. */
interface Opened {
  target?: Target;
  connecting?: Promise<Connection>;
  connection?: Connection;
  caller?: Promise<CallEndpoint>;
  changes?: Changes;
  pending?: PendingChanges;
  isDelivered?: boolean;
}

export function openContext({ flags, settings, options, io }: ContextOptions) {
  const dryRun = options.dryRun === true;
  const observation = observe(settings, io);
  const closers: (() => Promise<void>)[] = [];
  const opened: Opened = {};
  const products = new Map<string, string>();

  /** Which service it is; opens nothing. */
  const chosenTarget = async (): Promise<Target> => {
    opened.target ??= await chooseTarget(flags, io);
    return opened.target;
  };

  /** The service, for requests that the contract does not have too. */
  function caller(needs?: ClientNeeds): Promise<CallEndpoint> {
    opened.caller ??= connect(needs).then((service) => openCaller(service, observation, settings, io));
    return opened.caller;
  }

  /** Opens the service once, also when several ask for it at a time. */
  async function connect(needs: ClientNeeds = { needsToken: true }): Promise<Connection> {
    opened.connecting ??= chosenTarget().then((target) => openConnection(target, { flags, io, ...needs }));
    opened.connection = await opened.connecting;
    return opened.connection;
  }

  /** The service, opened at the first call. */
  async function client(needs?: ClientNeeds): Promise<Client> {
    const { clientOfCall } = await import('../client/client.ts');
    return clientOfCall(await caller(needs));
  }

  /** The product of a licence key: the one that was given, else the one that the service knows. */
  async function productOf(key: string, given: string | undefined): Promise<string> {
    const known = given ?? products.get(key);
    if (known !== undefined) return known;
    const { findProductOfKey } = await import('./request/look-ups.ts');
    const { originOf } = await import('./request/changes.ts');
    const product = await findProductOfKey(await client(), key, originOf(await chosenTarget()), knownPending);
    products.set(key, product);
    return product;
  }

  /** Makes one change under one idempotency key; with `--dry-run` shows the request instead of sending it. */
  async function change<E extends AnyEndpoint>(endpoint: E, input: unknown): Promise<Changed<ChangeAnswer<E>>> {
    const [prepared] = await prepare([{ endpoint, input }]);
    if (prepared === undefined) throw new Error('a change was not prepared');
    return (await prepared.send()) as Changed<ChangeAnswer<E>>;
  }

  /** Writes changes down before the first of them is sent, so that a later run repeats those without an answer. */
  async function prepare(all: readonly Change[]): Promise<readonly PreparedChange[]> {
    const { openChanges } = await import('./request/changes.ts');
    const { idempotencyKey } = options;
    const givenKey = typeof idempotencyKey === 'string' ? idempotencyKey : undefined;
    opened.changes ??= openChanges({ io, dryRun, givenKey, observation, pending, target: chosenTarget, caller, say });
    return opened.changes.prepare(all);
  }

  /** The changes that have no answer yet. Throws `LocalError`. */
  async function pending(): Promise<PendingChanges> {
    const { openPending } = await import('./state/pending.ts');
    opened.pending ??= openPending(io);
    return opened.pending;
  }

  /** The same; null where nothing was ever written down. */
  async function knownPending(): Promise<PendingChanges | null> {
    const { hasPending } = await import('./state/pending-files.ts');
    return hasPending(io) ? pending() : null;
  }

  /** Events of the service as they happen, in the order of their numbers; ends with the signal of the command. */
  async function* follow(followed: Omit<FollowOptions, 'signal'>): AsyncGenerator<readonly Event[]> {
    const service = await connect();
    const { followParts } = await import('../client/follow-events.ts');
    const onAway = (why: Error | null) =>
      say(
        why === null
          ? { tone: 'done', text: 'the service is back' }
          : { tone: 'warning', text: `the service is away, trying again: ${why.message}` },
      );
    yield* followParts(clientOptions(service, observation, settings, io), { ...followed, onAway, signal: io.stop });
  }

  const say = (note: Note): Promise<void> => talk([note], settings, io);

  return {
    io,
    settings,
    flags,
    dryRun,
    client,
    caller,
    target: chosenTarget,
    /** The service itself, for a client that is observed in another way. */
    connect: () => connect(),
    written: options,
    productOf,
    change,
    prepare,
    follow,
    say,
    pending,
    /** Has something closed when the command ends, however it ends. */
    onClose: (close: () => Promise<void>) => void closers.push(close),
    get connection(): Connection | null {
      return opened.connection ?? null;
    },
    get pendingKey(): string | null {
      return opened.changes?.pendingKey() ?? null;
    },
    /** The words of options that were found while the command ran, for a command line that repeats it. */
    get foundWords(): readonly string[] {
      const [product] = products.values();
      return product !== undefined && products.size === 1 ? ['--product', product] : [];
    },
    /** To be called when the reader has the answers, or the error instead: then the changes need not be repeated. */
    delivered: () => {
      opened.isDelivered = true;
    },
    // Removing what was written down comes last: a process that is killed before it gets the same answers again.
    close: async () => {
      observation.end();
      try {
        for (const close of closers) await close();
      } finally {
        await opened.connection?.close();
        if (opened.isDelivered) await opened.changes?.complete();
        opened.pending?.close();
      }
    },
  };
}
