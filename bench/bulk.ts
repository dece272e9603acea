import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lkm, run } from '../faults/process.ts';
import { makeDatabase } from './database.ts';
import { middle } from './figures.ts';
import { start } from './measure.ts';

// How fast one command works through many rows.
//
//   npm run bench:bulk                 5 turns of 20 000 keys, beside what the server issues to 32 connections
//   npm run bench:bulk -- 5000 9       9 turns of 5 000
//   npm run bench:bulk -- import       how long it takes to import 100 000 keys of another system
//   npm run bench:bulk -- import 5000  5 000
//
// Issuing is measured in turns with the load, since a machine that others share is not equally fast from one second to the
// next. The time of the command counts from its start to its end: reading, journal and results are in it.

const GOAL = 0.7;
const GOAL_SECONDS = 60;
const LOAD_SECONDS = 4;

const given = process.argv.slice(2);
const isImport = given[0] === 'import';
const [rows = isImport ? 100_000 : 20_000, turns = 5] = given.slice(isImport ? 1 : 0).map(Number);
const fixture = await makeDatabase(1);
const { folder, token, productId } = fixture;
const server = await start({ server: 'lkm serve', fixture });
try {
  const isReached = isImport ? await importKeys() : await issueKeys();
  process.exitCode = isReached ? 0 : 1;
} finally {
  await server.stop();
  await fixture.remove();
}

async function issueKeys(): Promise<boolean> {
  await server.load('create-key once', LOAD_SECONDS);
  const ratios: number[] = [];
  for (let turn = 1; turn <= turns; turn++) {
    const { rate: loaded } = await server.load('create-key once', LOAD_SECONDS);
    const seconds = await timeCommand('create', ['--count', String(rows), '--run', `turn-${turn}`]);
    const issued = rows / seconds;
    ratios.push(issued / loaded);
    const ratio = (issued / loaded).toFixed(2);
    print(`turn ${turn}: server ${loaded.toFixed(0)}/s, command ${issued.toFixed(0)}/s, ${ratio}`);
  }
  const ratio = middle(ratios);
  print(`ratio ${ratio.toFixed(2)}, goal ${GOAL}`);
  return ratio >= GOAL;
}

/** Keys of one format, each for one of 500 customers, who are made first. */
async function importKeys(): Promise<boolean> {
  const file = join(folder, 'keys.csv');
  const lines = Array.from({ length: rows }, (_, at) =>
    [
      `ACME-${String(at).padStart(8, '0')}-FOREIGN-FORMAT`,
      (at % 5) + 1,
      `c${at % 500}@example.com`,
      '2020-01-01T00:00:00Z',
    ].join(),
  );
  writeFileSync(file, `${['key,maxActivations,customerEmail,createdAt', ...lines].join('\n')}\n`);
  const seconds = await timeCommand('import', ['--yes', '-f', file]);
  print(`${rows} keys imported in ${seconds.toFixed(1)} s, goal ${GOAL_SECONDS}`);
  return seconds < GOAL_SECONDS;
}

/** How long `lkm keys …` runs, in seconds. */
async function timeCommand(command: string, argv: readonly string[]): Promise<number> {
  const env = {
    ...{ PATH: process.env.PATH, HOME: folder },
    ...{ LKM_BASE_URL: server.url, LKM_TOKEN: token, LKM_PRODUCT: productId },
  };
  const startedAt = performance.now();
  await run([...lkm, 'keys', command, ...argv, '--format', 'csv', '-o', join(folder, `${startedAt}.csv`)], { env });
  return (performance.now() - startedAt) / 1_000;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
