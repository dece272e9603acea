import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

/** One command of a console block and what it is shown to print; `…` stands for any text. */
interface Step {
  readonly command: string;
  readonly shown: readonly string[];
}

const readme = readFileSync(join(root, 'README.md'), 'utf8');

it.each([
  ['README.md', 20],
  ['docs/moving.md', 18],
  ['docs/install.md', 10],
])(
  'prints what %s shows, line after line, to the end',
  (file, least) => {
    const steps = readSteps(readFileSync(join(root, file), 'utf8'));
    expect(steps.length).toBeGreaterThan(least);
    const printed = runAll(steps.map(({ command }) => command));
    for (const [index, { command, shown }] of steps.entries()) {
      expect(printed[index], `$ ${command}`).toMatch(toPattern(shown));
    }
  },
  240_000,
);

it('runs every block of the README in one way or another', () => {
  const blocks = [...readme.matchAll(/```(\w*)\n([\s\S]*?)```/g)].map(([, language, text = '']) => [language, text]);
  const others = blocks.filter(([language]) => language !== 'console');
  expect(others).toEqual([
    // By the script of the continuous integration, in a fresh clone.
    ['sh', 'npm ci && npx lkm quickstart\n'],
    // As a step of the tour.
    ['sh', `${SERVE}\n`],
    ['ts', expect.stringContaining("import { createClient } from 'lkm';")],
  ]);
});

/** What the tour types in a second terminal. */
const SERVE = 'npx lkm serve --db lkm.db';

function readSteps(text: string): Step[] {
  const blocks = [...text.matchAll(/```(console|sh|ts)\n([\s\S]*?)```/g)];
  return blocks.flatMap(([, language, block = '']) => {
    if (language === 'ts') return [{ command: program(block), shown: ['20…Z'] }];
    if (language === 'sh') return block.trim() === SERVE ? [{ command: inBackground, shown: [] }] : [];
    return block
      .split(/^\$ /m)
      .slice(1)
      .map((step) => {
        const [command = '', ...shown] = step.trimEnd().split('\n');
        return { command: command.replace('http://127.0.0.1:4747', '$(cat url)'), shown };
      });
  });
}

/** The same as in the second terminal, on a free port, and without npx, which looks at the folder it is in. */
const inBackground = [
  '"$LKM_CHECKOUT/node_modules/.bin/node" "$LKM_CHECKOUT/bin/lkm.js" serve --db lkm.db --port 0 --json > ready 2> log &',
  'SERVER=$!',
  'for try in $(seq 200); do grep -qs ready ready && break; sleep 0.1; done',
  `sed 's/.*"url":"\\([^"]*\\)".*/\\1/' ready > url`,
].join('\n');

/** A program inside the package, where its own name resolves to it. */
function program(text: string): string {
  const file = join(root, 'dist', `readme-${process.pid}.ts`);
  return `cat > ${file} <<'END'\n${text}END\nnode ${file}; code=$?; rm ${file}; (exit $code)`;
}

/** Runs the commands in one shell, as a person would one after the other, and returns what each printed. */
function runAll(commands: readonly string[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'lkm-readme-'));
  try {
    // What the tour uses of a checkout, so that its database is made elsewhere.
    for (const name of ['bin', 'node_modules', 'examples']) symlinkSync(join(root, name), join(folder, name));
    execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], { cwd: root });
    const end = '\u0004end of step';
    const steps = commands.map((command) => `${command}\nstatus=$?; echo '${end}'; (exit $status)`);
    writeFileSync(join(folder, 'tour.sh'), ['exec 2>&1', ...steps, 'kill $SERVER; wait $SERVER'].join('\n'));
    const { stdout } = spawnSync('bash', ['tour.sh'], {
      cwd: folder,
      encoding: 'utf8',
      env: {
        PATH: [join(folder, 'global/bin'), dirname(process.execPath), process.env.PATH].join(delimiter),
        HOME: folder,
        npm_config_prefix: join(folder, 'global'),
        npm_config_offline: 'true',
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
