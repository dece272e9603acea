import { execFileSync, type StdioOptions } from 'node:child_process';
import { hash } from 'node:crypto';
import { chmodSync, copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type RolldownOptions } from 'rolldown';

// Makes one file with the command, the server and Node.js, for the platform that runs this, and beside it an SBOM (CycloneDX) and
// checksums. `npm run build:binary` builds the package first, since the file contains the reference page. Decision 0035.

const folder = 'release/binary';
const name = `lkm-${process.platform}-${process.arch}${process.platform === 'win32' ? '.exe' : ''}`;
const binary = join(folder, name);
const script = join(folder, 'lkm.cjs');
const thread = join(folder, 'reading-thread.cjs');
const blob = join(folder, 'lkm.blob');
const config = join(folder, 'sea.json');
const stdio: StdioOptions = ['ignore', 'ignore', 'inherit'];
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const common = {
  platform: 'node',
  transform: { target: 'node24', define: { LKM_VERSION: JSON.stringify(version) } },
  external: ['pg-native'],
  checks: { ineffectiveDynamicImport: false, emptyImportMeta: false },
} satisfies RolldownOptions;
const file = { format: 'cjs', codeSplitting: false } as const;
// As bin/lkm.js does: Node.js warns on stderr when both are set.
const banner = "delete process.env[process.env.NO_COLOR ? 'FORCE_COLOR' : 'NO_COLOR'];";
const { output } = await build({ ...common, input: 'src/cli/main.ts', output: { ...file, file: script, banner } });
await build({ ...common, input: 'src/server/reading/thread.ts', output: { ...file, file: thread } });
const viewer = globSync('viewer/*', { cwd: 'dist' }).map((file) => [file.replaceAll('\\', '/'), join('dist', file)]);
const assets = { ...Object.fromEntries(viewer), 'reading-thread.cjs': thread };
const sea = { main: script, output: blob, disableExperimentalSEAWarning: true, useCodeCache: true };
writeFileSync(config, JSON.stringify({ ...sea, assets }));
execFileSync(process.execPath, ['--experimental-sea-config', config], { stdio });
copyFileSync(process.execPath, binary);
chmodSync(binary, 0o755);
const segment = process.platform === 'darwin' ? ['--macho-segment-name', 'NODE_SEA'] : [];
const fuse = ['--sentinel-fuse', 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'];
execFileSync('node_modules/.bin/postject', [binary, 'NODE_SEA_BLOB', blob, ...fuse, ...segment], { stdio });
const modules = output.flatMap((chunk) => (chunk.type === 'chunk' ? Object.keys(chunk.modules) : []));
writeFileSync(join(folder, `${name}.cdx.json`), `${JSON.stringify(componentsOf(modules), null, 2)}\n`);
for (const path of [script, thread, blob, config]) rmSync(path);
const sumOf = (file: string) => hash('sha256', readFileSync(join(folder, file)));
const checksums = [name, `${name}.cdx.json`].map((file) => `${sumOf(file)}  ${file}\n`);
writeFileSync(join(folder, 'SHA256SUMS'), checksums.join(''));
process.stdout.write(`${binary}\n`);

/** The packages in a bundle, and Node.js itself, as CycloneDX describes them. */
function componentsOf(modules: readonly string[]): object {
  const folders = [...modules, 'node_modules/swagger-ui-dist/package.json'].flatMap(
    (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [],
  );
  const { node } = process.versions;
  const platform = { type: 'platform', name: 'node', version: node, purl: `pkg:generic/node@${node}` };
  return {
    ...{ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1 },
    metadata: { component: { type: 'application', name: 'lkm', version } },
    components: [platform, ...[...new Set(folders)].sort().map(componentOf)],
  };
}

function componentOf(folder: string): object {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return { type: 'library', name, version, purl, licenses: [{ expression: license }] };
}
