import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Builds the package before the tests of the built command, so that they never run an old one. */
export default function setup(): void {
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: join(import.meta.dirname, '../..'), stdio: 'inherit' });
}
