import { defineConfig } from 'vitest/config';

const postgres = 'test/support/postgres.ts';
const built = 'test/support/build.ts';

/** Test files by what they need. One that is in no list needs nothing, and is of the project `unit`. */
const needs = {
  /** A PostgreSQL server. */
  engines: ['test/{api,model,server,store,support}/**/*.test.ts', 'test/cli/postgres.test.ts'],
  /** The built command, or time for processes that run one after the other. */
  built: [
    'test/{built,house}/**/*.test.ts',
    'test/cli/canary.test.ts',
    'test/{binary,captures,doors,examples,license-file-door,package,readme,receivers,verifiers}.test.ts',
    'test/tools/release.test.ts',
    'test/tools/trace.test.ts',
  ],
  /** Time, processes to kill, and the built command. */
  faults: ['test/faults/**/*.test.ts', 'test/cli/killed.test.ts'],
};

export default defineConfig({
  test: {
    globalSetup: 'test/support/temporary-folder.ts',
    // By default one core is left alone; with two that would be half of the machine.
    maxWorkers: '100%',
    testTimeout: 30_000,
    hookTimeout: 30_000,
    unstubEnvs: true,
    restoreMocks: true,
    projects: [
      // In one context for all files: loading the same modules again for each takes as long as the tests.
      project('unit', ['test/**/*.test.ts'], { exclude: Object.values(needs).flat(), isolate: false }),
      project('engines', needs.engines, { globalSetup: postgres }),
      // Many processes start one after the other there, which a busy machine takes long for.
      project('built', needs.built, { globalSetup: built, testTimeout: 120_000 }),
      project('faults', needs.faults, { globalSetup: [postgres, built] }),
    ],
  },
});

type ProjectOptions = { globalSetup?: string | string[]; exclude?: string[]; isolate?: false; testTimeout?: number };

function project(name: string, include: string[], more: ProjectOptions) {
  return { extends: true as const, test: { name, include, ...more } };
}
