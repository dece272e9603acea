import { defineConfig } from 'vitest/config';
import config from '../vitest.config.ts';

// The projects that run the sources in the process of the test, without the tests of the command, which mutants/ does not change.

const taken = ['unit', 'engines', 'api', 'races'];

const projects = (config.test?.projects ?? []) as { test: { name: string; exclude?: string[] } }[];

export default defineConfig({
  ...config,
  root: process.cwd(),
  test: {
    ...config.test,
    // A mutant that a test fails by chance is not noticed.
    retry: 1,
    projects: projects
      .filter(({ test }) => taken.includes(test.name))
      .map(({ test, ...project }) => ({
        ...project,
        test: { ...test, exclude: [...(test.exclude ?? []), 'test/{cli,model}/**'] },
      })),
  },
});
