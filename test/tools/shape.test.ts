import { expect, test } from 'vitest';
import { cyclesOf } from '../../tools/cycles.ts';
import { measureShape } from '../../tools/measure-shape.ts';

const lines = (count: number) => '\n'.repeat(count);

test('measures files, lines, folders and assertions', () => {
  const figures = measureShape([
    { path: 'index.ts', text: lines(10) },
    { path: 'cli/a.ts', text: `const a = 1 as unknown as string;\nconst b = [1] as const;\n${lines(18)}` },
    { path: 'cli/b.ts', text: lines(30) },
    { path: 'cli/output/c.ts', text: lines(40) },
  ]);
  expect(Object.fromEntries(figures)).toEqual({
    files: '4',
    'lines in all': '100',
    'lines of a file, median': '20',
    'lines of a file, 90th percentile': '40',
    'lines of the longest file': '40',
    'files of at most 20 lines': '2',
    'files in the largest folder': '2 (cli)',
    'files at the top of cli': '2',
    'type assertions (as)': '2',
    'import cycles': '0',
    'import cycles, types included': '0',
  });
});

test('tells a cycle of values from one that types close', () => {
  const figures = measureShape([
    { path: 'a.ts', text: "import { b } from './sub/b.ts';" },
    { path: 'sub/b.ts', text: "export { a } from '../a.ts';" },
    { path: 'c.ts', text: "import { d } from './d.ts';" },
    { path: 'd.ts', text: "import type { C } from './c.ts';" },
  ]);
  expect(figures.get('import cycles')).toBe('1');
  expect(figures.get('import cycles, types included')).toBe('2');
});

test('finds each cycle once, and none in a diamond', () => {
  expect(cyclesOf(new Map([...'abcd'].map((node) => [node, []])))).toEqual([]);
  const diamond = { a: ['b', 'c'], b: ['d'], c: ['d'], d: [] };
  expect(cyclesOf(new Map(Object.entries(diamond)))).toEqual([]);
  const two = { a: ['b'], b: ['c'], c: ['a', 'd'], d: ['e'], e: ['d'], f: ['a'] };
  expect(cyclesOf(new Map(Object.entries(two)))).toEqual([
    ['d', 'e'],
    ['a', 'b', 'c'],
  ]);
});
