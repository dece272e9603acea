import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

test('a checkout is built when something has changed since the last build, and only then', () => {
  const checkout = mkdtempSync(join(tmpdir(), 'lkm-test-'));
  onTestFinished(() => rmSync(checkout, { recursive: true }));
  const write = (file: string, text: string) => writeFileSync(join(checkout, file), text);
  const isBuilt = () => {
    rmSync(join(checkout, 'built'), { force: true });
    execFileSync(process.execPath, [resolve('tools/prepare.ts')], { cwd: checkout });
    return existsSync(join(checkout, 'built'));
  };
  mkdirSync(join(checkout, 'src/domain'), { recursive: true });
  write('src/domain/time.ts', 'one');
  write('package-lock.json', '{}');
  write(
    'build.ts',
    `import { mkdirSync, writeFileSync } from 'node:fs';
    mkdirSync('dist', { recursive: true });
    writeFileSync('built', '');`,
  );

  expect(isBuilt()).toBe(true);
  expect(isBuilt()).toBe(false);

  write('src/domain/time.ts', 'two');
  expect(isBuilt()).toBe(true);
  write('src/domain/other.ts', 'two');
  expect(isBuilt()).toBe(true);
  write('package-lock.json', '{ }');
  expect(isBuilt()).toBe(true);
  rmSync(join(checkout, 'dist'), { recursive: true });
  expect(isBuilt()).toBe(true);
  expect(isBuilt()).toBe(false);
});
