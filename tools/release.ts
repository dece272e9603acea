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

try {
  release();
} catch (error) {
  process.stderr.write(`release: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}

function release(): void {
  const { values, positionals } = parseArgs({ options: { 'dry-run': { type: 'boolean' } }, allowPositionals: true });
  const [version = '', ...others] = positionals;
  const isVersion = /^\d+\.\d+\.\d+(-[0-9a-z.-]+)?$/.test(version);
  refuseIf(!isVersion || others.length > 0, 'usage: npm run release -- X.Y.Z [--dry-run]');
  const hasChanges = () => git('status', '--porcelain') !== '';
  refuseIf(hasChanges(), 'the working tree has changes; commit or stash them first');
  refuseIf(git('tag', '--list', `v${version}`) !== '', `the tag v${version} exists already`);
  const changelog = releaseChangelog(readFileSync('CHANGELOG.md', 'utf8'), version);
  say('running the gate: npm run check');
  run('npm', 'run', 'check');
  refuseIf(hasChanges(), 'the gate has changed files; commit what it generates first');
  if (values['dry-run'] === true) {
    say(`would set the version to ${version}, pack, commit and tag it; nothing was changed`);
    return;
  }
  const changed = ['package.json', 'package-lock.json', 'CHANGELOG.md'];
  try {
    run('npm', 'version', version, '--no-git-tag-version', '--allow-same-version');
    writeFileSync('CHANGELOG.md', changelog);
    mkdirSync('release', { recursive: true });
    run('npm', 'pack', '--silent', '--pack-destination', 'release'); // which also builds
    const name = `lkm-${version}.tgz`;
    writeFileSync('release/SHA256SUMS', `${hash('sha256', readFileSync(`release/${name}`))}  ${name}\n`);
    run('git', 'commit', '--quiet', '-m', `release: ${version}`, '--', ...changed);
  } catch (error) {
    git('checkout', '--quiet', 'HEAD', '--', ...changed);
    throw error;
  }
  git('tag', '--annotate', `v${version}`, '-m', `lkm ${version}`);
  say(`committed and tagged v${version}; release/ holds the package. Next: git push --follow-tags`);
}

/** The changelog with its unreleased section under the heading of `version`, and an empty unreleased section above. */
function releaseChangelog(text: string, version: string): string {
  const [, after] = text.split(`${UNRELEASED}\n`);
  if (after === undefined) throw new Error(`CHANGELOG.md has no section "${UNRELEASED}"`);
  refuseIf(text.includes(`\n## ${version} `), `CHANGELOG.md has a section for ${version} already`);
  refuseIf(/^\s*(## |$)/.test(after), `CHANGELOG.md has nothing under "${UNRELEASED}"`);
  const date = new Date().toISOString().slice(0, 10);
  return text.replace(UNRELEASED, `${UNRELEASED}\n\n## ${version} (${date})`);
}

function refuseIf(condition: boolean, message: string): void {
  if (condition) throw new Error(message);
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
