import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

// npm run release -- X.Y.Z [--dry-run]
//
// Runs the gate on a clean tree, sets the version, gives the changelog's unreleased section its heading, packs the
// package into release/ with its SHA-256 sum, commits and tags. It pushes and publishes nothing. What fails before the
// commit leaves the tree as it was.

const UNRELEASED = '## Unreleased';
const CHANGED = ['package.json', 'package-lock.json', 'CHANGELOG.md'];

try {
  release();
} catch (error) {
  process.stderr.write(`release: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}

function release(): void {
  const { values, positionals } = parseArgs({ options: { 'dry-run': { type: 'boolean' } }, allowPositionals: true });
  const [version = ''] = positionals;
  if (positionals.length !== 1 || !/^\d+\.\d+\.\d+(-[0-9a-z.-]+)?$/.test(version)) {
    throw new Error('usage: npm run release -- X.Y.Z [--dry-run]');
  }
  const tag = `v${version}`;
  if (git('status', '--porcelain') !== '') throw new Error('the working tree has changes; commit or stash them first');
  if (git('tag', '--list', tag) !== '') throw new Error(`the tag ${tag} exists already`);
  const today = new Date().toISOString().slice(0, 10);
  const changelog = releaseChangelog(readFileSync('CHANGELOG.md', 'utf8'), version, today);
  say('running the gate: npm run check');
  run('npm', 'run', 'check');
  if (git('status', '--porcelain') !== '')
    throw new Error('the gate has changed files; commit what it generates first');
  if (values['dry-run'] === true) {
    say(`would set the version to ${version}, pack it into release/, commit and tag ${tag}; nothing was changed`);
    return;
  }
  try {
    run('npm', 'version', version, '--no-git-tag-version', '--allow-same-version');
    writeFileSync('CHANGELOG.md', changelog);
    pack(version);
    git('add', '--', ...CHANGED);
    git('commit', '--quiet', '-m', `release: ${version}`);
  } catch (error) {
    git('checkout', '--quiet', 'HEAD', '--', ...CHANGED);
    throw error;
  }
  git('tag', '--annotate', tag, '-m', `lkm ${version}`);
  say(`committed and tagged ${tag}; release/ holds the package. Next: git push --follow-tags`);
}

/** Packs into release/, which also builds, and writes the sum in the form that `sha256sum --check` reads. */
function pack(version: string): void {
  mkdirSync('release', { recursive: true });
  run('npm', 'pack', '--silent', '--pack-destination', 'release');
  const name = `lkm-${version}.tgz`;
  writeFileSync('release/SHA256SUMS', `${hash('sha256', readFileSync(`release/${name}`))}  ${name}\n`);
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
}

function run(command: string, ...args: readonly string[]): void {
  execFileSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
}

function say(text: string): void {
  process.stdout.write(`release: ${text}\n`);
}

/** The changelog with its unreleased section under the heading of `version`, and an empty unreleased section above. */
function releaseChangelog(text: string, version: string, date: string): string {
  const lines = text.split('\n');
  const start = lines.indexOf(UNRELEASED);
  if (start === -1) throw new Error(`CHANGELOG.md has no section "${UNRELEASED}"`);
  if (lines.some((line) => line.startsWith(`## ${version} `))) {
    throw new Error(`CHANGELOG.md has a section for ${version} already`);
  }
  const next = lines.findIndex((line, index) => index > start && line.startsWith('## '));
  const section = lines.slice(start + 1, next === -1 ? undefined : next);
  if (section.every((line) => line.trim() === '')) throw new Error('CHANGELOG.md has nothing under "## Unreleased"');
  return lines.toSpliced(start, 1, UNRELEASED, '', `## ${version} (${date})`).join('\n');
}
