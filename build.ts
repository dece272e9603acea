import { execFileSync } from 'node:child_process';
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { build } from 'esbuild';
import { type ChunkingContext, rolldown } from 'rolldown';
import { writeManPages } from './tools/man-pages.ts';

// All doors are bundled together: they share their parts, and whoever installs lkm installs nothing else.

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

rmSync('dist', { recursive: true, force: true });
execFileSync('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' });

const serverSide = /src\/(server|service|store|operator)\//;
const openInstance = resolve('src/server/runtime.ts');

const doors = await rolldown({
  input: {
    index: 'src/index.ts',
    'contract/index': 'src/contract/index.ts',
    'cli/main': 'src/cli/main.ts',
    'server/index': 'src/server/index.ts',
  },
  platform: 'node',
  transform: { target: 'node22', define: { LKM_VERSION: JSON.stringify(version) } },
  // pg loads it where somebody has installed it.
  external: ['pg-native'],
  preserveEntrySignatures: 'allow-extension',
  plugins: [
    {
      // An import of Node's own modules reads every export, and with node:http loads what it has for WebSockets, which
      // takes longer than a command. So each is loaded when something of it is used.
      name: 'builtin-modules',
      resolveId: (id, importer) =>
        isBuiltin(id) && !importer?.startsWith('\0rolldown') ? `\0${id.replace(/^(node:)?/, 'node:')}` : null,
      load: (id) => (id.startsWith('\0node:') ? loadLate(id.slice(1)) : null),
    },
  ],
  // A module that one part loads late is often loaded by another at once.
  checks: { ineffectiveDynamicImport: false },
  onwarn: (warning) => {
    throw new Error(warning.message);
  },
});
const { output } = await doors.write({
  dir: 'dist',
  // V8 keeps compiled code of scripts (`bin/load.cjs`), not of ES modules.
  format: 'cjs',
  entryFileNames: '[name].cjs',
  chunkFileNames: 'bundle/[name]-[hash].cjs',
  // V8 keeps a text with other characters in twice the memory, which takes longer than what is done with it.
  charset: 'ascii',
  // Names and lines stay: Node.js prints the line in which an error was thrown.
  minify: { compress: true, mangle: false, codegen: { removeWhitespace: false } },
  comments: { legal: true, annotation: false, jsdoc: false },
  sourcemap: true,
  // Positions are enough for a stack trace; the texts of all packages would triple the size of the package.
  sourcemapExcludeSources: true,
  // Opening a file takes longer than reading it, so what most commands need is in few files. Their modules run when they
  // are imported. Each command has a file of its own. Decision 0089.
  strictExecutionOrder: true,
  codeSplitting: {
    includeDependenciesRecursively: false,
    groups: [
      {
        name: 'start',
        test: /rolldown.runtime|^\0node:|src\/cli\/(main|run|prompts\/prompt|failure\/errors|output\/standard-output)\.ts/,
      },
      {
        name: 'help',
        test: /src\/cli\/(help\/(pages|section)|output\/(terminal|words)|[^/]*-commands|tree|global-options)\.ts/,
      },
      { name: 'zod', test: /\/zod\// },
      { name: 'request', test: /src\/(client|contract)\/(?!openapi\/openapi)/ },
      {
        name: 'command',
        test: /\/commander\/|src\/cli\/(?!commands|bulk|completion|help|prompts\/library)/,
      },
      { name: 'domain', test: /src\/domain\/(time|license-key|token|ids|license-file\/verify)\.ts/ },
      { name: 'kysely', test: /\/kysely\// },
      { name: 'hono', test: /\/hono\// },
      // What `--db` needs, apart from what listens, sends, and speaks to PostgreSQL.
      {
        debugName: 'instance and server',
        name: (id, context) => (neededBy(openInstance, context).has(id) ? 'instance' : 'server'),
        test: serverSide,
      },
    ],
  },
});

/** A module, and all that it imports at once. */
function neededBy(id: string, context: ChunkingContext, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(id)) return found;
  found.add(id);
  for (const imported of context.getModuleInfo(id)?.importedIds ?? []) neededBy(imported, context, found);
  return found;
}

/** A module with the exports of one of Node's own, which is loaded with the first use of one of them. */
function loadLate(id: string): string {
  const builtin: unknown = process.getBuiltinModule(id);
  const whole = `process.getBuiltinModule('${id}')`;
  if (typeof builtin !== 'object' || builtin === null) return `module.exports = ${whole};`;
  return `
    let loaded;
    for (const name of ${JSON.stringify(Object.keys(builtin))}) {
      Object.defineProperty(exports, name, { enumerable: true, get: () => (loaded ??= ${whole})[name] });
    }`;
}

// Positions in the code of packages help nobody who mends lkm, and would be a fifth of the package.
for (const chunk of output) {
  if (chunk.type !== 'chunk') continue;
  const sizes = Object.entries(chunk.modules).map(([id, { renderedLength }]) => ({
    own: id.startsWith(resolve('src')) ? renderedLength : 0,
    renderedLength,
  }));
  const own = sizes.reduce((sum, size) => sum + size.own, 0);
  const all = sizes.reduce((sum, size) => sum + size.renderedLength, 0);
  if (own < all * 0.5) rmSync(join('dist', `${chunk.fileName}.map`), { force: true });
  if (chunk.isEntry && chunk.exports.length > 0) writeDoor(chunk.fileName, chunk.exports);
}

/** Programs import ES modules, and by name. */
function writeDoor(file: string, names: readonly string[]): void {
  const text = `import door from './${basename(file)}';\nexport const { ${names.join(', ')} } = door;\n`;
  writeFileSync(join('dist', file.replace(/\.cjs$/, '.js')), text);
}

// The reference page is served from the package, without any other server.
cpSync('src/server/pages/viewer', 'dist/viewer', { recursive: true });
for (const name of [
  'swagger-ui.css',
  'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt',
  'LICENSE',
  'NOTICE',
]) {
  cpSync(`node_modules/swagger-ui-dist/${name}`, `dist/viewer/${name}`);
}

// Software that is licensed, or that receives webhooks, may take this one file along and nothing else of the package.
await build({
  entryPoints: ['src/license-file.ts', 'src/webhooks.ts'],
  outdir: 'dist',
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  sourcemap: 'linked',
  sourcesContent: false,
  logLevel: 'warning',
});

// The types that somebody can reach from a door, those of zod among them; all others are of the inside.
cpSync('node_modules/zod', 'dist/zod', { recursive: true, filter: (file) => !/\.c?js$|\.cts$/.test(file) });
const typed = new Set<string>();
for (const door of ['index', 'license-file', 'webhooks', 'contract/index', 'server/index']) reach(`dist/${door}.d.ts`);
for (const file of globSync('dist/zod/**/*', { withFileTypes: true })) {
  const path = join(file.parentPath, file.name);
  if (file.isFile() && file.name !== 'LICENSE' && !typed.has(path)) rmSync(path);
}
for (const file of globSync('dist/**/*.d.ts')) if (!typed.has(file)) rmSync(file);

function reach(file: string): void {
  if (typed.has(file)) return;
  typed.add(file);
  const toZod = relative(dirname(file), 'dist/zod/index.js');
  const text = readFileSync(file, 'utf8').replaceAll(
    /(from |import\()(['"])zod\2/g,
    `$1$2${toZod.startsWith('.') ? toZod : `./${toZod}`}$2`,
  );
  writeFileSync(file, text);
  for (const [, path = ''] of text.matchAll(/['"](\.{1,2}\/[^'"]+)\.[jt]s['"]/g)) {
    reach(`${join(dirname(file), path)}.d.ts`);
  }
}

await writeManPages('dist/man', version);
