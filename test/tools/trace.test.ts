import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { instrument, RECORDER } from '../../tools/instrument.ts';

const run = promisify(execFile);

test('lists the files of a command in the order in which their functions are first called', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lkm-test-'));
  const env = { PATH: process.env.PATH, HOME: folder, LKM_DB: join(folder, 'x.db') };
  const argv = ['tools/trace.ts', 'products', 'create', '--name', 'Engine', '-q', '--create'];
  const { stdout, stderr } = await run(process.execPath, argv, { env });
  const files = [...stdout.matchAll(/^ +\d+ {2}(src\/\S+) +[1-9]\d*$/gm)].map(([, file]) => file);
  const expected = [
    'src/cli/program.ts',
    'src/cli/run-command.ts',
    'src/client/request.ts',
    'src/client/call.ts',
    'src/server/http/pipeline.ts',
    'src/service/products.ts',
    'src/cli/output/write.ts',
  ];
  expect(files.filter((file) => expected.includes(file ?? ''))).toEqual(expected);
  expect(new Set(files).size).toBe(files.length);
  // A file that only defines things, and one of another command.
  expect(stdout).not.toContain('src/cli/global-options.ts');
  expect(stdout).not.toContain('src/cli/commands/customers.ts');
  // The OpenAPI document is made for those who ask for it.
  expect(stdout).not.toContain('src/contract/openapi/openapi.ts');
  expect(stderr).toMatch(/^prod_/m);
  expect(stdout).not.toMatch(/^prod_/m);
});

test('ends with the exit code of the command', async () => {
  await expect(run(process.execPath, ['tools/trace.ts', 'no-such-command'])).rejects.toMatchObject({ code: 2 });
});

test('reports every kind of function at its beginning, and changes nothing else', () => {
  const code = [
    'const arrow = (x = 1) => x;',
    'const object = () => ({ a: arrow() });',
    'function declared() { return object().a; }',
    'class Base { constructor() { this.a = declared(); } }',
    'class Derived extends Base { constructor() { super(); } get b() { return this.a; } *all() { yield this.b; } }',
    'result = [...new Derived().all()];',
  ].join('\n');
  const calls: string[] = [];
  const context = { result: [] as number[], [RECORDER]: { call: () => calls.push('call'), enter() {}, exit() {} } };
  runInNewContext(instrument('a.ts', code), context);
  expect([...context.result]).toEqual([1]);
  // Derived, Base, declared, object, arrow, all, b
  expect(calls).toHaveLength(7);
});

test('brackets the top-level code of a module, unless it awaits', () => {
  expect(instrument('a.ts', 'f();')).toBe(`${RECORDER}.enter();f();\n${RECORDER}.exit();\n`);
  expect(instrument('a.ts', 'await f();')).toBe('await f();');
  expect(instrument('a.ts', 'const g = async () => await f();')).toContain(`${RECORDER}.enter();`);
});
