import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

/** One command of a console block and what it is shown to print; `…` stands for any text. */
interface Step {
  readonly command: string;
  readonly shown: readonly string[];
}

it('prints what the README shows, block after block', { timeout: 180_000 }, () => {
  const steps = readSteps(readFileSync(join(root, 'README.md'), 'utf8'));
  expect(steps.length).toBeGreaterThan(10);
  const printed = runAll(steps.map(({ command }) => command));
  for (const [index, { command, shown }] of steps.entries()) {
    expect(printed[index], `$ ${command}`).toMatch(toPattern(shown));
  }
});

it('tells a shown line from another one', () => {
  expect('prod_1\n').toMatch(toPattern(['prod_…']));
  expect('prod_1\nmore\n').not.toMatch(toPattern(['prod_…']));
  expect('a\nb\nc\n').toMatch(toPattern(['a', '…']));
  expect('cus_1\n').not.toMatch(toPattern(['prod_…']));
});

it('serves the database of the tour', () => {
  const commands = readSteps(readFileSync(join(root, 'README.md'), 'utf8')).map(({ command }) => command);
  const at = commands.findIndex((command) => command.startsWith(inBackground));
  expect(commands.slice(0, at).some((command) => command.includes('keys create'))).toBe(true);
  expect(commands.slice(at).filter((command) => command.includes('lkm -p local '))).not.toEqual([]);
});

/** The server goes on beside the commands that follow; it takes a free port. */
const inBackground = 'lkm serve --db lkm.db --port 0 2>serve.log & SERVER=$!';
const untilReady = 'for _ in $(seq 300); do grep -q "ready at" serve.log && break; sleep 0.1; done';

function readSteps(readme: string): Step[] {
  const consoles = /```console\n([\s\S]*?)```|```sh\n(lkm serve --db lkm\.db\n)```/g;
  const blocks = [...readme.matchAll(consoles)].map(([, block, serve]) =>
    serve === undefined ? (block ?? '') : `$ ${inBackground}; ${untilReady}\n`,
  );
  return blocks.flatMap((block) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((step) => {
        const [command = '', ...shown] = step.trimEnd().split('\n');
        return { command, shown };
      }),
  );
}

/** Runs the commands in one shell, as a person would one after the other, and answers what each printed. */
function runAll(commands: readonly string[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'lkm-readme-'));
  try {
    mkdirSync(join(folder, 'bin'));
    symlinkSync(join(root, 'bin/lkm.js'), join(folder, 'bin/lkm'));
    const end = '\u0004end of step';
    const script = commands.map((command) => `${command}\nstatus=$?; echo '${end}'; (exit $status)`).join('\n');
    const { stdout } = spawnSync('bash', ['-c', `exec 2>&1\n${script}\nkill $SERVER && wait $SERVER`], {
      cwd: folder,
      encoding: 'utf8',
      env: {
        PATH: [join(folder, 'bin'), dirname(process.execPath), process.env.PATH].join(delimiter),
        HOME: folder,
        LKM_FORMAT: 'table',
      },
    });
    return stdout.split(`${end}\n`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A line that is `…` alone stands for any number of lines. */
function toPattern(shown: readonly string[]): RegExp {
  const lines = shown.map((line) =>
    line === '…' ? '(?:.*\\n)*?' : `${line.split('…').map(escapeText).join('.*')}\\n`,
  );
  return new RegExp(`^${lines.join('')}$`);
}

const escapeText = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
