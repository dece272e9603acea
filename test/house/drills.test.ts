import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFolder } from '../support/engines.ts';
import { compile, makeHouse, run, runTests, writeDocument } from './drill.ts';
import { streamCustomers } from './stream-customers.ts';
import { suspendKeys } from './suspend-keys.ts';

let folder: Awaited<ReturnType<typeof createFolder>>;
beforeAll(async () => {
  folder = await createFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

describe('POST /key/suspend-all-of-customer, with a statement, a command and its tests', () => {
  const tests = ['test/api/POST-key-suspend', 'test/api/every-endpoint', 'test/cli/conformance'];

  it('takes at most six files', () => {
    expect(suspendKeys.length).toBeLessThanOrEqual(6);
  });

  it('compiles, and works on SQLite', async () => {
    const whole = join(folder.path, 'whole');
    makeHouse(whole, suspendKeys);
    expect(await compile(whole)).toBe('');
    await writeDocument(whole);
    const words =
      'SQLite.*(all keys of the customer|is not there|suspendAll)|error table|for every operation|keys suspend';
    const printed = await runTests(whole, words, tests);
    expect(printed).toMatch(/Tests {2}\d+ passed/);
  });

  it('without any one of its files, the compiler or a test names what is missing', async () => {
    const files = suspendKeys.map(({ file }) => file);
    const whole = join(folder.path, 'whole');
    for (const { file, withoutIt } of suspendKeys) {
      const part = join(folder.path, `without-${files.indexOf(file)}`);
      makeHouse(part, suspendKeys, [file]);
      if ('compiler' in withoutIt) expect(await compile(part, whole)).toMatch(withoutIt.compiler);
      else expect(await runTests(part, 'one table|for every operation', tests.slice(1))).toMatch(withoutIt.test);
    }
  });
});

describe('a stream of NDJSON from a list of 100 000 rows', () => {
  it('takes at most five files', () => {
    expect(streamCustomers.length).toBeLessThanOrEqual(5);
  });

  it('is read from the database no faster than the caller takes it', async () => {
    const house = join(folder.path, 'streaming');
    makeHouse(house, streamCustomers);
    expect(await compile(house)).toBe('');
    const seen = await run(house, 'stream-customers.run.ts', house, '100000');
    expect(seen).toEqual({
      statusCode: 200,
      type: 'application/x-ndjson',
      arrived: 100_000,
      produced: 100_000,
      isHeld: true,
      // The buffers of the connection hold some thousand rows.
      mostInBetween: expect.toSatisfy((count: number) => count < 30_000),
    });
  });
});
