import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lkm, run } from '../faults/process.ts';
import { type Fixture, makeDatabase } from './database.ts';
import { middle, print } from './figures.ts';
import { type Running, start } from './measure.ts';

const TURNS = 5;
const LOAD_SECONDS = 4;

/**
 * Prints how many keys a second one command issues, from its start to its end, beside what the server issues to 32
 * connections in the same turns; then how long it takes to import as many keys.
 */
export async function timeBulk(rows: number): Promise<void> {
  const fixture = await makeDatabase(1);
  const server = await start({ server: 'lkm serve', fixture });
  try {
    await server.load('create-key once', LOAD_SECONDS);
    print('', 'server, per s', 'command, per s', 'ratio');
    const ratios: number[] = [];
    for (let turn = 1; turn <= TURNS; turn += 1) {
      const { rate } = await server.load('create-key once', LOAD_SECONDS);
      const issued =
        rows / (await timeCommand(fixture, server, ['create', '--count', String(rows), '--run', `${turn}`]));
      ratios.push(issued / rate);
      print(`turn ${turn}`, rate, issued, issued / rate);
    }
    print('median', '', '', middle(ratios));
    const file = join(fixture.folder, 'keys.csv');
    writeFileSync(
      file,
      `key,maxActivations,customerEmail,createdAt\n${Array.from({ length: rows }, importedRow).join('')}`,
    );
    print('import, s', await timeCommand(fixture, server, ['import', '--yes', '-f', file]));
  } finally {
    await server.stop();
    await fixture.remove();
  }
}

/** A key of another system, for one of 500 customers. */
const importedRow = (_: unknown, at: number): string =>
  `ACME-${String(at).padStart(8, '0')}-FOREIGN-FORMAT,${(at % 5) + 1},c${at % 500}@example.com,2020-01-01T00:00:00Z\n`;

/** How long `lkm keys …` runs, in seconds. */
async function timeCommand({ folder, token, productId }: Fixture, { url }: Running, words: readonly string[]) {
  const env = {
    ...{ PATH: process.env.PATH, HOME: folder },
    ...{ LKM_BASE_URL: url, LKM_TOKEN: token, LKM_PRODUCT: productId },
  };
  const started = performance.now();
  await run([...lkm, 'keys', ...words, '--format', 'csv', '-o', join(folder, `${started}.csv`)], { env });
  return (performance.now() - started) / 1_000;
}
