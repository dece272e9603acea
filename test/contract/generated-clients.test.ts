import { execFile } from 'node:child_process';
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'rolldown';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createFolder } from '../support/engines.ts';
import { startTestServer } from '../support/server.ts';
import { type MainJob, openapiFetch, orval } from './client-programs.ts';

const root = join(import.meta.dirname, '../..');
const modules = join(root, 'node_modules');
const execute = promisify(execFile);

/** Each generator: how it is run in the folder, and the program on top of what it writes. */
const generators = [
  {
    name: 'openapi-typescript with openapi-fetch',
    program: openapiFetch,
    generate: ['openapi-typescript/bin/cli.js', 'openapi.json', '-o', 'schema.ts'],
  },
  {
    name: 'orval with zod',
    program: orval,
    generate: ['orval/dist/bin/orval.mjs', '--config', 'orval.config.mjs'],
    config: {
      'orval.config.mjs': {
        client: { input: './openapi.json', output: { target: './orval/client.ts', client: 'fetch' } },
        zod: { input: './openapi.json', output: { target: './orval/zod.ts', client: 'zod' } },
      },
    },
  },
] as const;

/** Compiled as a careful user of the client would. */
const tsconfig = {
  compilerOptions: {
    strict: true,
    target: 'es2024',
    lib: ['es2024', 'dom', 'dom.iterable'],
    types: [],
    module: 'nodenext',
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    isolatedModules: true,
  },
  include: ['program.ts'],
};

let service: Awaited<ReturnType<typeof startTestServer>>;

beforeAll(async () => {
  service = await startTestServer();
});

afterAll(() => service[Symbol.asyncDispose]());

it.each(generators)('a client of $name does the main job', { timeout: 120_000 }, async (generator) => {
  await using folder = await createFolder();
  const path = (name: string) => join(folder.path, name);
  await symlink(modules, path('node_modules'));
  await cp(join(root, 'docs/openapi.json'), path('openapi.json'));
  await writeFile(path('package.json'), '{"type":"module"}');
  await writeFile(path('tsconfig.json'), JSON.stringify(tsconfig));
  await writeFile(path('program.ts'), generator.program);
  for (const [name, value] of Object.entries('config' in generator ? generator.config : {})) {
    await writeFile(path(name), `export default ${JSON.stringify(value)};`);
  }
  await mkdir(path('home'));
  const run = (script: string, ...argv: readonly string[]) =>
    execute(process.execPath, ['--import', join(import.meta.dirname, 'older-typescript.ts'), script, ...argv], {
      cwd: folder.path,
      env: { PATH: process.env.PATH, HOME: path('home'), CI: '1' },
    });

  const [script, ...argv] = generator.generate;
  await run(join(modules, script), ...argv);
  const checked = await execute(process.execPath, [join(modules, 'typescript/bin/tsc'), '-p', folder.path]).catch(
    (error: { stdout: string }) => error,
  );
  expect(checked.stdout).toBe('');

  await build({
    input: path('program.ts'),
    platform: 'node',
    resolve: { symlinks: false },
    logLevel: 'silent',
    output: { file: path('program.js'), format: 'esm' },
  });
  const program = (await import(/* @vite-ignore */ pathToFileURL(path('program.js')).href)) as {
    run(baseUrl: string, token: string): Promise<MainJob>;
  };
  const done = await program.run(service.server.url, service.adminToken);
  expect(done).toEqual({
    key: expect.stringMatching(/^[0-9A-Z-]{29}$/),
    shown: done.key,
    hostIds: ['host-1'],
    customer: 'it@ada.example',
    file: expect.stringContaining('"format":"lkm-lic/1"'),
    freed: 'Device deactivated',
    total: 1,
    deleted: 'customers.delete',
  });
});
