import { expect, it } from 'vitest';
import { changedFields } from '../../src/domain/changed-fields.ts';

const before = { name: 'Ada', email: null, active: true, types: ['a', 'b'] };

it('names what was given and differs, in the order in which it was given', () => {
  expect(changedFields(before, { active: false, name: 'Ada Ltd', email: undefined })).toEqual(['active', 'name']);
  expect(changedFields(before, { types: ['b'] })).toEqual(['types']);
  expect(changedFields(before, { email: 'it@ada.example' })).toEqual(['email']);
});

it('names nothing that is given as it was, or not at all', () => {
  expect(changedFields(before, { name: 'Ada', email: null, active: true, types: ['a', 'b'] })).toEqual([]);
  expect(changedFields(before, {})).toEqual([]);
});
