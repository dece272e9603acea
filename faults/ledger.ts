import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { selfSigned } from '../test/client/self-signed.ts';
import type { AuthorizedRequest, Operation, Target } from './operations.ts';
import type { World } from './world.ts';

/** An answer that was read to its end. */
export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly replayed: boolean;
}

/** One mutation that a client wants done once, written down before it is sent. */
export interface Intent {
  readonly operation: Operation;
  /** Is in what the intent makes. */
  readonly mark: string;
  readonly key: string;
  readonly target: Target;
  readonly ask: AuthorizedRequest;
  /** Final answers, in the order of their arrival. */
  readonly answers: Answer[];
  sent: number;
  /** The intent that undoes this one. */
  undoneBy: Intent | null;
}

/** Where a request goes next: asked anew for each attempt, for servers come and go. */
export type Route = (attempt: number) => string;

/** All that was asked of a world, and all that it answered. Lives outside the server, and survives it. */
export interface Ledger {
  readonly intents: readonly Intent[];
  /** How often each answer that settles nothing came, as `status/code`, or `none`. */
  readonly unsettling: ReadonlyMap<string, number>;
  /** Requests for an intent that were sent, again ones included. */
  readonly sent: number;
  /** Writes an intent down, after what it needs has been made. Null when that did not come to an end. */
  intend(operation: Operation, route: Route): Promise<Intent | null>;
  /** Writes an intent on a known target down. */
  intendOn(operation: Operation, target: Target): Intent;
  /** Sends once. Null is no answer. Final answers are kept. */
  send(intent: Intent, url: string): Promise<Answer | null>;
  /** Sends until there is a final answer; null when there is none in time. */
  settle(intent: Intent, route: Route): Promise<Answer | null>;
  /** Sends without an idempotency key, and keeps nothing. */
  sendBare(ask: AuthorizedRequest, url: string): Promise<Answer | null>;
  close(): Promise<void>;
}

const REQUEST_TIMEOUT_MS = 30_000;

const LOCK_TIMEOUT_MS = 45_000;

/** A sabotaged client gives each attempt a key of its own. */
export function openLedger({ token, productId }: World, { keepKey = true } = {}): Ledger {
  const agent = new Agent({
    connections: null,
    keepAliveTimeout: 10_000,
    headersTimeout: REQUEST_TIMEOUT_MS,
    connect: { ca: selfSigned.cert },
  });
  const intents: Intent[] = [];
  const unsettling = new Map<string, number>();
  let sent = 0;

  async function exchange(url: string, ask: AuthorizedRequest, key: string | null): Promise<Answer | null> {
    try {
      const { statusCode, headers, body } = await request(`${url}${ask.path}`, {
        method: ask.method,
        dispatcher: agent,
        bodyTimeout: REQUEST_TIMEOUT_MS,
        headers: {
          authorization: `Bearer ${token}`,
          ...(ask.body === null ? {} : { 'content-type': 'application/json' }),
          ...(key === null ? {} : { 'idempotency-key': key }),
        },
        body: ask.body,
      });
      return {
        status: statusCode,
        type: String(headers['content-type']),
        body: await body.text(),
        replayed: headers['idempotency-replayed'] === 'true',
      };
    } catch {
      return null; // refused, reset, cut off in the middle: nothing is known
    }
  }

  async function send(intent: Intent, url: string): Promise<Answer | null> {
    intent.sent += 1;
    sent += 1;
    const key = keepKey || intent.sent === 1 ? intent.key : randomUUID();
    const answer = await exchange(url, intent.ask, key);
    if (answer !== null && isFinal(answer)) {
      intent.answers.push(answer);
      return answer;
    }
    const name = answer === null ? 'none' : nameOf(answer);
    unsettling.set(name, (unsettling.get(name) ?? 0) + 1);
    return answer;
  }

  async function settle(intent: Intent, route: Route): Promise<Answer | null> {
    const deadline = performance.now() + LOCK_TIMEOUT_MS;
    for (let attempt = 0; ; attempt += 1) {
      const answer = await send(intent, route(attempt));
      if (answer !== null && isFinal(answer)) return answer;
      if (performance.now() > deadline) return null;
      await sleep(Math.min(200, 5 * 2 ** Math.min(attempt, 6)));
    }
  }

  function record(operation: Operation, target: Target, consumes?: Intent): Intent {
    const mark = randomUUID();
    const intent: Intent = {
      operation,
      mark,
      key: randomUUID(),
      target,
      ask: operation.ask(mark, target, productId),
      answers: [],
      sent: 0,
      undoneBy: null,
    };
    if (consumes !== undefined) consumes.undoneBy = intent;
    intents.push(intent);
    return intent;
  }

  return {
    intents,
    unsettling,
    get sent() {
      return sent;
    },
    async intend(operation, route) {
      try {
        const given = await operation.prepare?.(async (first, target = {}) => {
          const intent = record(first, target);
          const answer = await settle(intent, route);
          if (answer === null || !isSuccess(answer))
            throw new Unprepared(`${first.name}: ${answer?.body ?? 'nothing'}`);
          return intent;
        });
        return record(operation, given?.target ?? {}, given?.consumes);
      } catch (error) {
        if (error instanceof Unprepared) return null;
        throw error;
      }
    },
    intendOn: record,
    send,
    settle,
    sendBare: (ask, url) => exchange(url, ask, null),
    close: () => agent.destroy(),
  };
}

class Unprepared extends Error {}

/** An answer's status and code, as `409/3`. */
export function nameOf({ status, body }: Answer): string {
  try {
    return `${status}/${(JSON.parse(body) as { code?: number }).code}`;
  } catch {
    return String(status);
  }
}

/** Whether an answer says what has become of the request. */
export const isFinal = (answer: Answer): boolean =>
  answer.status < 500 && answer.status !== 429 && nameOf(answer) !== '409/3';

/** How many answers settled nothing. */
export const countUnsettling = ({ unsettling }: Pick<Ledger, 'unsettling'>): number =>
  [...unsettling.values()].reduce((sum, times) => sum + times, 0);

export const isSuccess = ({ status }: Answer): boolean => status < 300;
