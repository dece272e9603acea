import { expect, it } from 'vitest';
import { differences } from '../../src/domain/changes.ts';

const before = { name: 'Ada', email: null as string | null, active: true, types: ['a', 'b'] };

it('returns what was given and differs, in the order in which it was given', () => {
  const given = { active: false, name: 'Ada Ltd', email: undefined };
  expect(Object.entries(differences(before, given))).toEqual([
    ['active', false],
    ['name', 'Ada Ltd'],
  ]);
  expect(differences(before, { types: ['b'] })).toEqual({ types: ['b'] });
  expect(differences(before, { email: 'it@ada.example' })).toEqual({ email: 'it@ada.example' });
});

it('returns nothing of what is given as it was, or not at all', () => {
  expect(differences(before, structuredClone(before))).toEqual({});
  expect(differences(before, {})).toEqual({});
});
