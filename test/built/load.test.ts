import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';

let HOME: string;
let folder: string;

beforeEach(() => {
  HOME = mkdtempSync(join(tmpdir(), 'lkm-test-'));
  folder = join(HOME, `.cache/lkm/${process.version}-${process.arch}`);
});

const lkm = (...argv: readonly string[]): string =>
  execFileSync(process.execPath, ['bin/lkm.js', ...argv], { env: { HOME }, encoding: 'utf8' });

/** What is kept, by name. */
const kept = (): Map<string, Buffer> =>
  new Map(
    globSync('*', { cwd: folder })
      .toSorted()
      .map((name) => [name, readFileSync(join(folder, name))]),
  );

describe('the compiled code of the command', () => {
  it('is kept for the next run, where only this user reads and writes it', () => {
    const printed = lkm('--help');
    const first = kept();
    expect(first.size).toBeGreaterThan(1);
    expect(statSync(folder).mode & 0o077).toBe(0);
    for (const name of first.keys()) expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
    expect(lkm('--help')).toBe(printed);
    expect(kept()).toEqual(first);
  });

  it('grows by what another command has compiled', () => {
    lkm('keys', '--help');
    const first = kept();
    lkm('version');
    const second = kept();
    expect([...second.keys()].filter((name) => !first.has(name))).not.toEqual([]);
    expect([...first].filter(([name, code]) => (second.get(name)?.length ?? 0) > code.length)).not.toEqual([]);
  });

  it('is compiled again when what is kept is cut short, or is something else', () => {
    const printed = lkm('--help');
    const first = kept();
    for (const name of first.keys()) truncateSync(join(folder, name), (first.get(name)?.length ?? 0) / 2);
    expect(lkm('--help')).toBe(printed);
    expect([...kept()].map(([name, code]) => [name, code.length > (first.get(name)?.length ?? 0) / 2])).toEqual(
      [...first.keys()].map((name) => [name, true]),
    );
    for (const name of first.keys()) truncateSync(join(folder, name), 0);
    expect(lkm('--help')).toBe(printed);
  });

  it('is compiled again when a byte of what is kept is another', () => {
    const printed = lkm('--help');
    for (const [name, code] of kept()) {
      const middle = Math.floor(code.length / 2);
      code[middle] = (code[middle] ?? 0) ^ 0xff;
      writeFileSync(join(folder, name), code);
      expect(lkm('--help')).toBe(printed);
    }
  });

  it('is kept in no folder whose path is relative', () => {
    const cwd = mkdtempSync(join(tmpdir(), 'lkm-test-'));
    const env = { HOME, XDG_CACHE_HOME: 'cache' };
    execFileSync(process.execPath, [resolve('bin/lkm.js'), '--version'], { cwd, env });
    expect(readdirSync(cwd)).toEqual([]);
    expect(kept().size).toBeGreaterThan(1);
  });

  it('is neither taken from a folder that others write to, nor put there', () => {
    lkm('--version');
    const first = kept();
    chmodSync(folder, 0o777);
    lkm('--help');
    expect(kept()).toEqual(first);
  });
});
