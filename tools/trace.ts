import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// npm run trace -- keys create -P prod_… --db lkm.db
//
// Runs a command from source and prints the source files it ran functions of, with the number of those functions.
// V8's coverage says which functions ran. The order is that of the first call in each file; it comes from a report at
// the beginning of each function, which tools/instrument.ts inserts while the files are loaded.

/** One file of the trace. */
interface TracedFile {
  readonly file: string;
  readonly functions: number;
}

const root = new URL('../', import.meta.url);
const folder = mkdtempSync(join(tmpdir(), 'lkm-trace-'));
try {
  process.exitCode = trace(process.argv.slice(2));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function trace(argv: readonly string[]): number {
  const traceFile = join(folder, 'trace.json');
  const hook = new URL('trace-hook.ts', import.meta.url).href;
  const main = fileURLToPath(new URL('src/cli/main.ts', root));
  const nodeOptions = ['--disable-warning=ExperimentalWarning', '--import', hook];
  const { status, signal } = spawnSync(process.execPath, [...nodeOptions, main, ...argv], {
    // What the command prints is not part of the trace.
    stdio: ['inherit', process.stderr, 'inherit'],
    env: { ...process.env, NODE_V8_COVERAGE: folder, LKM_TRACE_FILE: traceFile },
  });
  const { called, calledAfterLoading } = readTrace(traceFile);
  const functions = countFunctions();
  const order = [...calledAfterLoading, ...called, ...functions.keys()];
  const files = [...new Set(order)].map((file) => ({ file, functions: functions.get(file) ?? 0 }));
  print(files, new Set(calledAfterLoading));
  return status ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}

function readTrace(file: string): { called: string[]; calledAfterLoading: string[] } {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** How many functions of each source file ran, by V8's coverage of all processes of the command. */
function countFunctions(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of globSync('coverage-*.json', { cwd: folder })) {
    const { result }: Coverage = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    for (const { url, functions } of result) {
      if (!url.startsWith(new URL('src/', root).href)) continue;
      const file = url.slice(root.href.length);
      const ran = functions.filter(isRunFunction).length;
      if (ran > 0) counts.set(file, (counts.get(file) ?? 0) + ran);
    }
  }
  return counts;
}

/** The part of V8's coverage that is read. */
interface Coverage {
  readonly result: readonly { readonly url: string; readonly functions: readonly FunctionCoverage[] }[];
}

interface FunctionCoverage {
  readonly functionName: string;
  readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
}

/** The first range of a function is its body; a module's top-level code begins at 0, and initializers have names. */
function isRunFunction({ functionName, ranges: [body] }: FunctionCoverage): boolean {
  return body !== undefined && body.count > 0 && body.startOffset > 0 && !/^<.*initializer>$/.test(functionName);
}

function print(files: readonly TracedFile[], afterLoading: ReadonlySet<string>): void {
  const ran = files.filter(({ file }) => afterLoading.has(file));
  const whileLoading = files.filter(({ file }) => !afterLoading.has(file));
  const lines = [
    `${describe(ran)}, in the order of the first call:`,
    ...ran.map(({ file, functions }, index) => row(String(index + 1), file, functions)),
    '',
    `${describe(whileLoading)} only while modules were loaded:`,
    ...whileLoading.map(({ file, functions }) => row('', file, functions)),
    '',
    `${describe(files)} in all`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

function describe(files: readonly TracedFile[]): string {
  return `${files.reduce((sum, { functions }) => sum + functions, 0)} functions in ${files.length} files`;
}

function row(index: string, file: string, functions: number): string {
  return `${index.padStart(4)}  ${file.padEnd(52)} ${String(functions).padStart(3)}`;
}
