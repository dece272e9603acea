import { setTimeout as sleep } from 'node:timers/promises';

/** How long callers wait for a running call, in milliseconds; its connection may have gone silent. */
const MAX_WAIT_MS = 100;

type Waiting<T> = Pick<PromiseWithResolvers<T>, 'resolve' | 'reject'>;

/**
 * Coalesces equal calls: callers that come while `ask` runs wait for its end, at most `MAX_WAIT_MS`; then `ask` runs once for all
 * of them. So no caller gets a result that was read before its call.
 *
 * @param nameOf the same name for equal calls
 * @param ask returns one result per caller
 */
export function coalesce<Q, T>(
  nameOf: (question: Q) => string,
  ask: (question: Q, callers: number) => Promise<readonly T[]>,
): (question: Q) => Promise<T> {
  /** The callers that wait for the next run of `ask`, by name. */
  const waiting = new Map<string, Waiting<T>[]>();

  async function answer(question: Q, callers: readonly Waiting<T>[]): Promise<void> {
    try {
      const answers = await ask(question, callers.length);
      for (const [at, { resolve }] of callers.entries()) resolve(answers[at] as T);
    } catch (error) {
      for (const { reject } of callers) reject(error);
    }
  }

  async function answerAll(name: string, question: Q, first: Waiting<T>): Promise<void> {
    for (let callers = [first]; callers.length > 0; ) {
      const next: Waiting<T>[] = [];
      waiting.set(name, next);
      await Promise.race([answer(question, callers), sleep(MAX_WAIT_MS, undefined, { ref: false })]);
      callers = next;
    }
    waiting.delete(name);
  }

  return (question) => {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const name = nameOf(question);
    const next = waiting.get(name);
    if (next === undefined) void answerAll(name, question, { resolve, reject });
    else next.push({ resolve, reject });
    return promise;
  };
}
