import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { hasProgram } from './support/terminal.ts';

/** A program that verifies licence files. */
export interface Verifier {
  readonly name: string;
  /** The programs it needs. */
  readonly tools: readonly string[];
  /** Makes what is run, in a folder that is empty; once. */
  prepare?(folder: string): void;
  /** The command line that checks a file. */
  command(folder: string, check: Check): readonly string[];
  /** The one that checks the proof of an activation; the command itself has none. */
  activation?(folder: string, check: ActivationCheck): readonly string[];
}

/** Paths of a proof and of keys, and what the proof must state. */
export interface ActivationCheck {
  readonly proof: string;
  readonly jwks: string;
  readonly host: string;
  readonly product: string;
  readonly key: string;
  readonly nonce: string;
}

/** Paths of files, and what the file must be for. */
export interface Check {
  readonly file: string;
  readonly jwks: string;
  readonly host: string;
  readonly product: string;
  readonly watermark: string;
  readonly revocations?: string | undefined;
}

const root = join(import.meta.dirname, '..');
const example = (name: string): string => join(root, 'examples/verify', name);
const inOrder = ({ file, jwks, host, product, watermark, revocations }: Check) => [
  ...[file, jwks, host, product, watermark],
  ...(revocations === undefined ? [] : [revocations]),
];

const proofInOrder = ({ proof, jwks, host, product, key, nonce }: ActivationCheck) => [
  ...['--activation', proof, jwks, host, product, key, nonce],
];

/** A program of `examples/verify`, by what starts it; both checks have the same start. */
const started = (start: (folder: string) => readonly string[]): Pick<Verifier, 'command' | 'activation'> => ({
  command: (folder, check) => [...start(folder), ...inOrder(check)],
  activation: (folder, check) => [...start(folder), ...proofInOrder(check)],
});

/** The command itself, and every program of `examples/verify`. */
export const verifiers: readonly Verifier[] = [
  {
    name: 'lkm keys verify',
    tools: [],
    command: (_, { file, jwks, host, product, watermark, revocations }) => [
      ...[process.execPath, join(root, 'bin/lkm.js'), 'keys', 'verify', file, '-q', '--jwks', jwks],
      ...['--host-id', host, '--product', product, '--watermark', watermark],
      ...(revocations === undefined ? [] : ['--revocations', revocations]),
    ],
  },
  {
    name: 'verify.py',
    tools: ['python3', 'openssl'],
    ...started(() => ['python3', example('verify.py')]),
  },
  {
    name: 'verify.sh',
    tools: ['openssl'],
    ...started(() => [example('verify.sh')]),
  },
  {
    name: 'verify.go',
    tools: ['go'],
    prepare: (folder) => {
      mkdirSync(join(folder, 'cache'));
      const env = { ...process.env, GOCACHE: join(folder, 'cache'), GOFLAGS: '-mod=mod', GO111MODULE: 'off' };
      execFileSync('go', ['build', '-o', join(folder, 'verify'), example('verify.go')], { env });
    },
    ...started((folder) => [join(folder, 'verify')]),
  },
  {
    name: 'Verify.java',
    tools: ['java', 'javac'],
    prepare: (folder) => {
      execFileSync('javac', ['-Xlint:all', '-Werror', '-d', folder, example('Verify.java')]);
    },
    ...started((folder) => ['java', '-XX:TieredStopAtLevel=1', '-cp', folder, 'Verify']),
  },
  {
    name: 'verify.php',
    tools: ['php'],
    ...started(() => ['php', '-d', 'display_errors=stderr', example('verify.php')]),
  },
];

/** The programs that a verifier needs and this machine does not have. */
export const missingTools = ({ tools }: Verifier): readonly string[] => tools.filter((tool) => !hasProgram(tool));

/** Runs a command line in a folder. */
export function run([program = '', ...args]: readonly string[], folder: string) {
  return new Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>((resolve) => {
    const env = { PATH: process.env.PATH, HOME: folder };
    execFile(program, args, { cwd: folder, env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}
