import { expect, it } from 'vitest';
import { findMutants, mutate } from '../mutants/find.ts';
import { HIT, instrument } from '../mutants/hits.ts';
import { sample } from '../mutants/sample.ts';

const source = `
import { a } from './a.ts';
type Name = 'x' | 'y';
export function isFree(used: number, limit: number | null, name?: Name): boolean {
  if (!name) throw new Error('no name');
  note(used as number);
  return limit === null || (used < limit && true);
}
const list = (one: string[]) => one.map(({ length }) => length + 1) ?? [];
`;

it('changes conditions, operators, constants, results and statements, but no types, names and sentences', () => {
  const mutants = findMutants('free.ts', source);
  expect(mutants.map(({ line, before, text }) => `${line}: ${before} → ${text}`)).toEqual([
    '5: !name → (name)',
    "5: throw new Error('no name'); → ;",
    '6: note(used as number) → undefined',
    '7: limit === null || (used < limit && true) → undefined',
    '7: || → &&',
    '7: === → !==',
    '7: && → ||',
    '7: < → <=',
    '7: true → false',
    '9: one.map(({ length }) => length + 1) ?? [] → undefined',
    '9: one.map(({ length }) => length + 1) ?? [] → one.map(({ length }) => length + 1)',
    '9: length + 1 → undefined',
    '9: + → -',
    '9: 1 → 2',
  ]);
});

it('changes one place, and leaves the rest of the file', () => {
  const [mutant] = findMutants('free.ts', source).filter(({ text }) => text === '<=');
  if (mutant === undefined) throw new Error('there is no such mutant');
  expect(mutate(source, mutant)).toBe(source.replace('used < limit', 'used <= limit'));
});

it('marks every place so that its evaluation is seen, and changes no result', async () => {
  const text = 'export const twice = (n) => (n > 0 ? n * 2 : -n);\nexport const result = twice(4);\n';
  const mutants = findMutants('twice.ts', text);
  const hits = new Set<string>();
  Reflect.set(globalThis, HIT, (id: string) => hits.add(id));
  const { result } = await import(`data:text/javascript,${encodeURIComponent(instrument(text, mutants))}`);
  Reflect.deleteProperty(globalThis, HIT);
  expect(result).toBe(8);
  expect(mutants.filter(({ id }) => !hits.has(id)).map(({ before }) => before)).toEqual(['-n']);
});

it('takes of every file at least one, in proportion to its size, and the same ones for the same seed', () => {
  const large = findMutants('large.ts', Array(20).fill('export const a = f(1 + 2);').join('\n'));
  const small = findMutants('small.ts', 'export const b = 1;');
  const chosen = sample([...large, ...small], 10, 1);
  expect(chosen.map(({ file }) => file)).toEqual([...Array(9).fill('large.ts'), 'small.ts']);
  expect(new Set(chosen.map(({ line }) => line)).size).toBe(9);
  expect(sample([...large, ...small], 10, 1)).toEqual(chosen);
  expect(sample([...large, ...small], 10, 2)).not.toEqual(chosen);
});
