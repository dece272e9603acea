import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import config from '../vitest.config.ts';

const cwd = join(import.meta.dirname, '..');
const projects = (config.test?.projects ?? []) as {
  test: { name: string; include: string[]; exclude?: string[]; globalSetup?: string | string[] };
}[];
const filesOf = ({ test }: (typeof projects)[number]): string[] =>
  globSync(test.include, { cwd, exclude: test.exclude ?? [] });

/** Those of `npm run test:all`; what is in one of the others is there as well. */
const whole = projects.filter(({ test }) => !['api', 'races', 'tour'].includes(test.name));

it('every test file belongs to exactly one project of the whole run', () => {
  const files = whole.flatMap(filesOf);
  expect(files.toSorted()).toEqual(globSync('test/**/*.test.ts', { cwd }).toSorted());
});

it('every pattern of a project names a test file', () => {
  const patterns = projects.flatMap(({ test }) => [...test.include, ...(test.exclude ?? [])]);
  expect(patterns.filter((pattern) => globSync(pattern, { cwd }).length === 0)).toEqual([]);
});

it('a test that starts the built command belongs to a project that builds it', () => {
  const starts = (file: string) => /bin\/lkm\.js/.test(readFileSync(join(cwd, file), 'utf8'));
  const unbuilt = projects.filter(({ test }) => ![test.globalSetup].flat().includes('test/support/build.ts'));
  // It needs no build: an old Node.js is refused before anything of it is loaded.
  expect(unbuilt.flatMap(filesOf).filter(starts)).toEqual(['test/cli/start.test.ts']);
});
