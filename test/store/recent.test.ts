import { expect, it } from 'vitest';
import { createRecent } from '../../src/store/recent.ts';

it('forgets what was not used for longest', () => {
  const recent = createRecent<number>(2);
  recent.set('a', 1);
  recent.set('b', 2);
  expect(recent.get('a')).toBe(1);
  recent.set('c', 3);
  expect(['a', 'b', 'c'].map(recent.get)).toEqual([1, undefined, 3]);
  recent.set('a', 4);
  recent.set('d', 5);
  expect(['a', 'c', 'd'].map(recent.get)).toEqual([4, undefined, 5]);
});
