import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { seed } from './earlier.ts';
import { middle } from './figures.ts';
import { start } from './measure.ts';

/** How long one command takes from start to exit, in milliseconds: the median of all rounds; NaN for one that there is not. */
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
    for (const [form, prefix] of forms) {
      for (const name of names) {
        const rounds = Array.from({ length: ROUNDS }, () => [
          time([process.execPath, '-e', '0'], {}),
          ...sides.map((side) => side.time(form, name)),
        ]);
        const [bare = 0, one = 0, other = 0] = [0, 1, 2].map((at) => middle(rounds.map((round) => round[at] ?? 0)));
        timed.push({ name: `${prefix}${name}`, one, other, bare });
      }
    }
  } finally {
    for (const side of sides) await side.stop();
  }
  return timed;
}

const names = ['--version', '--help', 'keys get', 'keys get --db'] as const;

/** The command of the package, and the single file with Node.js in it. */
const forms = [
  ['package', ''],
  ['file', 'file: '],
] as const;

async function prepare(root: string) {
  const file = makeFile(root);
  const [served, alone] = [await seed(root, 10), await seed(root, 10)];
  const server = await start({ server: 'lkm serve', root, fixture: served });
  const argv = {
    '--version': ['--version'],
    '--help': ['--help'],
    'keys get': ['keys', 'get', served.keys[0] ?? '', '-P', served.productId, '--base-url', server.url],
    'keys get --db': ['keys', 'get', alone.keys[0] ?? '', '-P', alone.productId, '--db', alone.db],
  };
  const env = { HOME: served.folder, LKM_TOKEN: served.token };
  const commands = { package: [process.execPath, join(root, 'bin/lkm.js')], file: file === null ? null : [file] };
  return {
    time(form: keyof typeof commands, name: keyof typeof argv) {
      const command = commands[form];
      return command === null ? Number.NaN : time([...command, ...argv[name]], env);
    },
    async stop() {
      await server.stop();
      await served.remove();
      await alone.remove();
    },
  };
}

/** Makes the single file of a checkout; null for an early version, which has none. */
function makeFile(root: string): string | null {
  const tool = 'tools/build-binary.ts';
  if (!existsSync(join(root, tool))) return null;
  const printed = execFileSync(process.execPath, [tool], { cwd: root, encoding: 'utf8', stdio: 'pipe' });
  return join(root, printed.trim().split('\n').at(-1) ?? '');
}

function time([program = '', ...words]: readonly string[], env: Readonly<Record<string, string>>): number {
  const started = performance.now();
  const { status, stderr } = spawnSync(program, words, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (status !== 0) throw new Error(`${words.slice(0, 3).join(' ')} ended with ${status}: ${stderr}`);
  return performance.now() - started;
}
