import { setTimeout as sleep } from 'node:timers/promises';

/** How long callers wait until others have their answer, in milliseconds: a connection may have gone silent. */
const MAX_WAIT_MS = 100;

type Waiting<T> = Pick<PromiseWithResolvers<T>, 'resolve' | 'reject'>;

/**
 * Makes a function that asks the same question once for many callers: those who come while `ask` runs wait until it ends, at
 * most `MAX_WAIT_MS`, and then it runs once for all of them. So no caller gets an answer that was asked for before it came.
 *
 * @param nameOf the same name for the same questions
 * @param ask returns as many answers as there are callers
 */
export function coalesce<Q, T>(
  nameOf: (question: Q) => string,
  ask: (question: Q, callers: number) => Promise<readonly T[]>,
): (question: Q) => Promise<T> {
  /** By name, while `ask` runs: who waits for the next time. */
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
