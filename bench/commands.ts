import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { seed } from './earlier.ts';
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

/** Times the commands that are typed most, of two checkouts in turn. */
export async function timeCommands(oneRoot: string, otherRoot: string): Promise<TimedCommand[]> {
  const sides = await Promise.all([oneRoot, otherRoot].map(prepare));
  const timed: TimedCommand[] = [];
  try {
    for (const name of ['--version', '--help', 'keys get', 'keys get --db'] as const) {
      const rounds = Array.from({ length: ROUNDS }, () => ({
        bare: time(['-e', '0'], {}),
        times: sides.map((side) => side.time(name)),
      }));
      timed.push({
        name,
        one: median(rounds.map(({ times }) => times[0] ?? 0)),
        other: median(rounds.map(({ times }) => times[1] ?? 0)),
        bare: median(rounds.map(({ bare }) => bare)),
      });
    }
  } finally {
    for (const side of sides) await side.stop();
  }
  return timed;
}

async function prepare(root: string) {
  const [served, alone] = [await seed(root, 10), await seed(root, 10)];
  const server = await start({ server: 'lkm serve', root, fixture: served });
  const words = {
    '--version': ['--version'],
    '--help': ['--help'],
    'keys get': ['keys', 'get', served.keys[0] ?? '', '-P', served.productId, '--base-url', server.url],
    'keys get --db': ['keys', 'get', alone.keys[0] ?? '', '-P', alone.productId, '--db', alone.db],
  };
  return {
    time: (name: keyof typeof words) =>
      time([join(root, 'bin/lkm.js'), ...words[name]], { HOME: served.folder, LKM_TOKEN: served.token }),
    async stop() {
      await server.stop();
      await served.remove();
      await alone.remove();
    },
  };
}

function time(words: readonly string[], env: Readonly<Record<string, string>>): number {
  const started = performance.now();
  const { status, stderr } = spawnSync(process.execPath, words, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (status !== 0) throw new Error(`${words.slice(1, 3).join(' ')} ended with ${status}: ${stderr}`);
  return performance.now() - started;
}

const median = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
