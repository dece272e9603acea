import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';

let clone: string;

const person = { NAME: 'Test', EMAIL: 'test@example.com' };
const env = {
  ...process.env,
  GIT_CONFIG_GLOBAL: '/dev/null',
  ...Object.fromEntries(Object.entries(person).map(([name, value]) => [`GIT_AUTHOR_${name}`, value])),
  ...Object.fromEntries(Object.entries(person).map(([name, value]) => [`GIT_COMMITTER_${name}`, value])),
};

/** A clone of this checkout, with a gate and a build that take no time. */
beforeAll(() => {
  clone = mkdtempSync(join(tmpdir(), 'lkm-test-'));
  git('clone', '--quiet', '--depth', '1', `file://${process.cwd()}`, '.');
  cpSync('tools', join(clone, 'tools'), { recursive: true });
  cpSync('.gitignore', join(clone, '.gitignore'));
  const manifest = JSON.parse(read('package.json'));
  Object.assign(manifest, { version: '0.0.9', files: ['CHANGELOG.md'] });
  Object.assign(manifest.scripts, { check: `node -e "console.log('checked')"`, prepare: `node -e ""` });
  write('package.json', `${JSON.stringify(manifest, null, 2)}\n`);
  write('CHANGELOG.md', '# Changelog\n\n## Unreleased\n\n- Something new.\n\n## 0.0.9 (2026-01-01)\n\n- Before.\n');
  commit('prepare');
  git('branch', 'prepared');
  return () => rmSync(clone, { recursive: true, force: true });
});

beforeEach(() => {
  git('reset', '--quiet', '--hard', 'prepared');
  git('clean', '--quiet', '-fdx');
  for (const tag of git('tag').split('\n').filter(Boolean)) git('tag', '--delete', tag);
});

test('sets the version, dates the changelog, packs, sums, commits and tags', () => {
  const { status, stderr } = release('1.2.3');
  expect({ status, stderr }).toMatchObject({ status: 0 });
  expect(git('log', '-1', '--format=%s')).toBe('release: 1.2.3');
  expect(git('describe', '--exact-match')).toBe('v1.2.3');
  expect(git('status', '--porcelain')).toBe('');
  expect(JSON.parse(read('package.json')).version).toBe('1.2.3');
  expect(JSON.parse(read('package-lock.json')).version).toBe('1.2.3');
  expect(read('CHANGELOG.md')).toMatch(
    /^# Changelog\n\n## Unreleased\n\n## 1\.2\.3 \(\d{4}-\d\d-\d\d\)\n\n- Something new\.\n\n## 0\.0\.9/,
  );
  const tarball = readFileSync(join(clone, 'release/lkm-1.2.3.tgz'));
  expect(read('release/SHA256SUMS')).toBe(`${createHash('sha256').update(tarball).digest('hex')}  lkm-1.2.3.tgz\n`);
});

test('with --dry-run runs the gate and changes nothing', () => {
  const before = git('rev-parse', 'HEAD');
  const { status, stdout } = release('1.2.3', '--dry-run');
  expect(status).toBe(0);
  expect(stdout).toContain('checked');
  expect(stdout).toContain('nothing was changed');
  expect(git('rev-parse', 'HEAD')).toBe(before);
  expect(git('status', '--porcelain')).toBe('');
  expect(git('tag')).toBe('');
  expect(existsSync(join(clone, 'release'))).toBe(false);
});

test.each<[string, () => void, readonly string[], string]>([
  ['a tree with changes', () => write('README.md', 'changed'), ['1.2.3'], 'the working tree has changes'],
  ['a tag that exists', () => git('tag', 'v1.2.3'), ['1.2.3'], 'the tag v1.2.3 exists already'],
  ['no version', () => {}, [], 'usage: npm run release -- X.Y.Z'],
  ['something that is not a version', () => {}, ['v1'], 'usage: npm run release -- X.Y.Z'],
  ['a red gate', () => setScript('check', 1), ['1.2.3'], 'Command failed: npm run check'],
  ['a changelog without an unreleased section', () => setChangelog('# Changelog\n'), ['1.2.3'], 'has no section'],
  ['a changelog with nothing new', () => setChangelog('## Unreleased\n\n## 0.0.9 (2026)\n'), ['1.2.3'], 'has nothing'],
  [
    'a version that the changelog has',
    () => setChangelog('## Unreleased\n\n- New\n\n## 1.2.3 (2026)\n'),
    ['1.2.3'],
    'already',
  ],
])('refuses %s, and changes nothing', (_title, prepare, argv, message) => {
  prepare();
  const before = [git('rev-parse', 'HEAD'), git('status', '--porcelain')];
  const { status, stderr } = release(...argv);
  expect(status).toBe(1);
  expect(stderr).toContain(message);
  expect([git('rev-parse', 'HEAD'), git('status', '--porcelain')]).toEqual(before);
});

test('leaves the tree as it was when packing fails', () => {
  setScript('prepare', 3);
  expect(release('1.2.3').status).toBe(1);
  expect(git('status', '--porcelain')).toBe('');
  expect(git('tag')).toBe('');
  expect(JSON.parse(read('package.json')).version).toBe('0.0.9');
});

function release(...argv: readonly string[]) {
  const result = spawnSync(process.execPath, ['tools/release.ts', ...argv], { cwd: clone, encoding: 'utf8', env });
  onTestFinished(({ task }) => {
    if (task.result?.state === 'fail') process.stderr.write(result.stderr);
  });
  return result;
}

/** Makes a script of the package end with a code. */
function setScript(name: string, code: number): void {
  const manifest = JSON.parse(read('package.json'));
  manifest.scripts[name] = `node -e "process.exit(${code})"`;
  write('package.json', JSON.stringify(manifest, null, 2));
  commit('break a script');
}

function setChangelog(text: string): void {
  write('CHANGELOG.md', text);
  commit('change the changelog');
}

function commit(message: string): void {
  git('add', '-A');
  git('commit', '--quiet', '-m', message);
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: clone, encoding: 'utf8', env }).trim();
}

const read = (path: string) => readFileSync(join(clone, path), 'utf8');
const write = (path: string, text: string) => writeFileSync(join(clone, path), text);
