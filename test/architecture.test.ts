import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { migrations } from '../src/store/migrations/index.ts';

/** A file of `src`; the path begins below it, with `/` between. */
interface Source {
  readonly path: string;
  readonly text: string;
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
  .map((path) => ({ path, text: read(`src/${path}`) }));
const table = readTable(read('ARCHITECTURE.md'));
const { dependencies, devDependencies } = JSON.parse(read('package.json')) as Record<string, Record<string, string>>;

/** Where the command may load the server. */
const serverImporters = ['cli/request/connection.ts', 'cli/request/operator.ts', 'cli/commands/serve.ts'];

/** Where time, chance and the process come in, with the words that are allowed there. */
const outside: Readonly<Record<string, readonly string[]>> = {
  'cli/config/config-file.ts': ['process'],
  'cli/main.ts': ['process', 'Date.now', 'randomUUID'],
  'client/timing.ts': ['Date.now', 'Math.random', 'randomUUID'],
  'license-file.ts': ['new Date'],
  'webhooks.ts': ['new Date'],
  'server/runtime.ts': ['Date.now', 'process', 'randomBytes', 'randomUUID', 'generateKeyPairSync'],
  'server/http/transport/connections.ts': ['performance.now'],
  'server/http/transport/self-signed.ts': ['generateKeyPairSync'],
  'server/telemetry/metrics.ts': ['performance.now'],
  'service/context.ts': ['randomFillSync'],
  'store/backup/files.ts': ['process'],
  'store/engine/sqlite/lock.ts': ['process'],
};

describe('ARCHITECTURE.md', () => {
  it('has a row in its import table for every folder of src, and no other', () => {
    expect([...table.keys()].sort()).toEqual([...new Set(sources.map(({ path }) => folderOf(path)))].sort());
  });

  it('names only packages that the package depends on', () => {
    const named = [...table.values()].flatMap(({ packages }) => packages).filter((name) => !name.startsWith('node:'));
    expect(named.filter((name) => !(packageOf(name) in { ...dependencies, ...devDependencies }))).toEqual([]);
  });

  it('is held by lint where its table has no word of a folder', () => {
    expect(readLintRules(read('biome.json'))).toEqual(
      new Map([...table].map(([name, row]) => [name, unnamed(row, name)])),
    );
  });
});

describe('src', () => {
  it('imports only what the table allows', () => {
    expect(sources.flatMap((source) => importViolations(source, table))).toEqual([]);
  });

  it('has no import cycle between its folders', () => {
    expect(findCycle(folderGraph(sources))).toBeNull();
  });

  it('reaches the server from the command in three files only, and late', () => {
    expect(sources.flatMap((source) => serverImportViolations(source))).toEqual([]);
  });

  it('lets time, chance and the process in at the listed files only', () => {
    expect(sources.flatMap((source) => outsideViolations(source, outside))).toEqual([]);
  });

  it('finds every word that is allowed in a listed file', () => {
    const idle = Object.entries(outside).flatMap(([path, words]) => {
      const { code } = scan(sources.find((source) => source.path === path)?.text ?? '');
      return words.filter((word) => !outsideWords(code).includes(word)).map((word) => `${path}: ${word}`);
    });
    expect(idle).toEqual([]);
  });

  it('is synchronous in the domain', () => {
    expect(sources.filter(({ path }) => folderOf(path) === 'domain').flatMap(asyncViolations)).toEqual([]);
  });

  it('keeps the network out of what runs in a transaction', () => {
    const inside = sources.filter(({ path }) => ['domain', 'service', 'store'].includes(folderOf(path)));
    expect(inside.flatMap(networkViolations)).toEqual([]);
  });

  it('keeps SQL in the store, and that of the command in its state', () => {
    const isSqlPlace = (path: string) => folderOf(path) === 'store' || path.startsWith('cli/state/');
    expect(sources.filter(({ path }) => !isSqlPlace(path)).flatMap(sqlViolations)).toEqual([]);
  });

  it('lists every migration, in order, without a gap', () => {
    const files = sources.flatMap(({ path }) => /^store\/migrations\/(\d{4}-.+)\.ts$/.exec(path)?.[1] ?? []);
    expect(Object.keys(migrations)).toEqual(files);
    expect(files.map((name) => Number(name.slice(0, 4)))).toEqual(files.map((_, i) => i + 1));
  });

  it('has no file above 250 lines', () => {
    expect(sources.filter(({ text }) => lineCount(text) > 250).map(({ path }) => path)).toEqual([]);
  });

  it('has no folder of more than 25 files', () => {
    const folders = sources.map(({ path }) => path.slice(0, path.lastIndexOf('/')));
    const sizes = Map.groupBy(folders, (folder) => folder);
    expect([...sizes].filter(([, files]) => files.length > 25).map(([folder]) => folder)).toEqual([]);
  });
});

describe('docs', () => {
  const decisions = globSync('*.md', { cwd: new URL('docs/decisions/', root) }).filter((name) => /^\d{4}-/.test(name));

  it('have a record for every decision that the code refers to', () => {
    const cited = sources.flatMap(({ text }) => [...text.matchAll(/decision (\d{4})/g)].map(([, number]) => number));
    expect(cited.length).toBeGreaterThan(0);
    expect(cited.filter((number) => !decisions.some((name) => name.startsWith(`${number}-`)))).toEqual([]);
  });

  it('list every decision once', () => {
    const linked = [...read('docs/decisions/README.md').matchAll(/\]\((\d{4}-[^)]+)\)/g)].map(([, name]) => name);
    expect(linked).toEqual(decisions.sort());
  });

  it('give a reason for every dependency, and for nothing else', () => {
    const explained = [...read('docs/dependencies.md').matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name);
    expect(explained.sort()).toEqual(Object.keys({ ...dependencies, ...devDependencies }).sort());
  });
});

describe('the rules', () => {
  const rows = readTable(
    [
      '| folder | may import | packages |',
      '|---|---|---|',
      '| `low` | | `zod`, `node:crypto` |',
      '| `mid` | `low` (types), `low/list.ts` | |',
      '| `top` | `low`, `mid` (`import()`) | `node:*` |',
    ].join('\n'),
  );
  const violations = (path: string, text: string) => importViolations({ path, text }, rows);

  it.each([
    ['a folder that is not listed', 'low/a.ts', "import { b } from '../mid/b.ts';"],
    ['a value where types are allowed', 'mid/a.ts', "import { b } from '../low/b.ts';"],
    ['inline types, which leave an import behind', 'mid/a.ts', "import { type B } from '../low/b.ts';"],
    ['a re-export', 'mid/a.ts', "export * from '../low/b.ts';"],
    ['an import for its effect', 'low/a.ts', "import '../mid/b.ts';"],
    ['an import over several lines', 'low/a.ts', "import {\n  b,\n  c,\n} from '../mid/b.ts';"],
    ['a late import where types are allowed', 'mid/a.ts', "const b = await import('../low/b.ts');"],
    ['an early import where late ones are allowed', 'top/a.ts', "import { b } from '../mid/b.ts';"],
    ['a package that is not listed', 'low/a.ts', "import { hash } from 'node:fs';"],
    ['a package where none is listed', 'mid/a.ts', "import type { z } from 'zod';"],
    ['an import that cannot be read', 'top/a.ts', 'const b = await import(name);'],
    ['require', 'top/a.ts', "const b = require('./b.ts');"],
    ['a way out of src', 'top/a.ts', "import { b } from '../../test/b.ts';"],
    ['a late import inside a template', 'low/a.ts', `const b = \`\${await import('../mid/b.ts')}\`;`],
  ])('refuse %s', (_, path, text) => {
    expect(violations(path, text)).toHaveLength(1);
  });

  it.each([
    ['its own folder', 'low/a.ts', "import { b } from './deep/b.ts';"],
    ['types where they are allowed', 'mid/a.ts', "import type { B } from '../low/b.ts';"],
    ['a listed file', 'mid/a.ts', "import { b } from '../low/list.ts';"],
    ['late imports and types of what is loaded late', 'top/a.ts', "import type { B } from '../mid/b.ts';"],
    ['a part of a listed package', 'low/a.ts', "import { z } from 'zod/mini';"],
    ['any module of Node.js', 'top/a.ts', "import { join } from 'node:path';"],
    ['imports in comments and strings', 'low/a.ts', "// import '../mid/a.ts';\nconst a = `import '../mid/b.ts'`;"],
    ['names that only sound like imports', 'low/a.ts', "export const from = 'x', s = { import: 'y' };"],
  ])('allow %s', (_, path, text) => {
    expect(violations(path, text)).toEqual([]);
  });

  it('find a cycle, and none where there is none', () => {
    const graph = (edges: Record<string, readonly string[]>) =>
      new Map(Object.entries(edges).map(([from, to]) => [from, new Set(to)]));
    expect(findCycle(graph({ a: ['b'], b: ['c'], c: ['a'] }))).toEqual(['a', 'b', 'c', 'a']);
    expect(findCycle(graph({ a: ['b', 'c'], b: ['c'], c: [] }))).toBeNull();
    const pair = [
      { path: 'low/a.ts', text: "import type { B } from '../mid/b.ts';" },
      { path: 'mid/b.ts', text: "import type { A } from '../low/a.ts';" },
    ];
    expect(findCycle(folderGraph(pair))).toEqual(['low', 'mid', 'low']);
  });

  it('see the server imported in another file, and at once', () => {
    const late = "await import('../../server/runtime.ts')";
    const early = "import { openInstance } from '../../server/runtime.ts';";
    expect(serverImportViolations({ path: 'cli/request/connection.ts', text: late })).toEqual([]);
    expect(serverImportViolations({ path: 'cli/request/other.ts', text: late })).toHaveLength(1);
    expect(serverImportViolations({ path: 'cli/request/connection.ts', text: early })).toHaveLength(1);
  });

  it.each([
    'Date.now()',
    'new Date()',
    'new Date',
    'Date()',
    'performance.now()',
    'Math.random()',
    'randomBytes(4)',
    'crypto.randomUUID()',
    'crypto.getRandomValues(b)',
    'process.env',
    `\`at \${Date.now()}\``,
  ])('see %s', (text) => {
    expect(outsideViolations({ path: 'domain/a.ts', text: `const a = ${text};` }, {})).toHaveLength(1);
  });

  it('let be what is no clock, or is listed', () => {
    const text = "const a = new Date(0); // Date.now()\nconst b = 'in this process', c = /Math.random/;";
    expect(outsideViolations({ path: 'domain/a.ts', text }, {})).toEqual([]);
    expect(outsideViolations({ path: 'a.ts', text: 'process.exit();' }, { 'a.ts': ['process'] })).toEqual([]);
  });

  it('see what is asynchronous, and SQL outside the store', () => {
    expect(asyncViolations({ path: 'a.ts', text: 'export async function a() {}' })).toHaveLength(1);
    expect(asyncViolations({ path: 'a.ts', text: '/** async */ export function a() {}' })).toEqual([]);
    for (const sql of ['select * from keys', 'INSERT INTO keys', 'update keys set a = 1', 'PRAGMA foreign_keys']) {
      expect(sqlViolations({ path: 'a.ts', text: `run('${sql}')` })).toHaveLength(1);
    }
    expect(sqlViolations({ path: 'a.ts', text: "import { DatabaseSync } from 'node:sqlite';" })).toHaveLength(1);
    expect(sqlViolations({ path: 'a.ts', text: "say('select a key from the list')" })).toEqual([]);
  });

  it('see what reaches the network', () => {
    for (const text of ['await fetch(url)', 'globalThis.fetch', 'new WebSocket(url)', "import 'node:net';"]) {
      expect(networkViolations({ path: 'service/a.ts', text })).toHaveLength(1);
    }
    expect(networkViolations({ path: 'service/a.ts', text: "// fetch\nconst prefetched = 'fetch';" })).toEqual([]);
  });

  it('read code, and not what only looks like it', () => {
    const { code, strings } = scan(`a("it's"); /* 'no' */ b(\`x\${c({ d: \`y\` })}z\`) / 2 / e; f(/['"\`/]\\//g);`);
    expect(code).toBe(`a('0');   b('1'\${c({ d: '2' })}'3') / 2 / e; f(//);`);
    expect(strings).toEqual(["it's", 'x', 'y', 'z']);
  });
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

/** `hono/cors` is a part of `hono`, `@inquirer/prompts` a package of its own. */
const packageOf = (specifier: string): string => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;

const lineCount = (text: string): number => text.trimEnd().split('\n').length;

function importViolations({ path, text }: Source, rows: ReadonlyMap<string, Row>): string[] {
  const row = rows.get(folderOf(path));
  return readImports(text)
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

/** The folders of the table that a row does not name in any way. */
function unnamed({ targets }: Row, name: string): string[] {
  const named = [name, ...[...targets.keys()].map(folderOf)];
  return [...table.keys()].filter((folder) => !folder.endsWith('.ts') && !named.includes(folder)).sort();
}

/** By folder or file of `src`: the folders that lint keeps it from importing. */
function readLintRules(json: string): Map<string, string[]> {
  const { overrides }: { overrides: readonly LintOverride[] } = JSON.parse(json);
  const rules = new Map<string, string[]>();
  for (const { includes, linter } of overrides) {
    const patterns = linter.rules.style?.noRestrictedImports?.options.patterns;
    if (patterns === undefined) continue;
    const groups = patterns.flatMap(({ group }) => group.map((glob) => glob.replaceAll('**', '').replaceAll('/', '')));
    for (const glob of includes) rules.set(glob.replace(/^src\//, '').replace('/**', ''), groups.sort());
  }
  return rules;
}

/** What is read of an override in biome.json. */
interface LintOverride {
  readonly includes: readonly string[];
  readonly linter: {
    readonly rules: {
      readonly style?: {
        readonly noRestrictedImports?: {
          readonly options: { readonly patterns: readonly { readonly group: readonly string[] }[] };
        };
      };
    };
  };
}

const resolve = (path: string, specifier: string): string => posix.join(posix.dirname(path), specifier);

/** Every import of a file, re-exports included. */
function readImports(text: string): Import[] {
  const { code, strings } = scan(text);
  const named = (at: string | undefined): string => strings[Number(at)] ?? '?';
  return [
    ...[...code.matchAll(/^\s*(?:import|export)\s+(type\s+(?!from\b))?[\w*{][^';=()]*?\bfrom\s*'(\d+)'/gm)].map(
      ([, type, at]) => ({ specifier: named(at), how: type ? ('type' as const) : ('value' as const) }),
    ),
    ...[...code.matchAll(/^\s*import\s*'(\d+)'/gm)].map(([, at]) => ({
      specifier: named(at),
      how: 'value' as const,
    })),
    ...[...code.matchAll(/\bimport\s*\(\s*(?:'(\d+)')?/g)].map(([, at]) => ({
      specifier: named(at),
      how: 'import()' as const,
    })),
    ...[...code.matchAll(/\brequire\s*\(/g)].map(() => ({ specifier: 'require', how: 'value' as const })),
  ];
}

function folderGraph(files: readonly Source[]): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>();
  for (const { path, text } of files) {
    const targets = graph.get(folderOf(path)) ?? new Set();
    for (const { specifier } of readImports(text)) {
      if (specifier.startsWith('.')) targets.add(folderOf(resolve(path, specifier)));
    }
    targets.delete(folderOf(path));
    graph.set(folderOf(path), targets);
  }
  return graph;
}

/** The first cycle, its start repeated at its end; null when there is none. */
function findCycle(graph: ReadonlyMap<string, ReadonlySet<string>>): string[] | null {
  const walk = (path: readonly string[]): string[] | null => {
    const here = path.at(-1) ?? '';
    if (path.indexOf(here) < path.length - 1) return path.slice(path.indexOf(here));
    for (const next of graph.get(here) ?? []) {
      const cycle = walk([...path, next]);
      if (cycle) return cycle;
    }
    return null;
  };
  for (const start of graph.keys()) {
    const cycle = walk([start]);
    if (cycle) return cycle;
  }
  return null;
}

function serverImportViolations({ path, text }: Source): string[] {
  if (folderOf(path) !== 'cli') return [];
  return readImports(text)
    .filter(
      ({ specifier }) =>
        specifier.startsWith('.') && ['server', 'operator'].includes(folderOf(resolve(path, specifier))),
    )
    .filter(({ how }) => !serverImporters.includes(path) || how === 'value')
    .map(({ specifier, how }) => `${path}: ${how} ${specifier}`);
}

function outsideViolations({ path, text }: Source, allowed: Readonly<Record<string, readonly string[]>>): string[] {
  const { code, strings } = scan(text);
  const words = [...outsideWords(code), ...strings.filter((one) => one === 'node:process')];
  return words.filter((word) => !allowed[path]?.includes(word)).map((word) => `${path}: ${word}`);
}

/** What makes the same code answer differently another time, as it is written. */
function outsideWords(code: string): string[] {
  const words =
    /\bDate\s*\.\s*now\b|\bnew\s+Date\b(?!\s*\(\s*[^\s)])|(?<!new\s+)\bDate\s*\(|\bperformance\s*\.\s*now\b|\bMath\s*\.\s*random\b|\brandom(?:Bytes|UUID|Int|Fill)(?:Sync)?\b|\bgetRandomValues\b|\bgenerateKey(?:Pair)?(?:Sync)?\b|\bprocess\b/g;
  return [...code.matchAll(words)].map(([word]) => word.replaceAll(/\s+/g, ' '));
}

function networkViolations({ path, text }: Source): string[] {
  const modules = readImports(text).filter(({ specifier }) =>
    /^(?:node:(?:https?2?|net|tls|dgram|dns)|undici)/.test(specifier),
  );
  const globals = [...scan(text).code.matchAll(/\b(?:fetch|WebSocket|EventSource|XMLHttpRequest)\b/g)];
  return [...modules.map(({ specifier }) => specifier), ...globals.map(([word]) => word)].map(
    (one) => `${path}: ${one}`,
  );
}

function asyncViolations({ path, text }: Source): string[] {
  return [...scan(text).code.matchAll(/\basync\b|\bawait\b|\bPromise\b/g)].map(([word]) => `${path}: ${word}`);
}

function sqlViolations({ path, text }: Source): string[] {
  const sql =
    /^\s*(?:select\s.+\sfrom\s\w+\s*(?:$|where\b|order\b|limit\b|join\b)|insert\s+into\b|update\s+\w+\s+set\b|delete\s+from\b|(?:create|alter|drop)\s+(?:table|index)\b|pragma\b|begin\s+(?:immediate|exclusive)\b)/is;
  const statements = scan(text).strings.filter((one) => sql.test(one));
  const engines = readImports(text).filter(({ specifier }) => specifier === 'node:sqlite');
  return [...statements, ...engines.map(({ specifier }) => specifier)].map((one) => `${path}: ${one}`);
}

/** Source text with its comments gone, regular expressions emptied, and strings numbered: `'0'` is `strings[0]`. */
function scan(text: string): { readonly code: string; readonly strings: readonly string[] } {
  const strings: string[] = [];
  /** For each open template, how many braces are open in its `${}`. */
  const templates: number[] = [];
  let code = '';
  let at = 0;

  const take = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0] ?? null;
    at += found?.length ?? 0;
    return found;
  };
  const keep = (string: string): void => {
    code += `'${strings.push(string) - 1}'`;
  };
  const takeTemplate = (): void => {
    const chunk = take(/(?:[^`\\$]|\\[\s\S]|\$(?!\{))*/y) ?? '';
    const opens = text[at] === '$';
    if (chunk !== '' || !opens) keep(chunk);
    at += opens ? 2 : 1;
    if (opens) templates.push(0);
    if (opens) code += '${';
  };

  while (at < text.length) {
    if (take(/\/\/[^\n]*|\/\*[\s\S]*?\*\//y) !== null) {
      code += ' ';
      continue;
    }
    const quoted = take(/'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/y);
    if (quoted !== null) {
      keep(quoted.slice(1, -1));
      continue;
    }
    if (/(?:^|[(,=:[!&|?{};]|=>|\breturn)\s*$/.test(code.slice(-40)) && take(regexLiteral) !== null) {
      code += '//';
      continue;
    }
    const character = text[at] ?? '';
    const depth = templates.at(-1);
    at += 1;
    if (character === '`') takeTemplate();
    else if (character === '}' && depth === 0) {
      templates.pop();
      code += '}';
      takeTemplate();
    } else {
      if (depth !== undefined && character === '{') templates[templates.length - 1] = depth + 1;
      if (depth !== undefined && character === '}') templates[templates.length - 1] = depth - 1;
      code += character;
    }
  }
  return { code, strings };
}

const regexLiteral = /\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y;
