import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { AuthorizedRequest, Operation, Target } from './operations.ts';
import { fail, type Report } from './report.ts';
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

/** What an operation needs could not be made. */
export class Unprepared extends Error {}

/** All that was asked of a world, and all that it answered. Lives outside the server, and survives it. */
export type Ledger = ReturnType<typeof openLedger>;

const REQUEST_TIMEOUT_MS = 30_000;
const LOCK_TIMEOUT_MS = 45_000;

/** A sabotaged client gives each attempt a key of its own. */
export function openLedger({ token, productId }: World, { keepKey = true } = {}) {
  const agent = new Agent({ connections: null, keepAliveTimeout: 10_000, headersTimeout: REQUEST_TIMEOUT_MS });
  const intents: Intent[] = [];

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

  /** Sends once. Null is no answer. Final answers are kept. */
  async function send(intent: Intent, url: string): Promise<Answer | null> {
    intent.sent += 1;
    const key = keepKey || intent.sent === 1 ? intent.key : randomUUID();
    const answer = await exchange(url, intent.ask, key);
    if (answer !== null && isFinal(answer)) intent.answers.push(answer);
    return answer;
  }

  async function settleOnce(intent: Intent, route: Route): Promise<Answer | null> {
    const deadline = performance.now() + LOCK_TIMEOUT_MS;
    for (let attempt = 0; ; attempt += 1) {
      const answer = await send(intent, route(attempt));
      if (answer !== null && isFinal(answer)) return answer;
      if (performance.now() > deadline) return null;
      await sleep(Math.min(200, 5 * 2 ** Math.min(attempt, 6)));
    }
  }

  /** Sends until there is a final answer, so many times; null when there is none in time. */
  async function settle(intent: Intent, route: Route, times = 1): Promise<Answer | null> {
    let answer: Answer | null = null;
    for (let turn = 0; turn < times; turn += 1) answer = await settleOnce(intent, (attempt) => route(attempt + turn));
    return answer;
  }

  /** Writes an intent on a known target down. */
  function intendOn(operation: Operation, target: Target, consumes?: Intent): Intent {
    const mark = randomUUID();
    const ask = operation.ask(mark, target, productId);
    const intent: Intent = { operation, mark, key: randomUUID(), target, ask, answers: [], sent: 0, undoneBy: null };
    if (consumes !== undefined) consumes.undoneBy = intent;
    intents.push(intent);
    return intent;
  }

  return {
    intents: intents as readonly Intent[],
    /** Writes an intent down, after what it needs has been made. Throws {@link Unprepared} when that fails. */
    async intend(operation: Operation, route: Route): Promise<Intent> {
      const given = await operation.prepare?.(async (first, target = {}) => {
        const intent = intendOn(first, target);
        const answer = await settle(intent, route);
        if (answer === null || !isSuccess(answer)) throw new Unprepared(`${first.name}: ${answer?.body ?? 'nothing'}`);
        return intent;
      });
      return intendOn(operation, given?.target ?? {}, given?.consumes);
    },
    intendOn,
    send,
    settle,
    /** Sends without an idempotency key, and keeps nothing. */
    sendBare: (ask: AuthorizedRequest, url: string) => exchange(url, ask, null),
    close: () => agent.destroy(),
  };
}

/** An answer's status and code, as `409/3`, or `nothing`. */
export function nameOf(answer: Answer | null): string {
  if (answer === null) return 'nothing';
  try {
    return `${answer.status}/${(JSON.parse(answer.body) as { code?: number }).code}`;
  } catch {
    return String(answer.status);
  }
}

/** Counts an answer that is not the one expected. */
export function expectAnswer(report: Report, answer: Answer | null, expected: string, when: string): void {
  if (nameOf(answer) !== expected) fail(report, 'wrong', `${nameOf(answer)} instead of ${expected}: ${when}`);
}

/** Whether an answer says what has become of the request. */
export const isFinal = (answer: Answer): boolean =>
  answer.status < 500 && answer.status !== 429 && nameOf(answer) !== '409/3';

export const isSuccess = ({ status }: Answer): boolean => status < 300;
