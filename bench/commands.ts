import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { seed } from './earlier.ts';
import { middle } from './figures.ts';
import { start } from './measure.ts';

/** How long one command takes from start to exit, in milliseconds: the median of all rounds. */
export interface TimedCommand {
  readonly name: string;
  readonly one: number;
  readonly other: number;
  /** `node -e 0`, timed in the same rounds. */
  readonly bare: number;
}

const ROUNDS = 15;

const names = ['--version', '--help', 'keys get', 'keys get --db'] as const;

/** Times the commands that are typed most, of two checkouts in turn. */
export async function timeCommands(oneRoot: string, otherRoot: string): Promise<TimedCommand[]> {
  const sides = await Promise.all([oneRoot, otherRoot].map(prepare));
  try {
    return names.map((name) => {
      const rounds = Array.from({ length: ROUNDS }, () => [
        time(['-e', '0'], {}),
        ...sides.map((side) => side.time(name)),
      ]);
      const [bare = 0, one = 0, other = 0] = [0, 1, 2].map((at) => middle(rounds.map((round) => round[at] ?? 0)));
      return { name, one, other, bare };
    });
  } finally {
    for (const side of sides) await side.stop();
  }
}

async function prepare(root: string) {
  const [served, alone] = [await seed(root, 10), await seed(root, 10)];
  const server = await start({ server: 'lkm serve', root, fixture: served });
  const argv = {
    '--version': ['--version'],
    '--help': ['--help'],
    'keys get': ['keys', 'get', served.keys[0] ?? '', '-P', served.productId, '--base-url', server.url],
    'keys get --db': ['keys', 'get', alone.keys[0] ?? '', '-P', alone.productId, '--db', alone.db],
  };
  const env = { HOME: served.folder, LKM_TOKEN: served.token };
  return {
    time: (name: keyof typeof argv) => time([join(root, 'bin/lkm.js'), ...argv[name]], env),
    async stop() {
      await server.stop();
      await served.remove();
      await alone.remove();
    },
  };
}

/** Runs Node.js once. */
function time(words: readonly string[], env: Readonly<Record<string, string>>): number {
  const started = performance.now();
  const { status, stderr } = spawnSync(process.execPath, words, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (status !== 0) throw new Error(`${words.slice(0, 3).join(' ')} ended with ${status}: ${stderr}`);
  return performance.now() - started;
}
