import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { HIT, type Hits } from './hits.ts';

// In every test file of the run over the instrumented copy: writes down which mutants' sites it evaluates, and how long
// it takes.

const hits = new Set<string>();
const start = performance.now();
Reflect.set(globalThis, HIT, (id: string) => hits.add(id));

let file = '';
beforeAll(() => {
  file = relative(process.cwd(), expect.getState().testPath ?? '');
});

afterAll(() => {
  const record: Hits = { file, pid: process.pid, ms: performance.now() - start, hits: [...hits] };
  writeFileSync(join(process.env.LKM_MUTANTS_HITS ?? '', `${randomUUID()}.json`), JSON.stringify(record));
});
