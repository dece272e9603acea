import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';

// Makes one file that is the command and the server, Node.js included, for the platform that runs this; beside it what is
// in it (CycloneDX) and checksums. `npm run build:binary`.

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const folder = 'release/binary';
const name = `lkm-${process.platform}-${process.arch}${process.platform === 'win32' ? '.exe' : ''}`;
const files = { script: join(folder, 'lkm.cjs'), blob: join(folder, 'lkm.blob'), config: join(folder, 'sea.json') };

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const { metafile } = await build({
  entryPoints: ['src/cli/main.ts'],
  outfile: files.script,
  bundle: true,
  format: 'cjs',
  platform: 'node',
  target: 'node24',
  minifySyntax: true,
  minifyWhitespace: true,
  lineLimit: 160,
  metafile: true,
  define: { LKM_VERSION: JSON.stringify(version), 'import.meta.url': 'importMetaUrl' },
  banner: {
    js: [
      "const importMetaUrl = require('node:url').pathToFileURL(process.execPath).href;",
      // As bin/lkm.js does: Node.js warns on stderr when both are set.
      "delete process.env[process.env.NO_COLOR ? 'FORCE_COLOR' : 'NO_COLOR'];",
    ].join('\n'),
  },
  logLevel: 'warning',
});
writeFileSync(
  files.config,
  JSON.stringify({ main: files.script, output: files.blob, disableExperimentalSEAWarning: true, useCodeCache: true }),
);
execFileSync(process.execPath, ['--experimental-sea-config', files.config], { stdio: ['ignore', 'ignore', 'inherit'] });
const binary = join(folder, name);
copyFileSync(process.execPath, binary);
chmodSync(binary, 0o755);
const segment = process.platform === 'darwin' ? ['--macho-segment-name', 'NODE_SEA'] : [];
const fuse = ['--sentinel-fuse', 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'];
execFileSync('node_modules/.bin/postject', [binary, 'NODE_SEA_BLOB', files.blob, ...fuse, ...segment], {
  stdio: ['ignore', 'ignore', 'inherit'],
});
writeFileSync(join(folder, `${name}.cdx.json`), `${JSON.stringify(componentsOf(metafile), null, 2)}\n`);
for (const file of Object.values(files)) rmSync(file);
const checksums = [name, `${name}.cdx.json`].map((file) => `${sha256(join(folder, file))}  ${file}\n`);
writeFileSync(join(folder, 'SHA256SUMS'), checksums.join(''));
process.stdout.write(`${binary}\n`);

function sha256(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

/** The packages in a bundle, and Node.js itself, as npm describes them. */
function componentsOf({ inputs }: Metafile): object {
  const text = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const all: { components: Component[]; metadata: { component: Component }; [name: string]: unknown } =
    JSON.parse(text);
  const bundled = new Set(Object.keys(inputs).flatMap(packageOf));
  const { dependencies: _, ...head } = all;
  const { component } = head.metadata;
  return {
    ...head,
    metadata: { ...head.metadata, component: { ...component, name: 'lkm', type: 'application' } },
    components: [nodeComponent(), ...all.components.filter(({ purl }) => bundled.has(purl))],
  };
}

interface Component {
  readonly name: string;
  readonly purl: string;
}

function nodeComponent(): object {
  return {
    type: 'platform',
    name: 'node',
    version: process.versions.node,
    purl: `pkg:generic/node@${process.versions.node}`,
  };
}

/** The package that a bundled file is of, as a URL of its kind; none for our own. */
function packageOf(path: string): string[] {
  const [folder] = /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path) ?? [];
  if (folder === undefined) return [];
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return [`pkg:npm/${name.replace('@', '%40')}@${version}`];
}
