import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import config from '../vitest.config.ts';

// The projects of the checkout, for the runs that mutants/ makes in its copies: the files in the order that they are
// named in, so that the quick ones come first, in one context, one at a time.

const order = (process.env.LKM_MUTANTS_ORDER ?? '').split('\n');

/** Where a file's own evaluation of every module is to be seen, each file loads them all. */
const isRecording = process.env.LKM_MUTANTS_HITS !== undefined;

class GivenOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) => order.findIndex((file) => moduleId.endsWith(file));
    return files.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

const projects = (config.test?.projects ?? []) as { test: object }[];

export default defineConfig({
  ...config,
  root: process.cwd(),
  test: {
    ...config.test,
    maxWorkers: isRecording ? '100%' : 1,
    sequence: { sequencer: GivenOrder },
    setupFiles: isRecording ? ['mutants/record-hits.ts'] : [],
    projects: projects.map((project) => ({ ...project, test: { ...project.test, isolate: isRecording } })),
  },
});
