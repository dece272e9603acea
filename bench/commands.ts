import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { seed } from './database.ts';
import { middle, print } from './figures.ts';
import { start } from './measure.ts';

const ROUNDS = 15;

/** Prints how long the commands that are typed most take from start to exit, of two checkouts in turn: medians of all rounds. */
export async function timeCommands(oneRoot: string, otherRoot: string): Promise<void> {
  const sides = [await prepare(oneRoot), await prepare(otherRoot)];
  for (const name of ['--version', '--help', 'keys get', 'keys get --db'] as const) {
    const rounds = Array.from({ length: ROUNDS }, () => [
      time(['-e', '0'], {}),
      ...sides.map(({ argv, env }) => time(argv[name], env)),
    ]);
    const [bare = 0, one = 0, other = 0] = [0, 1, 2].map((at) => middle(rounds.map((round) => round[at] ?? 0)));
    print(name, one, other, other / one, other / bare);
  }
  for (const { server } of sides) await server.stop();
}

async function prepare(root: string) {
  const [served, alone] = [await seed(root, 10), await seed(root, 10)];
  const server = await start({ root, fixture: async () => served });
  const lkm = join(root, 'bin/lkm.js');
  const argv = {
    '--version': [lkm, '--version'],
    '--help': [lkm, '--help'],
    'keys get': [lkm, 'keys', 'get', served.keys[0] ?? '', '-P', served.productId, '--base-url', server.url],
    'keys get --db': [lkm, 'keys', 'get', alone.keys[0] ?? '', '-P', alone.productId, '--db', alone.db],
  };
  return { server, argv, env: { HOME: served.folder, LKM_TOKEN: served.token } };
}

/** Runs Node.js once. */
function time(words: readonly string[], env: Readonly<Record<string, string>>): number {
  const started = performance.now();
  execFileSync(process.execPath, words, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return performance.now() - started;
}
