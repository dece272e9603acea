import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { coalesce } from '../../src/store/coalesce.ts';

/** Questions that are answered by the test, in the order in which they were asked. */
function answeredByHand() {
  const asked: { readonly name: string; readonly callers: number; readonly answer: PromiseWithResolvers<string[]> }[] =
    [];
  const ask = coalesce(
    (name: string) => name,
    (name, callers) => {
      const answer = Promise.withResolvers<string[]>();
      asked.push({ name, callers, answer });
      return answer.promise;
    },
  );
  const shape = () => asked.map(({ name, callers }) => `${name} for ${callers}`);
  return { ask, asked, shape };
}

describe('a question that many callers have', () => {
  it('is asked once for all who came while it was asked, and each has an answer of its own', async () => {
    const { ask, asked, shape } = answeredByHand();
    const answers = ['first', 'second', 'third'].map(() => ask('token'));
    expect(shape()).toEqual(['token for 1']);
    asked[0]?.answer.resolve(['1 of the first']);
    expect(await answers[0]).toBe('1 of the first');
    await nextTurn();
    const late = ask('token');
    expect(shape()).toEqual(['token for 1', 'token for 2']);
    asked[1]?.answer.resolve(['1 of the second', '2 of the second']);
    expect(await Promise.all(answers.slice(1))).toEqual(['1 of the second', '2 of the second']);
    await nextTurn();
    asked[2]?.answer.resolve(['1 of the third']);
    expect(await late).toBe('1 of the third');
    expect(shape().at(-1)).toBe('token for 1');
  });

  it('is asked at once when nobody asks it, whatever else is asked', async () => {
    const { ask, asked, shape } = answeredByHand();
    const first = ask('one');
    void ask('other');
    expect(shape()).toEqual(['one for 1', 'other for 1']);
    asked[0]?.answer.resolve(['done']);
    await first;
    await nextTurn();
    void ask('one');
    expect(shape()).toEqual(['one for 1', 'other for 1', 'one for 1']);
  });

  it('fails for those it was asked for, and for nobody after them', async () => {
    const { ask, asked } = answeredByHand();
    const failing = ask('token');
    const late = ask('token');
    asked[0]?.answer.reject(new Error('gone'));
    await expect(failing).rejects.toThrow('gone');
    await nextTurn();
    asked[1]?.answer.resolve(['back']);
    expect(await late).toBe('back');
  });

  it('is asked again while an answer does not come, which then still counts for those it was asked for', async () => {
    const { ask, asked, shape } = answeredByHand();
    const silent = ask('token');
    const late = ask('token');
    await expect.poll(shape).toEqual(['token for 1', 'token for 1']);
    asked[1]?.answer.resolve(['later']);
    expect(await late).toBe('later');
    asked[0]?.answer.resolve(['at last']);
    expect(await silent).toBe('at last');
  });
});
