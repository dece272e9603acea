import { type Intent, isSuccess, type Ledger, nameOf, type Route, Unprepared } from './ledger.ts';
import { createKeyOf, keyOf, type Operation, operations, SLOTS, signSharedKey } from './operations.ts';
import type { Random } from './random.ts';

interface LoadOptions {
  readonly clients: number;
  readonly route: Route;
  /** What all of them do, in place of all operations in turn. */
  readonly only?: Operation;
  /** How long each rests after an answer. */
  readonly pauseMs?: number;
}

/**
 * Puts clients to work, each with one request at a time: all operations in turn, and in between one key with few
 * slots that all of them sign. They go on until they are told to stop; each then finishes what it has begun.
 */
export function startLoad(ledger: Ledger, random: Random, { clients, route, only, pauseMs }: LoadOptions) {
  const before = ledger.intents.length;
  let isOver = false;
  let shared: Promise<string> | null = null;
  let left = 0;

  async function signShared(): Promise<void> {
    if (left === 0) {
      left = SLOTS + 2;
      shared = makeKey(ledger, SLOTS, route);
    }
    left -= 1;
    const licenseKey = (await shared) ?? '';
    await ledger.settle(ledger.intendOn(signSharedKey, { licenseKey }), route);
  }

  async function work(): Promise<void> {
    while (!isOver) {
      const isShared = only === undefined && random.below(4) === 0;
      const done = isShared ? signShared() : perform(ledger, only ?? random.pick(operations), route);
      await done.catch((error: unknown) => {
        if (!(error instanceof Unprepared)) throw error;
      });
      if (pauseMs !== undefined) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  const working = Promise.all(Array.from({ length: clients }, work));
  working.catch(() => {}); // is seen by `stop`
  return {
    /** Resolves to what was asked in this load, once every client has come to an end. */
    async stop(): Promise<readonly Intent[]> {
      isOver = true;
      await working;
      return ledger.intents.slice(before);
    },
  };
}

/** Has clients work while something happens; then asks for some of what was answered once more, under the same keys. */
export async function underLoad(
  ledger: Ledger,
  random: Random,
  options: LoadOptions,
  happen: () => Promise<void>,
): Promise<void> {
  const load = startLoad(ledger, random, options);
  try {
    await happen();
  } finally {
    await replaySome(ledger, await load.stop(), options.route);
  }
}

const REPLAYED = 20;

/** Asks for some of what was answered once more, under the same keys. */
export async function replaySome(ledger: Ledger, intents: readonly Intent[], route: Route): Promise<void> {
  const every = Math.max(1, Math.floor(intents.length / REPLAYED));
  for (const [index, intent] of intents.entries()) {
    if (index % every === 0 && intent.answers.length > 0) await ledger.settle(intent, route);
  }
}

/** Does one operation, with what it needs, until it is answered. */
export async function perform(ledger: Ledger, operation: Operation, route: Route): Promise<void> {
  await ledger.settle(await ledger.intend(operation, route), route);
}

/** Makes a licence key with some slots. Throws {@link Unprepared} when that does not come to an end. */
export async function makeKey(ledger: Ledger, slots: number, route: Route): Promise<string> {
  const made = ledger.intendOn(createKeyOf(slots), {});
  const answer = await ledger.settle(made, route);
  if (answer === null || !isSuccess(answer)) throw new Unprepared(`a key: ${nameOf(answer)}`);
  return keyOf(made);
}
