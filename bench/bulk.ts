import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { lkm, run } from '../faults/process.ts';
import { seed } from './database.ts';
import { middle, print } from './figures.ts';
import { start } from './measure.ts';

const TURNS = 5;
const LOAD_SECONDS = 4;

/**
 * Prints how many keys a second one command issues, from its start to its end, beside what the server issues to 32
 * connections in the same turns; then how long it takes to import as many keys.
 */
export async function timeBulk(rows: number): Promise<void> {
  const root = dirname(import.meta.dirname);
  const fixture = await seed(root, 1);
  const { folder, token, productId } = fixture;
  const server = await start({ root, fixture: async () => fixture });
  const env = {
    ...{ PATH: process.env.PATH, HOME: folder },
    ...{ LKM_BASE_URL: server.url, LKM_TOKEN: token, LKM_PRODUCT: productId },
  };
  /** How long `lkm keys …` runs, in seconds. */
  const timeCommand = async (...words: readonly string[]) => {
    const started = performance.now();
    await run([...lkm, 'keys', ...words, '--format', 'csv', '-o', join(folder, `${started}.csv`)], { env });
    return (performance.now() - started) / 1_000;
  };
  await server.load('create-key once', LOAD_SECONDS);
  print('', 'server, per s', 'command, per s', 'ratio');
  const ratios: number[] = [];
  for (let turn = 1; turn <= TURNS; turn += 1) {
    const { rate } = await server.load('create-key once', LOAD_SECONDS);
    const issued = rows / (await timeCommand('create', '--count', String(rows), '--run', `${turn}`));
    ratios.push(issued / rate);
    print(`turn ${turn}`, rate, issued, issued / rate);
  }
  print('median', '', '', middle(ratios));
  const file = join(folder, 'keys.csv');
  const imported = Array.from({ length: rows }, importedRow).join('');
  writeFileSync(file, `key,maxActivations,customerEmail,createdAt\n${imported}`);
  print('import, s', await timeCommand('import', '--yes', '-f', file));
  await server.stop();
}

/** A key of another system, for one of 500 customers. */
const importedRow = (_: unknown, at: number): string =>
  `ACME-${String(at).padStart(8, '0')}-FOREIGN-FORMAT,${(at % 5) + 1},c${at % 500}@example.com,2020-01-01T00:00:00Z\n`;
