import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { tempFolder } from '../cli/fake-io.ts';

/** The built command. */
export const bin = join(import.meta.dirname, '../../bin/lkm.js');

/** A home with the built `lkm` on the path, and a shell in it. */
export function installed(variables: Readonly<Record<string, string>> = {}) {
  const home = tempFolder();
  const tools = join(home, 'bin');
  mkdirSync(tools);
  symlinkSync(bin, join(tools, 'lkm'));
  const PATH = [tools, dirname(process.execPath), process.env.PATH].join(delimiter);
  const env = { PATH, HOME: home, ...variables };
  const lkm = (...argv: string[]) =>
    execFileSync(process.execPath, [bin, ...argv], { env, cwd: home, encoding: 'utf8' });
  const shell = (script: string, more: Readonly<Record<string, string>> = {}) =>
    promisify(execFile)('bash', ['-c', script], { cwd: home, env: { ...env, ...more } });
  return { home, tools, env, lkm, shell };
}
