import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build as esbuild } from 'esbuild';
import { build as rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'lkm-bundles-'));
const program = join(folder, 'program.mjs');
const bun = join(import.meta.dirname, '../../node_modules/.bin/bun');

beforeAll(() => {
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(join(import.meta.dirname, '../..'), join(folder, 'node_modules/lkm'));
  writeFileSync(
    program,
    `import { createClient, NetworkError } from 'lkm';
     const client = createClient({ baseUrl: 'http://127.0.0.1:9', token: 'lkm_admin_x', maxRetries: 0 });
     client.products.list().then(console.log, (error) => console.log(error instanceof NetworkError, error.sent));`,
  );
});

afterAll(() => rmSync(folder, { recursive: true }));

const bundlers = {
  esbuild: (format: 'esm' | 'cjs', outfile: string) =>
    esbuild({ entryPoints: [program], bundle: true, platform: 'node', format, outfile, logLevel: 'error' }),
  Rolldown: (format: 'esm' | 'cjs', file: string) =>
    rolldown({ input: program, platform: 'node', output: { format, file, codeSplitting: false } }),
  Bun: async (format: 'esm' | 'cjs', file: string) =>
    execFileSync(bun, ['build', program, '--target=node', `--format=${format}`, `--outfile=${file}`], {
      stdio: 'ignore',
    }),
};

describe.each(Object.entries(bundlers))('a program that uses the client, bundled by %s', (name, bundle) => {
  it.each(['esm', 'cjs'] as const)('starts as %s and makes a request', async (format) => {
    const file = join(folder, `${name}.${format === 'esm' ? 'mjs' : 'cjs'}`);
    await bundle(format, file);
    expect(execFileSync(process.execPath, [file], { encoding: 'utf8' })).toBe('true false\n');
  });
});
