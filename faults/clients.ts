import { type Intent, isSuccess, type Ledger, type Route } from './ledger.ts';
import { createKeyOf, keyOf, type Operation, operations, SLOTS, signSharedKey } from './operations.ts';
import type { Random } from './random.ts';

/** Clients that go on until they are told to stop; each then finishes what it has begun. */
export interface Load {
  /** Resolves to what was asked in this load, once every client has come to an end. */
  stop(): Promise<readonly Intent[]>;
}

/**
 * Puts `clients` to work, each with one request at a time: every mutating endpoint in turn, and in between one key
 * with few slots that all of them sign.
 */
export function startLoad(ledger: Ledger, random: Random, clients: number, route: Route): Load {
  const before = ledger.intents.length;
  let stopped = false;
  let shared: Promise<string | null> | null = null;
  let left = 0;

  async function sharedKey(): Promise<string | null> {
    if (left === 0) {
      left = SLOTS + 2;
      shared = makeKey(ledger, SLOTS, route);
    }
    left -= 1;
    return shared;
  }

  async function work(): Promise<void> {
    while (!stopped) {
      if (random.below(4) === 0) {
        const licenseKey = await sharedKey();
        if (licenseKey !== null) await ledger.settle(ledger.intendOn(signSharedKey, { licenseKey }), route);
        continue;
      }
      await perform(ledger, random.pick(operations), route);
    }
  }

  const running = Promise.all(Array.from({ length: clients }, work));
  return {
    async stop() {
      stopped = true;
      await running;
      return ledger.intents.slice(before);
    },
  };
}

/** Does one operation, with what it needs, until it is answered. */
export async function perform(ledger: Ledger, operation: Operation, route: Route): Promise<Intent | null> {
  const intent = await ledger.intend(operation, route);
  if (intent !== null) await ledger.settle(intent, route);
  return intent;
}

/** Makes a licence key with some slots; null when that does not come to an end. */
export async function makeKey(ledger: Ledger, slots: number, route: Route): Promise<string | null> {
  const made = ledger.intendOn(createKeyOf(slots), {});
  const answer = await ledger.settle(made, route);
  return answer !== null && isSuccess(answer) ? keyOf(made) : null;
}

/** Asks for some of what has been answered once more, under the same keys. */
export async function replaySome(
  ledger: Ledger,
  intents: readonly Intent[],
  count: number,
  route: Route,
): Promise<void> {
  const every = Math.max(1, Math.floor(intents.length / count));
  for (let index = 0; index < intents.length; index += every) {
    const intent = intents[index];
    if (intent !== undefined && intent.answers.length > 0) await ledger.settle(intent, route);
  }
}
