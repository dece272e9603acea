import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Script } from 'node:vm';
import { build, type Metafile } from 'esbuild';

// Makes one file that is the command and the server, Node.js included, for the platform that runs this; beside it what is
// in it (CycloneDX) and checksums. `npm run build:binary` builds the scripts first. Decision 0096.

/**
 * What the single file runs Node.js with: a heap for new objects that no short command fills, where collecting them takes
 * a tenth of its time. The heap of a server grows to this size by itself.
 */
const NODE_OPTIONS = ['--min-semi-space-size=16'];

interface Loader {
  functionOf(text: Uint8Array): Buffer;
}

const { functionOf }: Loader = createRequire(import.meta.url)('../bin/load.cjs');

const folder = 'release/binary';
const name = `lkm-${process.platform}-${process.arch}${process.platform === 'win32' ? '.exe' : ''}`;
const files = { script: join(folder, 'lkm.cjs'), blob: join(folder, 'lkm.blob'), config: join(folder, 'sea.json') };
const compiling = mkdtempSync(join(tmpdir(), 'lkm-compile-'));
const bundling = { bundle: true, format: 'cjs', platform: 'node', logLevel: 'warning' } as const;

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
await build({ ...bundling, entryPoints: ['tools/single-file.cjs'], outfile: files.script });
const assets = Object.fromEntries([...scriptsAsFunctions(), ...viewerFiles(), ...(await compile())]);
writeFileSync(
  files.config,
  JSON.stringify({
    main: files.script,
    output: files.blob,
    disableExperimentalSEAWarning: true,
    execArgv: NODE_OPTIONS,
    assets,
  }),
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
// The scripts are made of the same sources by another bundler, which does not list the packages.
const { metafile } = await build({
  ...bundling,
  format: 'esm',
  entryPoints: ['src/cli/main.ts'],
  write: false,
  metafile: true,
});
writeFileSync(join(folder, `${name}.cdx.json`), `${JSON.stringify(componentsOf(metafile), null, 2)}\n`);
for (const file of [...Object.values(files), compiling]) rmSync(file, { recursive: true });
const checksums = [name, `${name}.cdx.json`].map((file) => `${sha256(join(folder, file))}  ${file}\n`);
writeFileSync(join(folder, 'SHA256SUMS'), checksums.join(''));
process.stdout.write(`${binary}\n`);

/** Writes each script as the text of a function, and returns its file by its name. */
function scriptsAsFunctions(): [string, string][] {
  return globSync('**/*.cjs', { cwd: 'dist' }).map((file) => {
    const path = join(compiling, 'functions', file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, functionOf(readFileSync(join('dist', file))));
    return [file.replaceAll('\\', '/'), path];
  });
}

/** The files of the reference page, by their names. */
function viewerFiles(): [string, string][] {
  return globSync('viewer/*', { cwd: 'dist' }).map((file) => [file.replaceAll('\\', '/'), join('dist', file)]);
}

/** Runs what commands are made of, and returns the compiled code that they have kept, by the names of their scripts. */
async function compile(): Promise<[string, string][]> {
  const env = { HOME: compiling, XDG_CACHE_HOME: compiling };
  const command = (...words: readonly string[]) => [...NODE_OPTIONS, resolve('bin/lkm.js'), ...words];
  const lkm = (...words: readonly string[]): string =>
    execFileSync(process.execPath, command(...words), { cwd: compiling, env, encoding: 'utf8', stdio: 'pipe' }).trim();
  lkm('--help');
  lkm('quickstart');
  const server = spawn(process.execPath, command('serve', '--db', 'lkm.db', '--port', '0', '--json'), {
    cwd: compiling,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface(server.stdout), 'line');
  const { url } = JSON.parse(String(line));
  const token = lkm('tokens', 'create', '--kind', 'admin', '--name', 'me', '--profile', 'local', '-q');
  writeFileSync(join(compiling, 'token'), token, { mode: 0o600 });
  const service = ['--base-url', url, '--token-file', 'token'];
  const product = lkm('products', 'create', '--name', 'Engine', '-q', ...service);
  const key = lkm('keys', 'create', '-P', product, '-q', ...service);
  lkm('keys', 'get', key, ...service);
  lkm('keys', 'list', '-P', product, ...service);
  server.kill();
  await once(server, 'exit');
  lkm('keys', 'get', key, '--db', 'lkm.db');
  const code = join(compiling, 'lkm', `${process.version}-${process.arch}`);
  return readdirSync(code).map((file) => {
    const path = join(code, file);
    // Commands keep it twice.
    truncateSync(path, statSync(path).size / 2);
    const text = functionOf(readFileSync(join('dist/bundle', file))).toString();
    const { cachedDataRejected } = new Script(text, { cachedData: readFileSync(path) });
    if (cachedDataRejected !== false) throw new Error(`V8 does not take the compiled code of ${file}`);
    return [`bundle/${file}.code`, path];
  });
}

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
  const bundled = new Set([...Object.keys(inputs), 'node_modules/swagger-ui-dist/package.json'].flatMap(packageOf));
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
