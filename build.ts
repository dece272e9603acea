import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { writeManPages } from './tools/man-pages.ts';

// The library doors are plain modules with their types; the command is bundled, because it starts many times a day.

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

rmSync('dist', { recursive: true, force: true });
execFileSync('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' });

// Whoever imports the client need not install what the command and the server are made of: they hold all of it.
for (const file of globSync('dist/{operator,server,service,store}/**/*.js{,.map}')) rmSync(file);

const { metafile } = await build({
  entryPoints: ['src/cli/main.ts', 'src/server/index.ts'],
  metafile: true,
  outbase: 'src',
  outdir: 'dist',
  chunkNames: 'bundle/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  minifySyntax: true,
  minifyWhitespace: true,
  // Node.js prints the line in which an error was thrown.
  lineLimit: 400,
  sourcemap: 'linked',
  // Positions are enough for a stack trace; the texts of all packages would triple the size of the package.
  sourcesContent: false,
  define: { LKM_VERSION: JSON.stringify(version) },
  // Bundled CommonJS packages load Node's own modules with require.
  banner: {
    js: "import { createRequire as createRequireOfBundle } from 'node:module'; const require = createRequireOfBundle(import.meta.url);",
  },
  logLevel: 'warning',
});

// Positions in the code of packages help nobody who mends lkm, and would be a fifth of the package.
for (const [file, { inputs }] of Object.entries(metafile.outputs)) {
  const sizes = Object.entries(inputs).map(([input, { bytesInOutput }]) =>
    input.startsWith('src/') ? bytesInOutput : 0,
  );
  const own = sizes.reduce((sum, size) => sum + size, 0);
  const all = Object.values(inputs).reduce((sum, { bytesInOutput }) => sum + bytesInOutput, 0);
  if (file.endsWith('.js') && own < all * 0.5) rmSync(`${file}.map`);
}

// The reference page is served from the package, without any other server.
mkdirSync('dist/viewer');
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

// The types that somebody can reach from a door; all others are of the inside.
const typed = new Set<string>();
for (const door of ['index', 'license-file', 'webhooks', 'contract/index', 'server/index']) reach(`dist/${door}.d.ts`);
for (const file of globSync('dist/**/*.d.ts')) if (!typed.has(file)) rmSync(file);

function reach(file: string): void {
  if (typed.has(file)) return;
  typed.add(file);
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/['"](\.{1,2}\/[^'"]+)\.[jt]s['"]/g)) {
    reach(`${join(dirname(file), path)}.d.ts`);
  }
}

await writeManPages('dist/man', version);
