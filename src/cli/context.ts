import type { CallEndpoint, Client } from '../client/client.ts';
import type { AnyEndpoint } from '../contract/endpoint.ts';
import type { Settings } from './config/settings.ts';
import type { GlobalFlags } from './global-options.ts';
import type { Io } from './io.ts';
import { type Note, talk } from './output/terminal.ts';
import type { Change, ChangeAnswer, Changed, Changes, PreparedChange } from './request/changes.ts';
import { type ClientNeeds, type Connection, clientOptions, openConnection } from './request/connection.ts';
import { observe } from './request/observe.ts';
import { chooseTarget } from './request/target.ts';
import type { PendingChanges } from './state/pending.ts';

interface ContextOptions {
  readonly flags: GlobalFlags;
  readonly settings: Settings;
  readonly options: Readonly<Record<string, unknown>>;
  readonly io: Io;
}

export type CommandContext = Omit<OpenedContext, 'connection' | 'pendingKey' | 'foundWords' | 'delivered' | 'close'>;

/** The context for `runCommand`, which closes the files and connections of the command. */
export type OpenedContext = Readonly<ReturnType<typeof openContext>>;

/** A function that makes its value at the first call; the arguments of later calls do not count. */
function once<Arguments extends unknown[], T>(make: (...given: Arguments) => Promise<T>) {
  let made: Promise<T> | undefined;
  return (...given: Arguments): Promise<T> => {
    made ??= make(...given);
    return made;
  };
}

export function openContext({ flags, settings, options, io }: ContextOptions) {
  const dryRun = options.dryRun === true;
  const observation = observe(settings, io);
  const closers: (() => Promise<void>)[] = [];
  const products = new Map<string, string>();
  let connection: Connection | null = null;
  let changes: Changes | null = null;
  let openedPending: PendingChanges | null = null;
  let isDelivered = false;

  const chosenTarget = once(() => chooseTarget(flags, io));

  const connect = once(async (needs: ClientNeeds = { needsToken: true }) => {
    connection = await openConnection(await chosenTarget(), { flags, io, ...needs });
    return connection;
  });

  const callOptions = async (needs?: ClientNeeds) => clientOptions(await connect(needs), observation, settings, io);

  /** Calls any endpoint of the service, also an endpoint that is not in the contract. */
  const caller = once(async (needs?: ClientNeeds): Promise<CallEndpoint> => {
    const { createCallEndpoint } = await import('../client/client.ts');
    return createCallEndpoint(await callOptions(needs));
  });

  async function client(needs?: ClientNeeds): Promise<Client> {
    const { clientOfCall } = await import('../client/client.ts');
    return clientOfCall(await caller(needs));
  }

  /** Returns the given product id, or looks it up by the key. */
  async function productOf(key: string, given: string | undefined): Promise<string> {
    const known = given ?? products.get(key);
    if (known !== undefined) return known;
    const { findProductOfKey } = await import('./request/look-ups.ts');
    const { originOf } = await import('./request/changes.ts');
    const product = await findProductOfKey(await client(), key, originOf(await chosenTarget()), knownPending);
    products.set(key, product);
    return product;
  }

  /** Makes one change under one idempotency key. Throws `DryRun` with `--dry-run`. */
  async function change<E extends AnyEndpoint>(endpoint: E, input: unknown): Promise<Changed<ChangeAnswer<E>>> {
    const [prepared] = await prepare([{ endpoint, input }]);
    if (prepared === undefined) throw new Error('a change was not prepared');
    return (await prepared.send()) as Changed<ChangeAnswer<E>>;
  }

  /** Writes changes to disk before the first change is sent: a later run repeats changes without a response. */
  async function prepare(all: readonly Change[]): Promise<readonly PreparedChange[]> {
    const { openChanges } = await import('./request/changes.ts');
    const { idempotencyKey } = options;
    const givenKey = typeof idempotencyKey === 'string' ? idempotencyKey : undefined;
    changes ??= openChanges({ io, dryRun, givenKey, observation, pending, target: chosenTarget, caller, say });
    return changes.prepare(all);
  }

  /** The changes without a response. Throws `LocalError`. */
  async function pending(): Promise<PendingChanges> {
    const { openPending } = await import('./state/pending.ts');
    openedPending ??= openPending(io);
    return openedPending;
  }

  /** The changes without a response; null if no change was ever written to disk. */
  async function knownPending(): Promise<PendingChanges | null> {
    const { hasPending } = await import('./state/pending-files.ts');
    return hasPending(io) ? pending() : null;
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
    connect: () => connect(),
    written: options,
    productOf,
    change,
    prepare,
    callOptions,
    say,
    pending,
    /** Registers a function that is called when the command ends, also after an error. */
    onClose: (close: () => Promise<void>) => void closers.push(close),
    get connection(): Connection | null {
      return connection;
    },
    get pendingKey(): string | null {
      return changes?.pendingKey() ?? null;
    },
    /** Options with values that the command has looked up, for a command line that repeats it. */
    get foundWords(): readonly string[] {
      const [product] = products.values();
      return product !== undefined && products.size === 1 ? ['--product', product] : [];
    },
    /** Called when the reader has received the responses, or the error: the changes need not be repeated. */
    delivered: () => {
      isDelivered = true;
    },
    // The files of changes are removed last: a process that is killed before that gets the same responses again.
    close: async () => {
      observation.end();
      try {
        for (const close of closers) await close();
      } finally {
        await connection?.close();
        if (isDelivered) await changes?.complete();
        openedPending?.close();
      }
    },
  };
}
