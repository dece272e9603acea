import { expect, it } from 'vitest';
import { remember } from '../../src/store/recent.ts';

it('forgets what was not used for longest', () => {
  const made: string[] = [];
  const remembered = remember<string>(2);
  for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) {
    const value = remembered(key, () => {
      made.push(key);
      return key.toUpperCase();
    });
    expect(value).toBe(key.toUpperCase());
  }
  expect(made).toEqual(['a', 'b', 'c', 'b']);
});
