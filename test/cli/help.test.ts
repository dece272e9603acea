import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { globalOptions } from '../../src/cli/global-options.ts';
import { topics } from '../../src/cli/help/topics.ts';
import { commandEntries } from '../../src/cli/tree.ts';
import { DEFAULT_REQUESTS_PER_MINUTE } from '../../src/server/http/rate-limit.ts';
import { DEFAULT_CONNECTION_LIMITS } from '../../src/server/http/transport/connections.ts';
import { lkm, tempFolder } from './fake-io.ts';

describe('help', () => {
  it.each([[['--help']], [['help']], [[]], [['-h']]])('of lkm itself answers %j, within 80 columns', async (argv) => {
    const { code, stdout, stderr } = await lkm(argv);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('Usage:  lkm COMMAND [options]');
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
    for (const { usage } of globalOptions) expect(stdout).toContain(usage.replaceAll(/[<>]/g, ''));
  });

  it.each(['keys', 'keys create', 'customers rm', 'key get', 'login', 'whoami', 'logout'])(
    'of %s is the same both ways',
    async (words) => {
      const path = words.split(' ');
      expect(await lkm(['help', ...path])).toEqual(await lkm([...path, '--help']));
    },
  );

  it.each(Object.keys(topics))('explains %s within 80 columns', async (topic) => {
    const { stdout } = await lkm(['help', topic]);
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it('of ci has an example that works as it stands', async () => {
    const [, example = ''] = topics.ci().match(/(export LKM_DB=.*?lkm keys create\))/s) ?? [];
    expect(JSON.parse((await lkm(['help', 'ci', '--json'])).stdout)).toEqual({ topic: 'ci', text: topics.ci() });
    const main = resolve('src/cli/main.ts');
    const script = `lkm() { "${process.execPath}" "${main}" "$@"; }\n${example}\necho "$KEY"`;
    const env = { PATH: process.env.PATH, HOME: tempFolder() };
    const { stdout } = await promisify(execFile)('/bin/sh', ['-ec', script], { env });
    expect(stdout).toMatch(/^[0-9A-Z]{5}(-[0-9A-Z]{5}){4}\n$/);
  });

  it('is offered by the first page, with every topic', async () => {
    const { stdout } = await lkm(['--help']);
    const [, offered = ''] = /lkm help TOPIC explains (.*)\./s.exec(stdout) ?? [];
    expect(offered.split(/(?:,| and)\s+/).sort()).toEqual(Object.keys(topics).sort());
  });

  it('shows every group, those of operators apart, and every command without one', async () => {
    const { stdout } = await lkm(['--help']);
    const words = commandEntries.map(({ path, shortcut }) => shortcut ?? path.split(' ')[0]);
    for (const word of words) expect(stdout).toMatch(new RegExp(`^  ${word} {2}`, 'm'));
    expect(stdout).toContain('For operators, on the database itself\n  db  status, migrate');
  });

  it.each(['keys create', 'keys block', 'customers create'])(
    'of %s shows its own options before those for files',
    async (words) => {
      const { stdout } = await lkm([...words.split(' '), '--help']);
      const [own = '', files = ''] = stdout.split('\nOptions for files\n');
      const [section = ''] = files.split('\n\n');
      for (const name of ['-f, --file', '--encoding', '--concurrency']) {
        expect(own).not.toContain(name);
        expect(section).toContain(name);
      }
      expect(own).toContain('-h, --help');
      expect(section).not.toContain('--idempotency-key');
    },
  );

  it('of keys import shows the options for files from the system that wrote them on', async () => {
    const { stdout } = await lkm(['keys', 'import', '--help']);
    expect(stdout).toContain('\nOptions for files\n      --from SYSTEM ');
  });

  it('names first what people at a desk need: login, find, keys and customers', async () => {
    const { stdout } = await lkm(['--help']);
    const words = [...stdout.matchAll(/^ {2}(\w[\w-]*) {2}/gm)].map(([, word]) => word);
    expect(words.slice(0, 6)).toEqual(['quickstart', 'serve', 'login', 'find', 'keys', 'customers']);
  });

  it.each([60, 100, 200])('fills a terminal of %d columns, to 100 at most', async (columns) => {
    const widths = [];
    for (const argv of [['--help'], ['keys', 'create', '--help'], ['help', 'idempotency'], ['help', 'environment']]) {
      const { stdout } = await lkm(argv, { terminal: { stdout: true }, columns, env: { NO_COLOR: '1' } });
      const wrapped = stdout.split('\n').filter((line) => !/^ +[$#{"K]|^ {2}(export|KEY=|lkm )/.test(line));
      widths.push(Math.max(...wrapped.map((line) => line.length)));
    }
    expect(Math.max(...widths)).toBeLessThanOrEqual(Math.min(columns, 100));
    expect(Math.max(...widths)).toBeGreaterThan(Math.min(columns, 100) - 15);
  });
});

describe('the version', () => {
  it('is one line', async () => {
    expect(await lkm(['--version'])).toEqual({ code: 0, stdout: '0.0.0-dev\n', stderr: '' });
    expect(await lkm(['--json', '-V'])).toEqual({ code: 0, stdout: '0.0.0-dev\n', stderr: '' });
  });

  it.each([
    [['keys', 'update', 'KEY', '--version', '2.0'], 'lkm keys update --help'],
    [['products', 'create', '--name', 'Engine', '-V'], 'lkm products create --help'],
    [['--version', 'keys', 'list'], 'lkm keys list --help'],
    [['keys', '--version'], 'lkm keys --help'],
  ])('is not shown in place of running %j', async (words, advice) => {
    const { code, stdout, stderr } = await lkm(words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(advice);
  });

  it('tells a bug report what it needs', async () => {
    expect(JSON.parse((await lkm(['version', '--json'])).stdout)).toEqual({
      lkm: '0.0.0-dev',
      node: '24.15.0',
      contract: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/),
    });
  });
});

it('help environment names every variable that the source reads', async () => {
  const folder = resolve(import.meta.dirname, '../../src');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  const texts = files.map((path) => readFileSync(join(folder, path), 'utf8'));
  const named = texts.flatMap((text) => [
    ...[...text.matchAll(/\benv\??\.([A-Za-z_]+)/g)].map(([, name = '']) => name.toUpperCase()),
    ...(text.match(/(?<=')(?:LKM|XDG|GITHUB|NODE)_[A-Z_]+(?=')|(?<=')\w*APPDATA(?=')/g) ?? []),
    ...(/\{ ([A-Z_, ]+) \} = [^;]*\benv\b/.exec(text)?.[1]?.split(', ') ?? []),
  ]);
  const variables = [...new Set([...named, 'NODE_EXTRA_CA_CERTS'])].filter(
    (name) => name !== 'NODE_TLS_REJECT_UNAUTHORIZED',
  );
  for (const known of ['LKM_WEBHOOK_SECRET', 'LKM_TOKEN_FILE', 'LOCALAPPDATA', 'TERM', 'GITHUB_OUTPUT', 'HTTP_PROXY']) {
    expect(variables).toContain(known);
  }
  const { stdout } = await lkm(['help', 'environment']);
  expect(variables.filter((name) => !new RegExp(`\\b${name}\\b`).test(stdout))).toEqual([]);
});

it('serve --help names the defaults of its limits', async () => {
  const words = (await lkm(['serve', '--help'])).stdout.replaceAll(/\s+/g, ' ');
  for (const [option, value] of [
    ['rate-limit', DEFAULT_REQUESTS_PER_MINUTE],
    ['lookup-limit', 100],
    ['max-connections', DEFAULT_CONNECTION_LIMITS.maxConnections],
    ['max-connections-per-address', DEFAULT_CONNECTION_LIMITS.maxConnectionsPerAddress],
  ]) {
    expect(words).toMatch(new RegExp(`--${option} [^-]*(?:-ups)?[^-]*\\(${value}\\)`));
  }
});

it.each(['ci', 'idempotency'])(
  'help %s names an order in the reference, never in the idempotency key',
  async (topic) => {
    const { stdout } = await lkm(['help', topic]);
    expect(stdout).toContain('--reference "order-$ORDER" --if-absent');
    expect(stdout).not.toMatch(/--idempotency-key "?order|after the order/);
  },
);

it('no example makes an idempotency key from an order', () => {
  const folder = resolve(import.meta.dirname, '../../examples');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\.(?:ts|sh|yml|md|mjs)$/.test(path),
  );
  const texts = [
    ...files.map((path) => readFileSync(join(folder, path), 'utf8')),
    readFileSync(join(folder, '../README.md'), 'utf8'),
  ];
  expect(
    texts.filter((text) => /idempotency-?key[^\n]*\border\b[^\n]*[$]/i.test(text) || /idempotencyKey: `/.test(text)),
  ).toEqual([]);
});
