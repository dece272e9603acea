import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const postgres = 'test/support/postgres.ts';
const built = 'test/support/build.ts';

/** Test files by what they need. One that is in no list needs nothing, and is of the project `unit`. */
const needs = {
  /** A database of each engine. */
  api: ['test/api/**/*.test.ts'],
  /** A PostgreSQL server, and a SQLite file. */
  engines: ['test/{model,server,store}/**/*.test.ts', 'test/cli/postgres.test.ts'],
  /** The built command, or time for processes that run one after the other. */
  built: [
    'test/{built,desk}/**/*.test.ts',
    'test/cli/canary.test.ts',
    'test/{binary,captures,entry-points,examples,package,readme,receivers,shop-webhook,verifiers}.test.ts',
    'test/tools/release.test.ts',
  ],
  /** Time, processes to kill, and the built command. */
  faults: ['test/faults/**/*.test.ts', 'test/cli/killed.test.ts'],
};

/** What `npm test` runs of them, besides `unit` and `api` on SQLite: what decides whether lkm does its work. */
const short = {
  /** What needs PostgreSQL, and what several do at once there: each key once, each slot once, on replicas too. */
  races: 'test/api/{at-once,create-against-delete,idempotency,key-strings,replicas,slot-race}.test.ts',
  /** The main job with the built command. */
  tour: ['test/readme.test.ts', 'test/built/{quickstart,serve}.test.ts'],
};

/** Who may do what, tried at every endpoint: that is decided by the same statements on each engine. */
const rights = 'test/api/{authentication,isolation,replay-rights}.test.ts';

/** Takes longest of all that need a database. Begun at the end, as small files are, it would run alone. */
const isLong = ({ moduleId }: TestSpecification) => moduleId.endsWith('/every-endpoint.test.ts');

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
    globalSetup: 'test/support/temporary-folder.ts',
    // By default one core is left alone; with two that would be half of the machine.
    maxWorkers: '100%',
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // On a busy machine a second, which is the default, is not always enough.
    expect: { poll: { timeout: 10_000 } },
    unstubEnvs: true,
    restoreMocks: true,
    projects: [
      // In one context for all files: loading the same modules again for each takes as long as the tests.
      project('unit', ['test/**/*.test.ts'], { exclude: Object.values(needs).flat(), isolate: false }),
      project('engines', needs.engines, { globalSetup: postgres }),
      // Many processes start one after the other there, which a busy machine takes long for.
      project('built', needs.built, { globalSetup: built, testTimeout: 120_000, exclude: short.tour }),
      project('faults', needs.faults, { globalSetup: [postgres, built] }),
      project('api', needs.api, { exclude: [short.races], env: { LKM_TEST_ENGINE: 'SQLite' } }),
      project('postgres', needs.api, {
        globalSetup: postgres,
        exclude: [short.races, rights],
        env: { LKM_TEST_ENGINE: 'PostgreSQL' },
      }),
      project('races', [short.races], { globalSetup: postgres }),
      project('tour', short.tour, { globalSetup: built, testTimeout: 120_000 }),
    ],
  },
});

interface ProjectOptions {
  readonly globalSetup?: string | string[];
  readonly exclude?: string[];
  readonly isolate?: false;
  readonly testTimeout?: number;
  readonly env?: Readonly<Record<string, string>>;
}

function project(name: string, include: string[], more: ProjectOptions) {
  return { extends: true as const, test: { name, include, ...more } };
}
