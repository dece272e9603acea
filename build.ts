import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { build } from 'esbuild';
import { writeManPages } from './tools/man-pages.ts';

// The library doors are plain modules with their types; the command is bundled, because it starts many times a day.

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

rmSync('dist', { recursive: true, force: true });
execFileSync('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' });

// Whoever imports the client need not install what the command and the server are made of: they hold all of it.
for (const file of globSync('dist/{operator,server,service,store}/**/*.js{,.map}')) rmSync(file);

await build({
  entryPoints: ['src/cli/main.ts', 'src/server/index.ts'],
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
  lineLimit: 160,
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

await writeManPages('dist/man', version);
