import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A change of the sources that somebody may want one day, file by file. */
export type Drill = readonly DrillFile[];

/** The changes of one file, or the text of a new one. The file is named from the root of the project. */
export type DrillFile =
  | { readonly file: string; readonly edits: readonly Edit[] }
  | { readonly file: string; readonly text: string };

/** Adds text in front of the one place where `before` stands. */
interface Edit {
  readonly before: string;
  readonly add: string;
}

const root = join(import.meta.dirname, '../..');
const execute = promisify(execFile);

/**
 * Makes a copy of the project in a new folder, with the changes of a drill but for those of some files. What the server
 * and the command import can be compiled there.
 */
export function makeHouse(folder: string, drill: Drill, without: readonly string[] = []): void {
  mkdirSync(folder, { recursive: true });
  for (const part of ['src', 'test', 'tools', 'docs', 'package.json']) {
    cpSync(join(root, part), join(folder, part), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
  for (const change of drill) {
    const { file } = change;
    if (without.includes(file)) continue;
    const text = 'text' in change ? change.text : change.edits.reduce(addText, readFileSync(join(root, file), 'utf8'));
    writeFileSync(join(folder, file), text);
  }
}

const tsconfig = {
  extends: join(root, 'tsconfig.json'),
  include: [],
  files: ['src/server/http/routes.ts', 'src/cli/tree.ts'],
  compilerOptions: { incremental: true, tsBuildInfoFile: 'compiled.json' },
};

function addText(text: string, { before, add }: Edit): string {
  const [head, tail, ...more] = text.split(before);
  if (head === undefined || tail === undefined || more.length > 0) throw new Error(`is not there once: ${before}`);
  return `${head}${add}${before}${tail}`;
}

/** Compiles a house and returns what the compiler says. What was compiled in `like` is not compiled again. */
export async function compile(folder: string, like?: string): Promise<string> {
  if (like !== undefined) cpSync(join(like, 'compiled.json'), join(folder, 'compiled.json'));
  const tsc = join(root, 'node_modules/.bin/tsc');
  const { stdout } = await execute(tsc, ['--pretty', 'false'], { cwd: folder }).catch((error) => error);
  return stdout;
}

/** Runs a program of this folder on the server of a house, and returns what it prints as JSON. */
export async function run(folder: string, program: string, ...args: readonly string[]): Promise<unknown> {
  const server = join(folder, 'src/server/index.ts');
  const { stdout } = await execute(process.execPath, [join(import.meta.dirname, program), server, ...args]);
  return JSON.parse(stdout);
}

/** Generates what a house says of itself in `docs/`, as `npm run openapi` does. */
export async function writeDocument(folder: string): Promise<void> {
  const { stdout } = await execute(process.execPath, ['tools/print-openapi.ts'], { cwd: folder, maxBuffer: 1e8 });
  writeFileSync(join(folder, 'docs/openapi.json'), stdout);
}

/** Runs tests of a house that have some words in their names, and returns what is printed. */
export async function runTests(folder: string, words: string, files: readonly string[]): Promise<string> {
  writeFileSync(join(folder, 'vitest.config.ts'), 'export default { test: { testTimeout: 60_000 } };');
  const argv = ['run', '--reporter=verbose', '--no-color', '-t', words, ...files];
  const { stdout, stderr } = await execute(join(root, 'node_modules/.bin/vitest'), argv, { cwd: folder }).catch(
    (error) => error,
  );
  return `${stdout}${stderr}`;
}
