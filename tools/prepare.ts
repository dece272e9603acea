import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';

// npm runs this after an installation, and again before the first `npx lkm` of a user, who would wait for a second build.

/** Tells what `dist` was built from; a build begins with its removal. */
const STAMP = 'dist/.built-from';

/** Everything that a build reads; what is in node_modules follows from the lock file. */
const inputs = globSync(['src/**/*.*', 'tools/**/*.*', '*.ts', '*.json']).sort();
const builtFrom = hash('sha256', inputs.map((file) => `${file} ${hash('sha256', readFileSync(file))}\n`).join(''));

if (!existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== builtFrom) {
  execFileSync(process.execPath, ['build.ts'], { stdio: 'inherit' });
  writeFileSync(STAMP, builtFrom);
}
