import { join } from 'node:path';
import { lkm, run } from '../faults/process.ts';
import { makeDatabase } from './database.ts';
import { middle } from './figures.ts';
import { type Running, start } from './measure.ts';

// How fast one command issues many keys, beside what its server issues to 32 connections that do nothing else. Both are
// measured in turns, since a machine that others share is not equally fast from one second to the next.
//
//   npm run bench:bulk                 3 turns of 20 000 keys
//   npm run bench:bulk -- 5000 5       5 turns of 5 000
//
// The time of the command counts from its start to its end: reading, journal and results are in it.

const [rows = 20_000, turns = 3] = process.argv.slice(2).map(Number);
const GOAL = 0.7;
const LOAD_SECONDS = 4;

const fixture = await makeDatabase(1);
const { folder, token, productId } = fixture;
try {
  await compareWith(await start({ server: 'lkm serve', fixture }));
} finally {
  await fixture.remove();
}

async function compareWith(server: Running): Promise<void> {
  const env = {
    ...{ PATH: process.env.PATH, HOME: folder },
    ...{ LKM_BASE_URL: server.url, LKM_TOKEN: token, LKM_PRODUCT: productId },
  };
  try {
    await server.load('create-key once', LOAD_SECONDS);
    const ratios: number[] = [];
    for (let turn = 1; turn <= turns; turn++) {
      const { rate: loaded } = await server.load('create-key once', LOAD_SECONDS);
      const startedAt = performance.now();
      const argv = ['keys', 'create', '--count', String(rows), '--run', `turn-${turn}`, '--format', 'csv'];
      await run([...lkm, ...argv, '-o', join(folder, `${turn}.csv`)], { env });
      const issued = (rows * 1_000) / (performance.now() - startedAt);
      ratios.push(issued / loaded);
      const ratio = (issued / loaded).toFixed(2);
      print(`turn ${turn}: server ${loaded.toFixed(0)}/s, command ${issued.toFixed(0)}/s, ${ratio}`);
    }
    const ratio = middle(ratios);
    print(`ratio ${ratio.toFixed(2)}, goal ${GOAL}`);
    process.exitCode = ratio < GOAL ? 1 : 0;
  } finally {
    await server.stop();
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
