import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { type Node, parseSync, Visitor } from 'oxc-parser';
import { describe, expect, it, test } from 'vitest';
import { migrations } from '../src/store/migrations/index.ts';

/** A file of `src`; the path begins below it, with `/` between. */
interface Source {
  readonly path: string;
  readonly lines: number;
  readonly imports: readonly Import[];
  /** Its text without comments, and without what stands in strings and regular expressions. */
  readonly code: string;
  readonly strings: readonly string[];
}

interface Import {
  readonly specifier: string;
  readonly how: 'value' | 'type' | 'import()';
}

/** What the import table of ARCHITECTURE.md lets one folder import. */
interface Row {
  /** By folder or by file: in what way. */
  readonly targets: ReadonlyMap<string, 'any' | 'types' | 'import()'>;
  readonly packages: readonly string[];
}

const root = new URL('../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const sources: readonly Source[] = globSync('**/*.ts', { cwd: new URL('src/', root) })
  .map((path) => path.replaceAll('\\', '/'))
  .sort()
  .map((path) => readSource(path, read(`src/${path}`)));
const table = readTable(read('ARCHITECTURE.md'));
const { dependencies, devDependencies } = JSON.parse(read('package.json')) as Record<string, Record<string, string>>;

/** Where the command may load the server. */
const serverImporters = [
  'cli/request/connection.ts',
  'cli/request/operator.ts',
  'cli/commands/serving/start.ts',
  'cli/commands/webhooks/listen.ts',
];

/** Where time, chance and the process come in, with the words that are allowed there. */
const outside: Readonly<Record<string, readonly string[]>> = {
  'cli/config/config-file.ts': ['process'],
  'client/client.ts': ['process'],
  'cli/main.ts': ['process', 'Date.now', 'randomUUID'],
  'client/timing.ts': ['Date.now', 'Math.random', 'randomUUID'],
  'license-file.ts': ['new Date', 'generateKeyPairSync'],
  'webhooks.ts': ['new Date'],
  'server/base.ts': ['Date.now', 'process', 'randomUUID', 'generateKeyPairSync'],
  'server/runtime.ts': ['randomBytes'],
  'server/metrics.ts': ['performance.now'],
  'service/context.ts': ['randomFillSync'],
  'store/backup/files.ts': ['process'],
  'store/engine/sqlite/lock.ts': ['process'],
};

/** The tests that read the clock of this machine or wait for it, and why. */
const onRealTime: Readonly<Record<string, string>> = {
  'built/completion.test.ts': 'a shell does not tell when it has cleared its line',
  'cli/bulk/progress.test.ts': 'the clock is one that vitest sets',
  'cli/canary.test.ts': '`lkm serve` of the test goes by the clock of the machine, and so do the commands beside it',
  'cli/killed.test.ts': 'processes that are killed, or wait for another one, at some moment',
  'client/client-time.test.ts': 'the clock is one that vitest sets',
  'client/network.test.ts': 'undici has timers of its own, which nobody can set',
  'contract/hostile-text.test.ts': 'the time that a pattern takes',
  'fuzz/fuzz.ts': 'a request that hangs',
  'model/engines.ts': 'a seed, and how long the run took',
  'receivers.test.ts': 'programs in other languages that read the clock of the machine',
  'server/connections.test.ts': 'a socket that reads slowly',
  'server/standby.test.ts': 'a PostgreSQL server that is slow, and refusals that are not',
  'support/postgres-server.ts': 'a PostgreSQL server that cannot start yet',
  'verifiers.test.ts': 'programs in other languages that read the clock of the machine',
  'support/tmux.ts': 'a terminal of tmux is looked at until it shows something',
};

describe('ARCHITECTURE.md', () => {
  it('has a row in its import table for every folder of src, and no other', () => {
    expect([...table.keys()].sort()).toEqual([...new Set(sources.map(({ path }) => folderOf(path)))].sort());
  });

  it('names only files that exist', () => {
    const files = globSync('{src,test}/**/*.ts', { cwd: root }).map((path) => `/${path.replaceAll('\\', '/')}`);
    const named = read('ARCHITECTURE.md').match(/(?<![\w.-])[\w/-]+(?:\.test)?\.ts\b/g) ?? [];
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter((name) => !files.some((file) => file.endsWith(`/${name}`)))).toEqual([]);
  });
});

describe('src', () => {
  it('imports only what the table allows', () => {
    expect(sources.flatMap(importViolations)).toEqual([]);
  });

  it('has no import cycle between its folders', () => {
    expect(foldersInCycles()).toEqual([]);
  });

  it('has no circle of files, of types neither', () => {
    expect(filesInCircles(sources)).toEqual([]);
  });

  it('reaches the server from the command in four files only, and late', () => {
    expect(sources.flatMap(serverImportViolations)).toEqual([]);
  });

  it('lets time, chance and the process in at the listed files only', () => {
    expect(sources.flatMap(outsideViolations)).toEqual([]);
  });

  it('finds every word that is allowed in a listed file', () => {
    const idle = Object.entries(outside).flatMap(([path, words]) => {
      const source = sources.find((one) => one.path === path);
      return words.filter((word) => !source || !outsideWords(source).includes(word)).map((word) => `${path}: ${word}`);
    });
    expect(idle).toEqual([]);
  });

  it.each<[title: string, isThere: (path: string) => boolean, found: (source: Source) => readonly string[]]>([
    ['no promise in the domain', (path) => folderOf(path) === 'domain', ({ code }) => matches(code, ASYNC)],
    ['no network in what runs in a transaction', isInTransaction, networkUses],
    ['no SQL outside of the store, and of the state of the command', (path) => !isSqlPlace(path), sqlUses],
  ])('has %s', (_, isThere, found) => {
    const uses = sources
      .filter(({ path }) => isThere(path))
      .flatMap((source) => found(source).map((use) => `${source.path}: ${use}`));
    expect(uses).toEqual([]);
  });

  it('lists every migration, in order, without a gap', () => {
    const files = sources.flatMap(({ path }) => /^store\/migrations\/(\d{4}-.+)\.ts$/.exec(path)?.[1] ?? []);
    expect(Object.keys(migrations)).toEqual(files);
    expect(files.map((name) => Number(name.slice(0, 4)))).toEqual(files.map((_, i) => i + 1));
  });

  it('has no file above 250 lines', () => {
    expect(sources.filter(({ lines }) => lines > 250).map(({ path }) => path)).toEqual([]);
  });

  it('has no folder of more than 25 files', () => {
    const folders = sources.map(({ path }) => path.slice(0, path.lastIndexOf('/')));
    const sizes = Map.groupBy(folders, (folder) => folder);
    expect([...sizes].filter(([, files]) => files.length > 25).map(([folder]) => folder)).toEqual([]);
  });
});

test('tests set the time and wait for conditions; those that need the clock of the machine are listed', () => {
  const clock = /\b(?:Date\s*\.\s*now|performance\s*\.\s*now|setTimeout)\b|\bnew Date\(\)/;
  const found = globSync('**/*.ts', { cwd: new URL('test/', root) })
    .map((path) => readSource(path.replaceAll('\\', '/'), read(`test/${path}`)))
    .filter(({ code }) => clock.test(code));
  expect(found.map(({ path }) => path).sort()).toEqual(Object.keys(onRealTime).sort());
});

test('docs/dependencies.md gives a reason for every dependency, and for nothing else', () => {
  const explained = [...read('docs/dependencies.md').matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name);
  expect(explained.sort()).toEqual(Object.keys({ ...dependencies, ...devDependencies }).sort());
});

/** Reads the import table: the first table whose header begins with `folder`. */
function readTable(markdown: string): Map<string, Row> {
  const lines = markdown.split('\n');
  const start = lines.findIndex((line) => /^\| folder \| may import \| packages \|$/.test(line));
  if (start < 0) throw new Error('there is no import table');
  const end = lines.findIndex((line, at) => at > start && !line.startsWith('|'));
  return new Map(lines.slice(start + 2, end < 0 ? undefined : end).map(readRow));
}

function readRow(line: string): [string, Row] {
  const [folder = '', targets = '', packages = ''] = line.split('|').slice(1, -1);
  const entries = targets.split(',').filter((entry) => entry.trim() !== '');
  return [
    folder.replaceAll(/[`\s]/g, ''),
    {
      targets: new Map(entries.map(readTarget)),
      packages: [...packages.matchAll(/`([^`]+)`/g)].map(([, p = '']) => p),
    },
  ];
}

function readTarget(entry: string): [string, 'any' | 'types' | 'import()'] {
  const [, target, how] = /^\s*`([\w./-]+)`(?: \((types|`import\(\)`)\))?\s*$/.exec(entry) ?? [];
  if (target === undefined) throw new Error(`cannot read ${entry}`);
  return [target, how === undefined ? 'any' : how === 'types' ? 'types' : 'import()'];
}

/** The first part of a path; a file at the top of `src` stands for itself. */
function folderOf(path: string): string {
  return path.split('/')[0] ?? path;
}

/** `pg/lib` is a part of `pg`, `@inquirer/prompts` a package of its own. */
const packageOf = (specifier: string): string => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;

function importViolations({ path, imports }: Source): string[] {
  const row = table.get(folderOf(path));
  return imports
    .filter((one) => !row || !isAllowed(path, one, row))
    .map(({ specifier, how }) => `${path}: ${how} ${specifier}`);
}

function isAllowed(path: string, { specifier, how }: Import, { targets, packages }: Row): boolean {
  if (!specifier.startsWith('.')) {
    const isNode = specifier.startsWith('node:');
    return packages.includes(isNode ? specifier : packageOf(specifier)) || (isNode && packages.includes('node:*'));
  }
  const target = resolve(path, specifier);
  if (folderOf(target) === folderOf(path)) return true;
  const allowed = [targets.get(folderOf(target)), targets.get(target)];
  return (
    allowed.includes('any') ||
    (how === 'type' && allowed.some((one) => one !== undefined)) ||
    (how === 'import()' && allowed.includes('import()'))
  );
}

const resolve = (path: string, specifier: string): string => posix.join(posix.dirname(path), specifier);

function readSource(path: string, text: string): Source {
  const { program, comments } = parseSync(path, text);
  const imports: Import[] = [];
  const strings: string[] = [];
  const blanks: Pick<Node, 'start' | 'end'>[] = [...comments];
  const add = (
    { source, ...node }: { source: Node | null; importKind?: string; exportKind?: string },
    how?: 'import()',
  ) => {
    if (source === null) return;
    const isType = node.importKind === 'type' || node.exportKind === 'type';
    const specifier = source.type === 'Literal' ? String(source.value) : '?';
    imports.push({ specifier, how: how ?? (isType ? 'type' : 'value') });
  };
  new Visitor({
    ImportDeclaration: (node) => add(node),
    ExportNamedDeclaration: (node) => add(node),
    ExportAllDeclaration: (node) => add(node),
    ImportExpression: (node) => add({ source: node.source }, 'import()'),
    Literal(node) {
      if (typeof node.value === 'string') strings.push(node.value);
      if (typeof node.value === 'string' || 'regex' in node) blanks.push(node);
    },
    TemplateElement(node) {
      strings.push(node.value.raw);
      blanks.push(node);
    },
  }).visit(program);
  const code = blanks
    .toSorted((one, other) => other.start - one.start)
    .reduce((left, { start, end }) => `${left.slice(0, start)} ${left.slice(end)}`, text);
  const lines = text.trimEnd().split('\n').length;
  return { path, lines, imports, code, strings };
}

/** The folders that are in an import cycle, or lead to one: what is left when those that import none of the others are gone. */
function foldersInCycles(): string[] {
  let left = [...new Set(sources.map(({ path }) => folderOf(path)))];
  for (;;) {
    const importing = left.filter((folder) =>
      sources.some(
        ({ path, imports }) =>
          folderOf(path) === folder &&
          specifiersOf(imports)
            .filter((one) => one.startsWith('.'))
            .map((one) => folderOf(resolve(path, one)))
            .some((target) => target !== folder && left.includes(target)),
      ),
    );
    if (importing.length === left.length) return left;
    left = importing;
  }
}

/** The files that import each other in a circle, and those that import one of them. */
function filesInCircles(all: readonly Source[]): string[] {
  let left = all;
  for (;;) {
    const paths = new Set(left.map(({ path }) => path));
    const importing = left.filter(({ path, imports }) =>
      imports.some(({ specifier, how }) => how !== 'import()' && paths.has(resolve(path, specifier))),
    );
    if (importing.length === left.length) return left.map(({ path }) => path);
    left = importing;
  }
}

function serverImportViolations({ path, imports }: Source): string[] {
  if (folderOf(path) !== 'cli') return [];
  return imports
    .filter(
      ({ specifier }) =>
        specifier.startsWith('.') && ['server', 'operator'].includes(folderOf(resolve(path, specifier))),
    )
    .filter(({ how }) => !serverImporters.includes(path) || how === 'value')
    .map(({ specifier, how }) => `${path}: ${how} ${specifier}`);
}

function outsideViolations(source: Source): string[] {
  const { path, strings } = source;
  const words = [...outsideWords(source), ...strings.filter((one) => one === 'node:process')];
  return words.filter((word) => !outside[path]?.includes(word)).map((word) => `${path}: ${word}`);
}

/** What makes the same code answer differently another time, as it is written. */
function outsideWords({ code }: Source): string[] {
  const words =
    /\bDate\s*\.\s*now\b|\bnew\s+Date\b(?!\s*\(\s*[^\s)])|(?<!new\s+)\bDate\s*\(|\bperformance\s*\.\s*now\b|\bMath\s*\.\s*random\b|\brandom(?:Bytes|UUID|Int|Fill)(?:Sync)?\b|\bgetRandomValues\b|\bgenerateKey(?:Pair)?(?:Sync)?\b|\bprocess\b/g;
  return matches(code, words).map((word) => word.replaceAll(/\s+/g, ' '));
}

const matches = (text: string, pattern: RegExp): string[] => Array.from(text.matchAll(pattern), ([word]) => word);

const ASYNC = /\basync\b|\bawait\b|\bPromise\b/g;

const isInTransaction = (path: string): boolean => ['domain', 'service', 'store'].includes(folderOf(path));

const networkUses = ({ imports, code }: Source): string[] => [
  ...specifiersOf(imports).filter((one) => /^(?:node:(?:https?2?|net|tls|dgram|dns)|undici)/.test(one)),
  ...matches(code, /\b(?:fetch|WebSocket|EventSource|XMLHttpRequest)\b/g),
];

const isSqlPlace = (path: string): boolean => folderOf(path) === 'store' || path.startsWith('cli/state/');

const SQL =
  /^\s*(?:select\s.+\sfrom\s\w+\s*(?:$|where\b|order\b|limit\b|join\b)|insert\s+into\b|update\s+\w+\s+set\b|delete\s+from\b|(?:create|alter|drop)\s+(?:table|index)\b|pragma\b|begin\s+(?:immediate|exclusive)\b)/is;

const sqlUses = ({ imports, strings }: Source): string[] => [
  ...strings.filter((one) => SQL.test(one)),
  ...specifiersOf(imports).filter((one) => one === 'node:sqlite'),
];

const specifiersOf = (imports: readonly Import[]): string[] => imports.map(({ specifier }) => specifier);
