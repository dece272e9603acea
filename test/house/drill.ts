import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A change of the sources that somebody may want one day, file by file. */
export type Drill = readonly DrillFile[];

/** The changes of one file. */
export interface DrillFile {
  /** From the root of the project. */
  readonly file: string;
  readonly edits: readonly Edit[];
}

/** Adds text in front of the one place where `before` stands. */
interface Edit {
  readonly before: string;
  readonly add: string;
}

const root = join(import.meta.dirname, '../..');
const execute = promisify(execFile);

/**
 * Makes a copy of the sources in a new folder, with the changes of a drill but for those of one file. What the routes of
 * the server import can be compiled there: contract, domain, store and use cases.
 */
export function makeHouse(folder: string, drill: Drill, without?: string): void {
  mkdirSync(folder, { recursive: true });
  cpSync(join(root, 'src'), join(folder, 'src'), { recursive: true });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
  for (const { file, edits } of drill) {
    if (file !== without)
      writeFileSync(join(folder, file), edits.reduce(addText, readFileSync(join(root, file), 'utf8')));
  }
}

const tsconfig = {
  extends: join(root, 'tsconfig.json'),
  include: [],
  files: ['src/server/http/routes.ts'],
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
