import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serve } from '../src/cli/commands/serve.ts';

const read = (name: string): string => readFileSync(new URL(`../examples/service/${name}`, import.meta.url), 'utf8');

/** The options of `lkm serve`, and those of every command that the files use. */
const known = [...Object.values(serve.options).map(({ usage }) => usage.split(' ')[0]), '--db'];

const optionsIn = (words: readonly string[]): string[] => words.filter((word) => word.startsWith('--'));

describe('the systemd unit', () => {
  const unit = read('lkm.service');

  it('starts a server with options that there are', () => {
    const [, line = ''] = /^ExecStart=\S+ serve (.+)$/m.exec(unit) ?? [];
    expect(optionsIn(line.split(' ')).filter((option) => !known.includes(option))).toEqual([]);
    expect(optionsIn(line.split(' '))).toContain('--backup-every');
  });

  it('is what systemd understands, and exposes little', ({ skip }) => {
    if (spawnSync('systemd-analyze', ['--version']).status !== 0) skip('there is no systemd here');
    const file = join(mkdtempSync(join(tmpdir(), 'lkm-test-')), 'lkm.service');
    writeFileSync(file, unit.replace('/usr/local/bin/lkm', '/bin/true').replace(/^Documentation=.*$/m, ''));
    const verified = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
    const about = verified.stderr.split('\n').filter((line) => line.includes('lkm.service'));
    expect({ about, status: verified.status }).toEqual({ about: [], status: 0 });
    const { stdout, status } = spawnSync('systemd-analyze', ['security', '--offline=true', '--threshold=20', file], {
      encoding: 'utf8',
    });
    expect({ status, stdout: status === 0 ? '' : stdout }).toEqual({ status: 0, stdout: '' });
  });
});

describe('the Containerfile', () => {
  const text = read('Containerfile');

  it('runs a server as another user than root, with options that there are', () => {
    const [, command = '[]'] = /^CMD (\[.+\])$/m.exec(text) ?? [];
    const words: string[] = JSON.parse(command);
    expect(words[0]).toBe('serve');
    expect(optionsIn(words).filter((option) => !known.includes(option))).toEqual([]);
    expect(text).toMatch(/^USER node$/m);
    expect(text.indexOf('USER node')).toBeLessThan(text.indexOf('ENTRYPOINT'));
  });
});
