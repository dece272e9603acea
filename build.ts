import { execFileSync } from 'node:child_process';
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { build, type RolldownOptions } from 'rolldown';
import { esmExternalRequirePlugin } from 'rolldown/plugins';
import { minifySync } from 'rolldown/utils';
import { writeManPages } from './tools/man-pages.ts';

// Packages are bundled too: whoever installs lkm installs nothing else.

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

const common = {
  platform: 'node',
  transform: { target: 'node22', define: { LKM_VERSION: JSON.stringify(version) } },
  // pg loads it where somebody has installed it.
  external: ['pg-native'],
  // A module that one part loads late is often loaded by another at once.
  checks: { ineffectiveDynamicImport: false },
  onwarn: (warning) => {
    throw new Error(warning.message);
  },
} satisfies RolldownOptions;

// Positions are enough for a stack trace; the texts of all packages would triple the size of the package.
const output = {
  dir: 'dist',
  sourcemap: true,
  sourcemapExcludeSources: true,
  comments: { legal: true, annotation: false, jsdoc: false },
  // Names and lines stay: Node.js prints the line in which an error was thrown.
  minify: { compress: true, mangle: false, codegen: { removeWhitespace: false } },
} as const;

rmSync('dist', { recursive: true, force: true });

// What `import()` names is a chunk of its own: a command loads the chunks that it uses. They are CommonJS modules, which Node.js
// loads sooner than others: at once, and not in promises.
const { output: command } = await build({
  ...common,
  input: { 'cli/main': 'src/cli/main.ts', 'server/reading-thread': 'src/server/reading/thread.ts' },
  output: {
    ...output,
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: 'bundle/[name]-[hash].cjs',
    // What nearly every command needs is in two files: opening a file takes longer than reading it.
    codeSplitting: {
      groups: [
        { name: 'zod', test: /node_modules.zod/ },
        { name: 'contract', test: /src.(client|contract).(?!openapi)/ },
      ],
    },
  },
});

// What programs import are ES modules, which any bundler can take in: packages that `require` a module of Node.js import it.
// The server is apart: a `require` that it keeps needs the path of its file, which a bundle of the client does not have.
const library = [
  { index: 'src/index.ts', 'contract/index': 'src/contract/index.ts' },
  { 'server/index': 'src/server/index.ts' },
].map((input) =>
  build({
    ...common,
    input,
    plugins: [esmExternalRequirePlugin({ external: [/^node:/, ...builtinModules] })],
    output: { ...output, format: 'esm', chunkFileNames: 'library/[name]-[hash].js' },
  }),
);

// Positions, names and white space in the code of packages help nobody who mends lkm.
for (const file of [...command, ...(await Promise.all(library)).flatMap(({ output: made }) => made)]) {
  if (file.type !== 'chunk') continue;
  const { true: own = [], false: foreign = [] } = Object.groupBy(
    Object.entries(file.modules),
    ([id]) => String(id.includes('/src/') && !id.includes('node_modules')) as 'true' | 'false',
  );
  if (sizeOf(own) >= sizeOf(foreign) / 2) continue;
  rmSync(join('dist', `${file.fileName}.map`), { force: true });
  const { code } = minifySync(file.fileName, file.code, { module: file.fileName.endsWith('.js') });
  writeFileSync(join('dist', file.fileName), code);
}

function sizeOf(modules: readonly [id: string, { readonly renderedLength: number }][]): number {
  return modules.reduce((sum, [, { renderedLength }]) => sum + renderedLength, 0);
}

// Software that is licensed, or that receives webhooks, may take this one file along and nothing else of the package.
for (const entry of ['license-file', 'webhooks'])
  await build({ ...common, input: `src/${entry}.ts`, output: { ...output, format: 'esm' } });

// The reference page is served from the package, without any other server.
cpSync('src/server/pages/viewer', 'dist/viewer', { recursive: true });
const viewer = ['swagger-ui.css', 'swagger-ui-bundle.js', 'swagger-ui-bundle.js.LICENSE.txt', 'LICENSE', 'NOTICE'];
for (const name of viewer) cpSync(`node_modules/swagger-ui-dist/${name}`, `dist/viewer/${name}`);

// Without its white space, which would be half of it.
writeFileSync('dist/openapi.json', JSON.stringify(JSON.parse(readFileSync('docs/openapi.json', 'utf8'))));

// The types, with those of zod, which the package brings along.
execFileSync('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' });
cpSync('node_modules/zod', 'dist/zod', {
  recursive: true,
  filter: (path) => !/\.(c?js|cts|md|json)$|\/zod\/(src|v3|mini|locales)$/.test(path),
});
for (const file of globSync('dist/**/*.d.ts', { exclude: ['dist/zod/**'] })) {
  const zod = relative(dirname(file), 'dist/zod/index.js');
  const text = readFileSync(file, 'utf8');
  writeFileSync(
    file,
    text.replaceAll(/(?<=(?:from |import\()(['"]))zod(?=\1)/g, zod.startsWith('.') ? zod : `./${zod}`),
  );
}

// Only those that somebody can reach from an entry point.
const reached = new Set<string>();
for (const entry of ['index', 'license-file', 'webhooks', 'contract/index', 'server/index'])
  reach(`dist/${entry}.d.ts`);
for (const file of globSync('dist/**/*.d.ts')) if (!reached.has(file)) rmSync(file);

function reach(file: string): void {
  if (reached.has(file)) return;
  reached.add(file);
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/['"](\.{1,2}\/[^'"]+)\.[jt]s['"]/g))
    reach(join(dirname(file), `${path}.d.ts`));
}

await writeManPages(join('dist', 'man'), version);
